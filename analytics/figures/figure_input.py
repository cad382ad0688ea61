"""The input of a figure: one group's answers to one question, and where randomness comes from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb
from typing import Annotated, Any, TypedDict, TypeVar

import numpy as np

from analytics.figures.families import ALPHA
from analytics.frames.arrays import AnswerGroup, Answers, AnswersFrame, StudyItems
from analytics.frames.entries import SIZE, decision_question, name_of
from analytics.frames.measures import MeasureValues
from analytics.frames.needs import Need, NeedSource
from analytics.frames.pairs import PairFrame, PairGroup
from analytics.frames.rows import JUDGES, JURY
from analytics.frames.study import StudyFrame
from analytics.statistics.agreement.alpha import Level
from analytics.statistics.conditions.follow_ups import Satisfied, check_counts, satisfied_follow_ups
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import Range, ResampleSpec
from analytics.statistics.core.tidy import (
    MISSING,
    N_LABELS,
    N_VOTES,
    Bools,
    Ints,
    ItemCell,
    Items,
    Judgments,
)
from analytics.statistics.core.values import Values, n_distinct
from analytics.statistics.entries.entry_sets import DRAFTED_ENTRIES
from analytics.statistics.leaderboards.scores import SystemScores, system_scores
from analytics.statistics.preferences.win_rates import Ties, item_scores
from evaluation import design
from evaluation.models import Rater
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.kinds import KINDS
from evaluation.stopping import StoppingRule

PAIRS = "pairs"
# So many pairs of systems are shown one by one: of more nobody reads a table.
MOST_PAIRS = 1_000
MAY_STOP = (
    "The study may stop early by this figure: a test of a fixed number of queries says nothing about it."
)
# The form of what stands in for a question where a study has measures and no answers.
MEASURES = "measures"
# How a question of each kind is counted, where its kind alone does not say.
FORMS = {str(Kind.RANKING): "ranking", str(Kind.PREFERENCE): "picks", str(Kind.ENTRIES): "entries"}
# What a question is asked about, in the plural.
UNITS = {
    Over.ITEM: "items",
    Over.RESPONSE: "responses",
    Over.FOLLOW_UP: "follow-up questions",
    Over.FOLLOW_UP_RESPONSE: "follow-up questions of responses",
    Over.VALUE: "values of attributes",
    Over.CHOICE: "tags of items",
    Over.TURN: "turns",
    Over.TURN_RESPONSE: "replies in turns",
    Over.CLAIM: "claims of responses",
}


class GroupCounts(TypedDict):
    """Numbers of what a group has given to a question."""

    answers: Annotated[int, {"minimum": 0}, "after replicates are reduced"]
    judgments: Annotated[int, {"minimum": 0}, "replicates included"]
    raters: Annotated[int, {"minimum": 0}]
    items: Annotated[int, {"minimum": 0}]


@dataclass(frozen=True)
class Terms:
    """Terms that all figures of a report go by.

    `ties` says how a tie counts in expected win rates, `n_questions` over how many questions families of tests are.
    """

    seed: int
    replicates: int
    ties: Ties
    baseline: str
    n_questions: int
    # The rule by which the study may stop early: where a figure repeats its numbers, they have no interval.
    stopping: StoppingRule | None
    # True of a report of a part of the study's judgments.
    is_view: bool
    # What figures have as their `needs`, by type.
    needs: Mapping[type[Need], Need]


@dataclass(frozen=True, eq=False)
class FigureInput(ABC):
    """One group's answers to one question. `people` is the same of people, None without any and for people."""

    terms: Terms
    question: QuestionSpec
    form: str
    people: "FigureInput | None"
    # True of one group's input of one question: figures that are the same for all stand there.
    is_first: bool = field(default=False, kw_only=True)

    @property
    @abstractmethod
    def group_key(self) -> str: ...

    @property
    @abstractmethod
    def counts_record(self) -> GroupCounts:
        """Answers after replicates are reduced, judgments, who gave them, and items that they are about."""

    @property
    def has_several_raters(self) -> bool:
        return self.counts_record["raters"] > 1

    def resample(self, purpose: str) -> ResampleSpec:
        return ResampleSpec(self._seed("report", purpose), replicates=self.terms.replicates)

    def tests(self, purpose: str, family: int) -> Randomization:
        """Randomization of the tests of a family of so many for each question, or of what the head could go by."""
        most = max(family, self.n_claims) * self.terms.n_questions
        return Randomization(self._seed("test", purpose), level=ALPHA / max(most, 1))

    @property
    def n_claims(self) -> int:
        """About how many tests of one question the head could go by."""
        return 1

    def may_stop_on(self, figure: str) -> bool:
        """True of the figure that people's judgments may stop the study by: it has no test of a fixed size."""
        rule = self.terms.stopping
        return rule is not None and rule.figure == figure and self.is_of_people

    @property
    def is_of_people(self) -> bool:
        """True of people, and of a group of them."""
        return Rater.Kind.PERSON in (self.group_key, self.within)

    @property
    def within(self) -> str:
        """The key of the group that this one is a part of; empty where that is none."""
        return ""

    def _seed(self, use: str, purpose: str) -> int:
        return design.derived_seed(self.terms.seed, use, self.group_key, self.question.key, purpose)


