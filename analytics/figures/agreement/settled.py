"""Settled labels: how often people and judges give them, and how far those who settle agree."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np

from analytics.display.blocks import Block
from analytics.display.kappas import COHENS_KAPPA
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, UNITS, AnswerInput, FigureInput, PairInput
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.arrays import AnswerGroup, AnswersFrame, SetsByItem
from analytics.frames.entries import pair_sets_with
from analytics.frames.pairs import PairGroup
from analytics.frames.passes import with_parts
from analytics.frames.settled import SettledLabels
from analytics.statistics.agreement.majorities import MajorityAgreement, majority_agreement
from analytics.statistics.agreement.percentage import majority
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import MISSING, Floats, Ints
from analytics.statistics.core.values import NO_SYSTEM, Values, point_codes
from analytics.statistics.entries.calibrators import SetAgreement, set_agreement
from analytics.statistics.judges.ratings_vs_people import compare_means
from evaluation.models import Rater
from evaluation.protocols import Kind, Over, QuestionSpec

# Of people, those with the most settled items among what they judged; a study may have thousands.
MOST_LISTED = 50
# Numbers that nobody settled are labels of their own, unless they are more: then they are one.
MOST_FURTHER = 60
FORMS = ("rated", "choice", "picks", "ranking", "entries")
CHECKLIST = "Satisfied follow-ups"
DECISIONS = "Of sets of entries the decisions about drafted ones are compared."
AGREED = (
    "F1 of matched conditions, and the same by how alike the matched conditions are; n is the number of items"
)
SETTLED_OTHERWISE = "{unit} that were settled one way and another"
NO_MAJORITY = "settled {unit} without a majority of the raters"
NOT_BOTH = "{unit} that one of both has not settled"
EQUAL = (
    "share of equal ones in percent (by chance: had each been drawn from all that were given) and "
    f"{COHENS_KAPPA}"
)
OF_PEOPLE = (Rater.Kind.PERSON, Rater.Kind.SIMULATED)


@dataclass(frozen=True)
class HeldAgainstSettled:
    """The answers of a rater, or of the majority of a group, held against the settled ones: of sets of entries the
    decisions about drafted ones. `error` is the mean absolute difference of numbers, None of labels; `checklist` that
    of a preference, None without one; `sets` the agreement of each set with each settled one, None of other questions.
    """

    same: MajorityAgreement
    checklist: MajorityAgreement | None
    sets: SetAgreement | None
    error: Estimate | None


@dataclass(frozen=True)
class RaterAgainstSettled:
    """A rater of a group, by pseudonym."""

    rater: str
    held: HeldAgainstSettled


@dataclass(frozen=True)
class SettlerPair:
    """Two who settled the same, by name."""

    one: str
    other: str
    same: MajorityAgreement
    checklist: MajorityAgreement | None
    sets: SetAgreement | None


@dataclass(frozen=True)
class AgainstSettled:
    """A group held against the settled labels, at most 50 of its people, those with the most first, and, in the record
    of a question's first group, every two who settle."""

    held: HeldAgainstSettled
    raters: tuple[RaterAgainstSettled, ...]
    settlers: tuple[SettlerPair, ...]


