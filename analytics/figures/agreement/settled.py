"""Settled labels: how often people and judges give them, and how far those who settle agree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analytics.display.blocks import Block
from analytics.display.kappas import COHENS_KAPPA
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.figures.figure import Figure, Record
from analytics.figures.figure_input import PAIRS, AnswerInput, FigureInput, PairInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.frames.pairs import PairGroup
from analytics.frames.passes import with_parts
from analytics.frames.settled import SettledLabels
from analytics.statistics.agreement.majorities import MajorityAgreement, majority_agreement
from analytics.statistics.agreement.percentage import majority
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.tidy import MISSING, Floats, Ints
from analytics.statistics.core.values import NO_SYSTEM, Values, point_codes
from analytics.statistics.judges.ratings_vs_people import compare_means
from evaluation.models import Rater
from evaluation.protocols import Kind, QuestionSpec

# Of people, those with the most settled items among what they judged; a study may have thousands.
MOST_LISTED = 50
# Numbers that nobody settled are labels of their own, unless they are more: then they are one.
MOST_FURTHER = 60
FORMS = ("rated", "choice", "picks", "ranking")
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
    """The answers of a rater, or of the majority of a group, held against the settled ones; `error` is the mean
    absolute difference of numbers, None of labels."""

    same: MajorityAgreement
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
        "kappa, of numbers also the mean absolute difference; and the agreement of every two who settle. Where they "
        "differ, the label of more than half of them counts."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS or form in FORMS

    def compute(self, given: FigureInput) -> AgainstSettled | None:
        """None where nothing that the group judged is settled."""
        labels = self.need(given, SettledLabels)
        settled = _settled(given, labels)
        if settled is None or not len(settled.values):
            return None
        own = _own(given)
        if not np.isin(own.values.unit, settled.values.unit).any():
            return None
        return AgainstSettled(
            _held(given, own.values, settled.values, "settled"),
            tuple(_raters(given, own, settled.values)),
            tuple(_settlers(given, settled, labels.labels)) if _is_first(given) else (),
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        told = [(q, g, self.of(g)) for q in view.judged for g in q["groups"] if self.is_in(g)]
        numbers = any(found.held.error for _, _, found in told)
        build = _builder(
            f"Answers of people and judges held against the settled ones: {EQUAL}"
            f"{' and, of numbers, the mean absolute difference' if numbers else ''}. Of several raters the answer of "
            "more than half counts.",
            ["Question", "Raters"],
            numbers=numbers,
        )
        for question, group, found in told:
            names = head(question["prompt"]), words(group["label"], tag_of(group))
            _add(build, names, found.held, numbers=numbers)
        if build.rows:
            yield Block("Settled labels", tables=(build.build(), *_pairs(told)), anchor="settled")
        for question, group, found in told:
            if found.raters:
                yield self._by_rater(view, question, group, found)

    def _by_rater(self, view: ReportView, question: Record, group: Record, found: AgainstSettled) -> Block:
        numbers = found.held.error is not None
        build = _builder(
            f"{question['prompt']}: each person's answers held against the settled ones.",
            ["Rater"],
            numbers=numbers,
        )
        for each in found.raters:
            name = head(view.raters.get(each.rater, each.rater))
            _add(build, (name,), each.held, numbers=numbers)
        of = "" if group["kind"] == "person" else f", {group['label']}"
        title = f"Settled labels by rater: {question['prompt']}{of}"
        return Block(title, tables=(build.build(compact=True),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Settled labels were given by members of the study, who stand in no group of raters; where they "
            "differ, the label of more than half of them counts, and without one the item is left out."
        )


FIGURE = SettledFigure()


@dataclass(frozen=True, eq=False)
class _Given:
    """The answers of raters, and their names by code."""

    values: Values
    raters: Sequence[str]

    def of(self, rater: int) -> Values:
        return self.values.where(self.values.rater == rater)


def _own(given: FigureInput) -> _Given:
    if isinstance(given, PairInput):
        return _of_votes(given, given.group)
    assert isinstance(given, AnswerInput)
    return _Given(given.answers.as_values(), given.group.raters)


def _settled(given: FigureInput, labels: SettledLabels) -> _Given | None:
    if isinstance(given, PairInput):
        votes = labels.pair_group(given.question.key)
        return None if votes is None else _of_votes(given, votes)
    assert isinstance(given, AnswerInput)
    group = labels.answer_group
    if group is None or given.question.key not in group.answers:
        return None
    answers = with_parts(group.answers[given.question.key], given.answers.parts)
    return _Given(answers.as_values(), group.raters)


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
    return _Given(values, judgments.raters)


def _is_first(given: FigureInput) -> bool:
    assert isinstance(given, PairInput | AnswerInput)
    return next(iter(given.by_group)) == given.group_key


def _unit(given: FigureInput) -> str:
    return given.unit if isinstance(given, AnswerInput) else "items"


def _held(given: FigureInput, own: Values, settled: Values, purpose: str) -> HeldAgainstSettled:
    without = (SETTLED_OTHERWISE, NO_MAJORITY)
    same = _same(given, settled, own, purpose, without)
    numbers = given.form in ("rated", "ranking") and given.question.kind != Kind.CHECKLIST
    if not numbers:
        return HeldAgainstSettled(same, None)
    compared = compare_means(
        _agreed(settled), own, resample=given.resample(f"{purpose}, numbers"), unit=_unit(given)
    )
    return HeldAgainstSettled(same, compared.error)


def _same(
    given: FigureInput, one: Values, other: Values, purpose: str, without: tuple[str, str]
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
        resample=given.resample(purpose),
        unit=_unit(given),
        without=without,
    )


def _counts(values: Values, units: Ints, labels: Floats) -> Ints:
    """The times that each unit was given each label; whatever is none of the labels is one more."""
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


def _raters(given: FigureInput, own: _Given, settled: Values) -> Iterator[RaterAgainstSettled]:
    """The people of a group one by one, those who judged the most of what is settled first."""
    assert isinstance(given, PairInput | AnswerInput)
    if given.group.kind not in OF_PEOPLE or given.within:
        return
    judged = own.values.rater[np.isin(own.values.unit, settled.unit)]
    n = np.bincount(judged, minlength=len(own.raters))
    most = sorted(np.flatnonzero(n).tolist(), key=lambda rater: (-n[rater], own.raters[rater]))
    for rater in most[:MOST_LISTED]:
        name = own.raters[rater]
        yield RaterAgainstSettled(name, _held(given, own.of(rater), settled, f"settled beside {name}"))


def _settlers(given: FigureInput, settled: _Given, labels: Mapping[str, str]) -> Iterator[SettlerPair]:
    used = np.unique(settled.values.rater).tolist()
    for one, other in combinations(used, 2):
        first, second = settled.of(one), settled.of(other)
        if np.intersect1d(first.unit, second.unit).size:
            names = settled.raters[one], settled.raters[other]
            purpose = f"settled by {' and '.join(names)}"
            same = _same(given, first, second, purpose, (NOT_BOTH, NOT_BOTH))
            yield SettlerPair(labels[names[0]], labels[names[1]], same)


def _builder(caption: str, names: list[str], *, numbers: bool) -> Builder:
    shown = [*names, "Equal", "By chance", COHENS_KAPPA, *(["Difference"] if numbers else []), "n"]
    return Builder(caption, columns(shown, names=len(names)))


def _add(build: Builder, names: Sequence[TableCell], found: HeldAgainstSettled, *, numbers: bool) -> None:
    same, error = found.same, found.error
    build.add(
        *names,
        *build.beside_chance(same.agreement, same.by_chance),
        build.coefficient(same.kappa),
        *([build.coefficient(error) if error else words("")] if numbers else []),
        build.n(same.agreement),
    )


def _pairs(told: Iterable[tuple[Record, Record, AgainstSettled]]) -> Iterator[Table]:
    build = Builder(
        f"Every two who settle, on what both settled: share of equal answers in percent, and {COHENS_KAPPA}.",
        columns(["Question", "One", "Other", "Equal", "By chance", COHENS_KAPPA, "n"], names=3),
    )
    for question, _, found in told:
        for pair in found.settlers:
            same = pair.same
            build.add(
                head(question["prompt"]),
                words(pair.one),
                words(pair.other),
                *build.beside_chance(same.agreement, same.by_chance),
                build.coefficient(same.kappa),
                build.n(same.agreement),
            )
    if build.rows:
        yield build.build()