@dataclass(frozen=True, eq=False)
class PairInput(FigureInput):
    """Of a preference between two responses; `counts` (n_items, 3) are of first, second and tie, by which wins are
    counted. What is about agreement takes `votes`.

    `by_group` has the same of every group that answered, by key.
    """

    items: Items
    group: PairGroup
    counts: Ints
    people: "PairInput | None"
    by_group: "Mapping[str, PairInput]" = field(default_factory=dict, kw_only=True)

    @property
    def group_key(self) -> str:
        return self.group.key

    @property
    def within(self) -> str:
        return self.group.within

    @property
    def n_votes(self) -> int:
        """The number of votes told apart: of first, second, tie and, where the question offers it, both bad."""
        return N_VOTES if self.question.tells_both_bad else N_LABELS

    @cached_property
    def votes(self) -> Ints:
        """The number of times that each item was given each vote, (n_items, n_votes)."""
        judgments = self.group.judgments
        if self.n_votes == N_LABELS:
            return self.counts
        return count_matrix(judgments.item, judgments.vote, len(self.items), self.n_votes)

    @property
    def n_claims(self) -> int:
        """Of winners by setting, changes between settings and of agreement, and the place on the screen."""
        arms, pairs = len(self.items.arms), min(len(self.items.pairs), MOST_PAIRS)
        return arms * len(self.items.systems) + pairs * (comb(arms, 2) + arms - 1) + 1

    @cached_property
    def listed(self) -> Bools:
        """The items (n,) of the pairs of systems that are shown one by one: of very many, those with the most items."""
        of_pair = np.bincount(self.items.pair, minlength=len(self.items.pairs))
        most = np.argsort(-of_pair, kind="stable")[:MOST_PAIRS]
        return np.isin(self.items.pair, most)

    @cached_property
    def listed_alone(self) -> tuple[Items, Judgments]:
        """The items of the pairs that are listed, and the group's judgments of them."""
        items, judgments, listed = self.items, self.group.judgments, self.listed
        if listed.all():
            return items, judgments
        kept = judgments.where(listed[judgments.item])
        return items.where(listed), replace(kept, item=(np.cumsum(listed) - 1)[kept.item])

    def cells(self, by: Sequence[str]) -> Iterator[tuple[ItemCell, Ints]]:
        """The cells of the pairs that are listed, with the rows of their items."""
        return ((cell, rows) for cell, rows in self.items.cells(by) if self.listed[rows[0]])

    @cached_property
    def competing(self) -> SystemScores:
        """Scores of the systems by item: against the baseline, where the study has one."""
        scores = item_scores(self.group.judgments, len(self.items), self.terms.ties)
        return system_scores(self.items, scores, self.terms.baseline)

    @cached_property
    def check_counts(self) -> Ints | None:
        """Of each item's follow-ups and responses how often no and yes, (n_items, f, 2, 2); None without a
        checklist."""
        checks = self.group.checks
        return None if checks is None else check_counts(checks, self.group.judgments, len(self.items))

    @cached_property
    def satisfied(self) -> Satisfied | None:
        """Satisfied follow-ups by item and response; None without a checklist."""
        checks, counts = self.group.checks, self.check_counts
        if checks is None or counts is None:
            return None
        return satisfied_follow_ups(checks, self.group.judgments, counts)

    @property
    def counts_record(self) -> GroupCounts:
        return {
            "answers": int((self.group.judgments.label != MISSING).sum()),
            "judgments": len(self.group.readings.label),
            "raters": len(self.group.judgments.raters),
            "items": int((self.counts.sum(axis=1) > 0).sum()),
        }