class SettledFigure(Figure[AgainstSettled]):
    needs = (SettledLabels,)
    heading = "agreement"
    place = 90
    definition = (
        "Labels that members of the study settled, held against those of people and judges: share of equal ones and "
        "kappa, of numbers also the mean absolute difference, of sets of entries F1 of matched conditions; and the "
        "agreement of every two who settle. Where they differ, the label of more than half of them counts, and every "
        "set."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or form in FORMS

    def compute(self, given: FigureInput) -> AgainstSettled | None:
        """None where nothing that the group judged is settled."""
        labels = self.need(given, SettledLabels)
        settled = _settled(given, labels)
        if settled is None:
            return None
        own = _own(given)
        if not own.n_shared(settled):
            return None
        return AgainstSettled(
            _held(given, own, settled, "settled"),
            tuple(_raters(given, own, settled)),
            tuple(_settlers(given, settled, labels.labels)) if _is_first(given) else (),
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        told = [(q, g, self.of(g)) for q in view.judged for g in q.groups if self.is_in(g)]
        held = [(q, (words(g.label, tag_of(g)),), found.held) for q, g, found in told]
        settlers = [
            (question, (words(pair.one), words(pair.other)), pair)
            for question, _, found in told
            for pair in found.settlers
        ]
        numbers = any(found.error for _, _, found in held)
        decisions = any(found.sets and found.same.agreement.n for _, _, found in held)
        tables = (
            *_tables(
                held,
                ["Raters"],
                f"Answers of people and judges held against the settled ones: {EQUAL}"
                f"{' and, of numbers, the mean absolute difference' if numbers else ''}. Of several raters the answer "
                f"of more than half counts.{f' {DECISIONS}' if decisions else ''}",
                f"Sets of people and judges beside the settled ones of the same items, in percent: {AGREED}.",
            ),
            *_tables(
                settlers,
                ["One", "Other"],
                f"Every two who settle, on what both settled: share of equal answers in percent, and {COHENS_KAPPA}.",
                f"Sets of every two who settle, in percent: {AGREED}.",
            ),
        )
        if tables:
            yield Block("Settled labels", tables=tables, anchor="settled")
        seen = set()
        for question, group, found in told:
            if found.raters:
                yield self._by_rater(view, question, group, found, checklist=group.key not in seen)
                # All preferences have the one checklist.
                seen |= {group.key} if question.form == PAIRS else set()

    def _by_rater(
        self,
        view: ReportView,
        question: QuestionView,
        group: GroupView,
        found: AgainstSettled,
        *,
        checklist: bool,
    ) -> Block:
        raters = [((head(view.raters.get(each.rater, each.rater)),), each.held) for each in found.raters]
        tables = (
            _answers_table(
                [(names, held.same, held.error) for names, held in raters],
                ["Rater"],
                f"{question.prompt}: each person's answers held against the settled ones.",
            ),
            _answers_table(
                [(names, held.checklist, None) for names, held in raters if checklist and held.checklist],
                ["Rater"],
                f"{CHECKLIST}: each person's answers held against the settled ones.",
            ),
            _sets_table(
                [(names, held.sets) for names, held in raters if held.sets],
                ["Rater"],
                f"{question.prompt}: each person's sets beside the settled ones, in percent: {AGREED}.",
            ),
        )
        of = "" if group.kind == "person" else f", {group.label}"
        title = f"Settled labels by rater: {question.prompt}{of}"
        shown = tuple(build.build(compact=True) for build in tables if build.rows)
        return Block(title, tables=shown, folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Settled labels were given by members of the study, who stand in no group of raters; where they "
            "differ, the label of more than half of them counts, and without one the item is left out."
        )
        if any(found.held.sets for found in self.records(view)):
            yield "Every set is compared with each settled set of its item; items weigh the same."


FIGURE = SettledFigure()


@dataclass(frozen=True, eq=False)
class _Given:
    """The answers of raters, whose names are by code; of a preference also its checklist, and of sets of entries, whose
    answers are the decisions about drafted ones, the sets themselves."""

    values: Values
    raters: Sequence[str]
    checklist: Values | None = None
    sets: SetsByItem | None = None

    def of(self, name: str) -> Self:
        """Those of one rater."""
        code = self.raters.index(name)
        return replace(
            self,
            values=self.values.where(self.values.rater == code),
            checklist=None if self.checklist is None else self.checklist.where(self.checklist.rater == code),
            sets=None if self.sets is None else _sets_of(self.sets, {name}),
        )

    def n_shared(self, other: Self) -> Counter[str]:
        """By name, the number of answers to what the `other` answered, too."""
        found: Counter[str] = Counter()
        for own, others in ((self.values, other.values), (self.checklist, other.checklist)):
            if own is not None and others is not None:
                shared = own.rater[np.isin(own.unit, others.unit)]
                found.update(self.raters[code] for code in shared.tolist())
        if self.sets is not None and other.sets is not None:
            found.update(name for item in self.sets if item in other.sets for name in self.sets[item])
        return found


def _sets_of(sets: SetsByItem, raters: Collection[str]) -> SetsByItem:
    theirs = {
        item: {name: its for name, its in given.items() if name in raters} for item, given in sets.items()
    }
    return {item: given for item, given in theirs.items() if given}


def _own(given: FigureInput) -> _Given:
    if isinstance(given, PairInput):
        return _of_votes(given, given.group)
    assert isinstance(given, AnswerInput)
    return _of_answers(given, given.frame, given.group)


def _settled(given: FigureInput, labels: SettledLabels) -> _Given | None:
    if isinstance(given, PairInput):
        votes = labels.pair_group(given.question.key)
        return None if votes is None else _of_votes(given, votes)
    assert isinstance(given, AnswerInput)
    frame, group = labels.answers, labels.answer_group
    if frame is None or group is None or given.question.key not in group.answers:
        return None
    return _of_answers(given, frame, group)


def _of_answers(given: AnswerInput, frame: AnswersFrame, group: AnswerGroup) -> _Given:
    answers = with_parts(group.answers[given.question.key], given.answers.parts)
    sets = frame.sets.get(given.question.key)
    theirs = None if sets is None else _sets_of(sets, group.raters)
    return _Given(answers.as_values(), group.raters, sets=theirs)


def _of_votes(given: PairInput, group: PairGroup) -> _Given:
    judgments = group.judgments.where(group.judgments.vote != MISSING)
    item, none = judgments.item, np.zeros(len(judgments), dtype=np.int32)
    values = Values(
        unit=item,
        query=given.items.query[item],
        system=np.full(len(judgments), NO_SYSTEM),
        part=none,
        item=item,
        rater=judgments.rater,
        value=judgments.vote.astype(np.float64),
    )
    return _Given(values, group.judgments.raters, checklist=_of_checks(given, group))


def _of_checks(given: PairInput, group: PairGroup) -> Values | None:
    """The checks of each follow-up and response that anybody in the input's own group was asked about."""
    counts, checks = given.check_counts, group.checks
    if counts is None or checks is None:
        return None
    parts = counts.shape[1] * 2
    checks = checks.where(checks.follow_up < counts.shape[1])
    item = group.judgments.item[checks.judgment]
    part = checks.follow_up.astype(np.int32) * 2 + checks.response
    return Values(
        unit=item.astype(np.int64) * parts + part,
        query=given.items.query[item],
        system=np.full(len(checks), NO_SYSTEM),
        part=part,
        item=item,
        rater=group.judgments.rater[checks.judgment],
        value=checks.value.astype(np.float64),
    )


def _is_first(given: FigureInput) -> bool:
    assert isinstance(given, PairInput | AnswerInput)
    return next(iter(given.by_group)) == given.group_key


def _unit(given: FigureInput) -> str:
    return given.unit if isinstance(given, AnswerInput) else "items"


def _held(given: FigureInput, own: _Given, settled: _Given, purpose: str) -> HeldAgainstSettled:
    compared = _compared(given, own, settled, purpose, (SETTLED_OTHERWISE, NO_MAJORITY))
    return HeldAgainstSettled(*compared, _error(given, own, settled, purpose))


def _error(given: FigureInput, own: _Given, settled: _Given, purpose: str) -> Estimate | None:
    if given.form not in ("rated", "ranking") or given.question.kind == Kind.CHECKLIST:
        return None
    resample = given.resample(f"{purpose}, numbers")
    return compare_means(_agreed(settled.values), own.values, resample=resample, unit=_unit(given)).error


def _compared(
    given: FigureInput, own: _Given, settled: _Given, purpose: str, without: tuple[str, str]
) -> tuple[MajorityAgreement, MajorityAgreement | None, SetAgreement | None]:
    """Of the answers, of the checklist and of the sets."""
    same = _same(settled.values, own.values, given.resample(purpose), _unit(given), without)
    checklist = sets = None
    if own.checklist is not None and settled.checklist is not None:
        resample, unit = given.resample(f"{purpose}, checklist"), UNITS[Over.FOLLOW_UP_RESPONSE]
        checklist = _same(settled.checklist, own.checklist, resample, unit, without)
    if own.sets is not None and settled.sets is not None:
        assert isinstance(given, AnswerInput)
        pairs = pair_sets_with(own.sets, settled.sets)
        query, resample = given.items.query[pairs.item], given.resample(f"{purpose}, sets")
        sets = set_agreement(pairs.item, query, pairs.matched, pairs.alike, resample=resample)
    return same, checklist, sets


def _same(
    one: Values, other: Values, resample: ResampleSpec, unit: str, without: tuple[str, str]
) -> MajorityAgreement:
    """Equal majorities of the two, on what both answered."""
    shared = np.intersect1d(one.unit, other.unit)
    first, second = (each.where(np.isin(each.unit, shared)) for each in (one, other))
    labels = np.unique(first.value)
    further = np.setdiff1d(second.value, labels)
    if len(further) <= MOST_FURTHER:
        labels = np.union1d(labels, further)
    return majority_agreement(
        _counts(first, shared, labels),
        _counts(second, shared, labels),
        first.query[np.unique(first.unit, return_index=True)[1]],
        resample=resample,
        unit=unit,
        without=without,
    )


def _counts(values: Values, units: Ints, labels: Floats) -> Ints:
    """The times that each unit was given each label; whatever is none of the labels is one more."""
    if not len(labels):
        return np.zeros((0, 1), dtype=np.int64)
    label = point_codes(values.value, labels.tolist())
    label = np.where(label < 0, len(labels), label)
    return count_matrix(np.searchsorted(units, values.unit), label, len(units), len(labels) + 1)


def _agreed(settled: Values) -> Values:
    """The settled value of each unit that has one, as if one rater had given it."""
    units, labels = np.unique(settled.unit), np.unique(settled.value)
    agreed = majority(_counts(settled, units, labels))[np.searchsorted(units, settled.unit)]
    rows = np.flatnonzero((agreed != MISSING) & (labels[agreed] == settled.value))
    _, first = np.unique(settled.unit[rows], return_index=True)
    return settled.take(rows[first])


def _raters(given: FigureInput, own: _Given, settled: _Given) -> Iterator[RaterAgainstSettled]:
    """The people of a group one by one, those who judged the most of what is settled first."""
    assert isinstance(given, PairInput | AnswerInput)
    if given.group.kind not in OF_PEOPLE or given.within:
        return
    n = own.n_shared(settled)
    for name in sorted(n, key=lambda each: (-n[each], each))[:MOST_LISTED]:
        yield RaterAgainstSettled(name, _held(given, own.of(name), settled, f"settled beside {name}"))


def _settlers(given: FigureInput, settled: _Given, labels: Mapping[str, str]) -> Iterator[SettlerPair]:
    for one, other in combinations(settled.raters, 2):
        first, second = settled.of(one), settled.of(other)
        if first.n_shared(second):
            compared = _compared(given, second, first, f"settled by {one} and {other}", (NOT_BOTH, NOT_BOTH))
            yield SettlerPair(labels[one], labels[other], *compared)


def _tables(
    told: Sequence[tuple[QuestionView, tuple[TableCell, ...], HeldAgainstSettled | SettlerPair]],
    names: list[str],
    answers: str,
    sets: str,
) -> Iterator[Table]:
    """Of (question, names, record) a table of answers, with the checklist once for all preferences, and one of sets."""
    rows = [
        (
            (head(question.prompt), *named),
            found.same,
            found.error if isinstance(found, HeldAgainstSettled) else None,
        )
        for question, named, found in told
    ]
    checklists: dict[tuple[TableCell, ...], MajorityAgreement] = {}
    for _, named, found in told:
        if found.checklist:
            checklists.setdefault(named, found.checklist)
    rows += [((head(CHECKLIST), *named), found, None) for named, found in checklists.items()]
    of_sets = [((head(question.prompt), *named), found.sets) for question, named, found in told if found.sets]
    builders = (
        _answers_table(rows, ["Question", *names], answers),
        _sets_table(of_sets, ["Question", *names], sets),
    )
    return (build.build() for build in builders if build.rows)


def _answers_table(
    rows: Sequence[tuple[tuple[TableCell, ...], MajorityAgreement, Estimate | None]],
    names: list[str],
    caption: str,
) -> Builder:
    """A row of what has answers in both: those of a judge's checklist alone are none to the preference."""
    numbers = any(error for *_, error in rows)
    shown = [*names, "Equal", "By chance", COHENS_KAPPA, *(["Difference"] if numbers else []), "n"]
    build = Builder(caption, columns(shown, names=len(names)))
    for named, same, error in rows:
        if same.agreement.n or same.agreement.left_out:
            build.add(
                *named,
                *build.beside_chance(same.agreement, same.by_chance),
                build.coefficient(same.kappa),
                *([build.coefficient(error) if error else words("")] if numbers else []),
                build.n(same.agreement),
            )
    return build


def _sets_table(
    rows: Sequence[tuple[tuple[TableCell, ...], SetAgreement]], names: list[str], caption: str
) -> Builder:
    build = Builder(caption, columns([*names, "F1", "Alike", "n"], names=len(names)))
    for named, sets in rows:
        if sets.matched.n:
            build.add(*named, build.share(sets.matched), build.share(sets.alike), build.n(sets.matched))
    return build