@dataclass(frozen=True, eq=False)
class AnswerInput(FigureInput):
    """Of any other question; `by_group` has the same of every group that answered, by key."""

    frame: AnswersFrame
    group: AnswerGroup
    answers: Answers
    people: "AnswerInput | None"
    by_group: "Mapping[str, AnswerInput]" = field(default_factory=dict, kw_only=True)

    @property
    def group_key(self) -> str:
        return self.group.key

    @property
    def within(self) -> str:
        return self.group.within

    @cached_property
    def counts_record(self) -> GroupCounts:
        # A set may hold no entry that was drafted, and so no decision.
        answers = self.of_sets(SIZE).answers if self.form == "entries" else self.answers
        return {
            "answers": len(answers),
            "judgments": self.group.n_judgments,
            "raters": n_distinct(answers.rater),
            "items": n_distinct(answers.item),
        }

    @property
    def items(self) -> StudyItems:
        return self.frame.items

    @cached_property
    def values(self) -> Values:
        return self.answers.as_values()

    @property
    def unit(self) -> str:
        return DRAFTED_ENTRIES if self.form == "entries" else UNITS[self.question.over]

    @property
    def has_labels(self) -> bool:
        """True where answers are names without an order, which have shares and no mean."""
        return KINDS[self.question.kind].storage == "label"

    @property
    def ends(self) -> Range:
        """The least and the greatest value that can be given; a checklist's are no and yes."""
        points = points_of(self.question)
        return points[0], points[-1]

    def of_sets(self, measure: str) -> "AnswerInput":
        """The same of a measure of whole sets of entries."""
        return replace(self, answers=self.group.answers[name_of(self.question, measure)])


AnyCell = TypeVar("AnyCell")
AnyInput = TypeVar("AnyInput", PairInput, AnswerInput)


@dataclass(frozen=True, eq=False)
class MeasuresInput(FigureInput):
    """Of a study that has measures and no answers, which are of no question; `rater` is the first that gives them, and
    `measures` are its own."""

    items: StudyItems
    rater: str
    measures: tuple[MeasureValues, ...]

    @property
    def group_key(self) -> str:
        return self.rater

    @property
    def counts_record(self) -> GroupCounts:
        n = len(np.unique(np.concatenate([each.item for each in self.measures])))
        return {
            "answers": sum(len(each.item) for each in self.measures),
            "judgments": n,
            "raters": 1,
            "items": n,
        }


def figure_inputs(
    source: NeedSource, needs: Mapping[type[Need], Need], *, replicates: int, ties: Ties
) -> Iterator[tuple[QuestionSpec, str, list[FigureInput]]]:
    """Each question with its form, and the input of every group that answered it."""
    study, frame = source.study, source.frame
    terms = Terms(
        study.seed,
        replicates,
        ties,
        study.baseline,
        # The questions whose tests make one family.
        len(frame.pairs) + (len(frame.answers.questions) if frame.answers else 0),
        stopping=StoppingRule.of(source.spec.get("stopping") or {}),
        is_view=source.filters.is_partial,
        needs=needs,
    )
    has_first = False
    for question, form, inputs in _answered_inputs(frame, terms):
        if inputs and not has_first:
            inputs[0], has_first = replace(inputs[0], is_first=True), True
        yield question, form, inputs


def _answered_inputs(
    frame: StudyFrame, terms: Terms
) -> Iterator[tuple[QuestionSpec, str, list[FigureInput]]]:
    for pairs in frame.pairs:
        question = pairs.preference or QuestionSpec(key="", kind=Kind.PREFERENCE, prompt="")
        yield question, PAIRS, list(_pair_inputs(pairs, terms, question))
    if frame.measures and not frame.has_answers:
        yield _measures_input(frame, terms)
    for question in frame.unanswered:
        yield question, PAIRS, []
    if frame.answers is not None:
        for question in frame.answers.questions:
            yield question, form_of(question), list(_answer_inputs(frame.answers, terms, question))


def _pair_inputs(pairs: PairFrame, terms: Terms, question: QuestionSpec) -> Iterator[PairInput]:
    """Each group's input of one preference, that of people before those that stand beside it."""
    people: PairInput | None = None
    by_group: dict[str, PairInput] = {}
    for group in pairs.groups:
        counts = count_matrix(group.judgments.item, group.judgments.label, len(pairs.items), N_LABELS)
        beside = _beside(group, people)
        made = PairInput(terms, question, PAIRS, beside, pairs.items, group, counts, by_group=by_group)
        by_group[group.key] = made
        people = made if group.key == Rater.Kind.PERSON else people
        yield made


def _measures_input(frame: StudyFrame, terms: Terms) -> tuple[QuestionSpec, str, list[FigureInput]]:
    question = QuestionSpec("", Kind.SCALE, "", options={"form": {"low": 0, "high": 1}})
    rater = frame.groups[0].key
    own = tuple(each for each in frame.measures if each.rater == rater)
    return question, MEASURES, [MeasuresInput(terms, question, MEASURES, None, frame.study_items, rater, own)]


def _answer_inputs(frame: AnswersFrame, terms: Terms, question: QuestionSpec) -> Iterator[AnswerInput]:
    """The same of another question, of the groups that answered it."""
    people: AnswerInput | None = None
    by_group: dict[str, AnswerInput] = {}
    for group in frame.groups:
        if not len(group.answers[answered_by(question)]):
            continue
        answers, beside = group.answers[question.key], _beside(group, people)
        form = form_of(question)
        made = AnswerInput(terms, answers.question, form, beside, frame, group, answers, by_group=by_group)
        by_group[group.key] = made
        people = made if group.key == Rater.Kind.PERSON else people
        yield made


def _beside(group: PairGroup | AnswerGroup, people: Any) -> Any:
    """The people that a group is held against: members of a jury are not, as their jury is, as one rater; nor are
    parts of people."""
    return None if group.kind in (JURY, Rater.Kind.PERSON) else people


def form_of(question: QuestionSpec) -> str:
    """The form in which a question that is not asked of pairs is counted: rated, choice, picks, ranking or entries."""
    other = "choice" if KINDS[question.kind].storage == "label" else "rated"
    return FORMS.get(question.kind, other)


def answered_by(question: QuestionSpec) -> str:
    """The key of the answers that say who answered: a set may hold no entry that was drafted, and so no decision."""
    return name_of(question, SIZE) if question.kind == Kind.ENTRIES else question.key


def groups_after(given: AnyInput) -> list[AnyInput]:
    """The groups after this one with which it shares no rater, for what stands in the record of the first of two: none
    with a heuristic, all judges together or the members of a jury."""
    if not _is_apart(given):
        return []
    keys = list(given.by_group)
    later = [given.by_group[key] for key in keys[keys.index(given.group_key) + 1 :]]
    return [
        other
        for other in later
        if _is_apart(other)
        and other.group.within != given.group_key
        and given.group.within != other.group_key
    ]


def _is_apart(given: PairInput | AnswerInput) -> bool:
    return given.group.kind not in (JUDGES, JURY) and not given.group.heuristic


@dataclass(frozen=True)
class PointRecord:
    """A value that a question offers."""

    value: float | str
    label: Annotated[str, "empty where it has none"]

    @property
    def number(self) -> float:
        """The value of a scale's point."""
        assert not isinstance(self.value, str)
        return self.value


@dataclass(frozen=True)
class QuestionRecord:
    """A question as documents describe it."""

    key: str
    prompt: str
    kind: Annotated[str, "of question: preference, scale, checklist, ranking, choice or entries"]
    form: Annotated[str, {"enum": [PAIRS, "rated", "choice", *FORMS.values()]}, "how it is counted"]
    over: Annotated[str, {"enum": [str(each) for each in Over]}, "what it is asked about"]
    level: Annotated[Level, "of measurement, at which alpha is taken"]
    ideal: Annotated[float | None, "of a scale, if it has one"]
    direction: Annotated[
        str | None,
        {"enum": ["higher", "lower", None]},
        "the better end of a scale; null of other questions, and where there is an ideal",
    ]
    points: Annotated[tuple[PointRecord, ...], "the values that it offers, in their order"]


def question_record(question: QuestionSpec, form: str) -> QuestionRecord:
    """A question as the report describes it. `form` says how it is counted."""
    counted = decision_question(question) if question.kind == Kind.ENTRIES else question
    return QuestionRecord(
        key=question.key,
        prompt=question.prompt,
        kind=str(question.kind),
        form=form,
        over=str(question.over),
        level=level_of(question),
        ideal=question.ideal,
        direction=question.direction or None,
        points=tuple(point_records(counted)),
    )


def level_of(question: QuestionSpec) -> Level:
    """The level of measurement at which agreement is taken."""
    return KINDS[question.kind].level(question)


def points_of(question: QuestionSpec) -> tuple[float, ...]:
    """The values that a question offers, as numbers; a choice's are the places of its choices."""
    return KINDS[question.kind].points(question) or (0.0, 1.0)


def point_records(question: QuestionSpec) -> list[PointRecord]:
    """The values and what they are called: those of a scale, the labels of a choice, no and yes."""
    if question.kind == Kind.CHECKLIST:
        # The two are labels of a list that asks yes or no; tags have no others.
        labels = {0: question.label(0) or "No", 1: question.label(1) or "Yes"}
        return [PointRecord(value, label) for value, label in labels.items()]
    kind = KINDS[question.kind]
    bare = kind.storage == "label"  # a label that has no wording is its own
    return [
        PointRecord(each, question.label(each) or (each if bare else "")) for each in kind.offers(question)
    ]


def several(codes: Ints, names: Iterable[str]) -> list[tuple[int, str]]:
    """(code, name) of those that occur, none where there is only one to tell apart."""
    used = set(np.flatnonzero(np.bincount(codes[codes >= 0])).tolist())
    found = [(code, name) for code, name in enumerate(names) if code in used]
    return found if len(found) > 1 else []


def by_cell(records: Iterable[AnyCell], *factors: str) -> dict[tuple[str | None, ...], AnyCell]:
    """Records by the cell that they are of."""
    return {tuple(getattr(record, factor) for factor in factors): record for record in records}
