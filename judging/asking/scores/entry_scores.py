"""Condition score and answer score of a set of entries against a reference set (CondAmbigQA section 4.1).

A model scores every pair of an entry and a reference entry, all pairs of a response in one call: a call per pair would
send the same texts n times m times over, twice. Which pairs count is decided by a matching, the optimal one or the
paper's greedy one (`analytics.statistics.entries.matching`), by the weights of the paper's release.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analytics.statistics.core.tidy import Floats
from analytics.statistics.entries.matching import (
    Matching,
    citation_recall,
    given_matching,
    greedy_matching,
    optimal_matching,
)
from evaluation.protocols import Protocol
from evaluation.protocols.answers.measures import Measure, Subject
from evaluation.protocols.base import Spec, Stimulus
from evaluation.protocols.entries.references import entry_part, reference_set, response_set
from evaluation.protocols.entries.sets import Entry
from judging.asking.scores.response_asking import ResponseAsking, ScoreTask, Values, alone
from judging.backends.base import Reply, Unmeasurable
from judging.backends.scores.entry_overlap import NO_REFERENCE, NO_SET, cited_sources
from judging.parsing.answers import read_cells
from judging.parsing.rejection import require_answer
from judging.prompting.cells import AnswerCell
from judging.prompting.item_call import ItemCall
from judging.prompting.material import material_of, remarked
from judging.prompting.settings import Settings
from judging.prompting.texts import fence, query_block
from judging.prompting.view import view_of

INTRODUCTION = """\
You compare two sets of entries about a question that can be meant in several ways: a set that was given as a \
response, and a reference set. An entry is a condition, which is one way in which the question can be meant, and the \
answers that hold under it."""

TASK = """\
# Scores

Score every pair of an entry of the response and an entry of the reference twice, with whole numbers from 0 to 10: its \
conditions, and apart from these its answers.

condition.entry_N.reference_M: How well does the response's condition say what the reference's condition says?
1. Look for what contradicts the reference's condition; whatever contradicts it weighs most.
2. Take off for each detail of the reference's condition that is missing, much for those that tell this reading of the \
question from others.
3. Take off for what is vague, or could be understood in several ways.

answer.entry_N.reference_M: How well do the response's answers say what the reference's answers say?
1. Look for facts that contradict the reference's answers; they weigh most.
2. Take off for each fact of the reference's answers that is missing.
3. Take off for what does not answer the question.

10 is the same in whatever words, 0 has nothing of it. Entries about different readings are meant to score low: score \
each pair for itself, and don't look for a partner for every entry."""

POINTS = {str(point): point / 10 for point in range(11)}
MOST_PAIRS = 100
# The share of each score in how well two entries fit, as the paper's release weighs them.
CONDITION_WEIGHT, ANSWER_WEIGHT, CITATION_WEIGHT = 0.3, 0.5, 0.2
CONDITION = Measure("condition_score", "Condition score, optimal matching", low=0, high=1)
ANSWER = Measure("answer_score", "Answer score, optimal matching", low=0, high=1)
GREEDY_CONDITION = Measure("condition_score_greedy", "Condition score, greedy matching", low=0, high=1)
GREEDY_ANSWER = Measure("answer_score_greedy", "Answer score, greedy matching", low=0, high=1)
# Of each entry, in the optimal matching.
ENTRY_CONDITION, ENTRY_ANSWER, ENTRY_CITATION = (
    Measure(name, label, Subject.ENTRY, low=0, high=1)
    for name, label in (
        ("entry_condition_score", "Condition score of an entry"),
        ("entry_answer_score", "Answer score of an entry"),
        ("entry_citation_recall", "Citation recall of an entry"),
    )
)
MEASURES = (
    CONDITION,
    ANSWER,
    GREEDY_CONDITION,
    GREEDY_ANSWER,
    ENTRY_CONDITION,
    ENTRY_ANSWER,
    ENTRY_CITATION,
)


@dataclass(frozen=True)
class EntryScore:
    """The scores of one entry, 0 to 1, in the optimal matching: of the pair that it makes with the reference entry of
    this number, from 1; where it has none, `reference` is 0 and so is every score."""

    reference: int
    condition: float
    answer: float
    citation: float


@dataclass(frozen=True, eq=False)
class _PairScores:
    """Of each entry (rows) by each reference entry (columns), 0 to 1."""

    conditions: Floats
    answers: Floats
    citations: Floats
    # Of entries whose conditions were given to the system: the pairs of the same condition.
    given: Matching | None
    # False where no entry has a condition, of which there is no score then.
    has_conditions: bool

    @property
    def fit(self) -> Floats:
        answers = ANSWER_WEIGHT * self.answers + CITATION_WEIGHT * self.citations
        return answers + CONDITION_WEIGHT * self.conditions if self.has_conditions else answers

    @property
    def optimal(self) -> Matching:
        return self.given or optimal_matching(self.fit)

    @property
    def greedy(self) -> Matching:
        return self.given or greedy_matching(self.fit)


class EntryAsking(ResponseAsking):
    """Scores a response's entries against the reference's. A response without entries scores 0 unasked."""

    key = "entry_scores"

    def problems(self, protocol: Protocol, spec: Spec, settings: Settings) -> list[str]:
        if not protocol.drafts_entries:
            return ["Only responses that are sets of condition-answer-citation entries have these scores."]
        return super().problems(protocol, spec, settings)

    def steps(
        self, protocol: Protocol, spec: Spec, stimulus: Stimulus, settings: Settings
    ) -> tuple[str, ...]:
        parts = super().steps(protocol, spec, stimulus, settings)
        # Without any entry in any response one call is made, and fails.
        return tuple(part for part in parts if response_set(stimulus, part) != []) or parts[:1]

    def task(self, call: ItemCall) -> ScoreTask:
        given, reference = _sets(call)
        shown = alone(call.stimulus, call.step)
        material = material_of(call.protocol, call.spec, shown, call.settings, view_of(shown, call.step))
        texts = _written(given, "Entry"), _written(reference, "Reference")
        # Documents are not shown: what holds is what the reference says.
        material = remarked(
            replace(material, responses=texts[:1], references=texts[1:], documents=(), follow_ups=())
        )
        return ScoreTask(
            introduction=INTRODUCTION,
            task=TASK,
            blocks=(
                query_block(material),
                fence("Response", texts[0], material.mark),
                fence("Reference", texts[1], material.mark),
            ),
            mark=material.mark,
            cells=[
                AnswerCell((score, f"entry_{row}", f"reference_{column}"), call.step, POINTS)
                for score in (("condition", "answer") if _has_conditions(given) else ("answer",))
                for row in range(1, len(given) + 1)
                for column in range(1, len(reference) + 1)
            ],
        )

    def data(self, call: ItemCall, values: Values) -> dict[str, Any]:
        pairs = _pair_scores(call, values)
        conditions, answers = pairs.conditions, pairs.answers
        optimal, greedy = pairs.optimal, pairs.greedy
        systems = {response["part"]: response["system"] for response in call.stimulus["responses"]}
        empty = {part: 0.0 for part in systems if response_set(call.stimulus, part) == []}
        scores = {ANSWER: optimal.mean_of_all(answers), GREEDY_ANSWER: greedy.mean_of_matched(answers)}
        found = {measure.key: {**empty, call.step: min(score, 1.0)} for measure, score in scores.items()}
        # Of an empty set only its setting says whether it would have had conditions.
        without = call.settings.without_conditions
        conditioned = {part: 0.0 for part in empty if systems[part] not in without}
        if pairs.has_conditions:
            found |= {
                CONDITION.key: {**conditioned, call.step: min(optimal.mean_of_all(conditions), 1.0)},
                GREEDY_CONDITION.key: {
                    **conditioned,
                    call.step: min(greedy.mean_of_matched(conditions), 1.0),
                },
            }
        elif without and conditioned:
            found |= {CONDITION.key: conditioned, GREEDY_CONDITION.key: conditioned}
        entries = {entry_part(at, call.step): each for at, each in enumerate(_entry_scores(pairs), 1)}
        if pairs.has_conditions:
            found[ENTRY_CONDITION.key] = {part: each.condition for part, each in entries.items()}
        return found | {
            ENTRY_ANSWER.key: {part: each.answer for part, each in entries.items()},
            ENTRY_CITATION.key: {part: each.citation for part, each in entries.items()},
        }

    def entries(self, call: ItemCall, reply: Reply) -> list[EntryScore]:
        """The scores of each entry of the call's response, from the reply that `read` makes the measures of.

        Their sum over the size of the larger set is the measure of the optimal matching.
        """
        require_answer(reply)
        cells = self.task(call).cells
        values, _ = read_cells(cells, view_of(call.stimulus, call.order), call.settings, reply)
        return _entry_scores(_pair_scores(call, values))

    def measures(self, settings: Settings) -> tuple[Measure, ...]:
        return MEASURES


def _sets(call: ItemCall) -> tuple[list[Entry], list[Entry]]:
    """The entries of the call's response and of the reference; Unmeasurable where they can't be compared."""
    reference, given = reference_set(call.stimulus), response_set(call.stimulus, call.step)
    if reference is None:
        raise Unmeasurable(NO_REFERENCE)
    if given is None:
        raise Unmeasurable(NO_SET)
    if not given:
        raise Unmeasurable("No response has any entry.")
    if (pairs := len(given) * len(reference)) > MOST_PAIRS:
        raise Unmeasurable(
            f"The entries make {pairs} pairs, and at most {MOST_PAIRS} are asked about in one call."
        )
    return given, reference


def _written(entries: Sequence[Entry], name: str) -> str:
    """The conditions and answers of entries, numbered; further lines set in, so that none begins another entry."""
    return "\n\n".join(
        "\n".join(
            [
                f"{name} {number}",
                "Condition: " + "\n    ".join(entry["condition"].splitlines()),
                *(f"Answer: {answer}" for answer in entry["answers"]),
            ]
        )
        for number, entry in enumerate(entries, 1)
    )


def _pair_scores(call: ItemCall, values: Values) -> _PairScores:
    given, reference = _sets(call)
    shape, has_conditions = (len(given), len(reference)), _has_conditions(given)
    return _PairScores(
        _matrix(values, "condition", shape) if has_conditions else np.zeros(shape),
        _matrix(values, "answer", shape),
        np.array([[_recall(entry, wanted) for wanted in reference] for entry in given]),
        given_matching([each["condition"] for each in given], [each["condition"] for each in reference]),
        has_conditions,
    )


def _has_conditions(entries: Sequence[Entry]) -> bool:
    return any(each["condition"].strip() for each in entries)


def _entry_scores(pairs: _PairScores) -> list[EntryScore]:
    """Of each entry, in the optimal matching."""
    optimal = pairs.optimal
    matched = dict(zip(optimal.given.tolist(), optimal.reference.tolist(), strict=True))
    scores = (pairs.conditions, pairs.answers, pairs.citations)
    return [
        EntryScore(matched[row] + 1, *(float(each[row, matched[row]]) for each in scores))
        if row in matched
        else EntryScore(0, 0.0, 0.0, 0.0)
        for row in range(len(pairs.conditions))
    ]


def _matrix(values: Values, score: str, shape: tuple[int, int]) -> Floats:
    rows, columns = shape
    return np.array(
        [
            [values[score, f"entry_{row}", f"reference_{column}"] for column in range(1, columns + 1)]
            for row in range(1, rows + 1)
        ],
        dtype=np.float64,
    )


def _recall(entry: Entry, wanted: Entry) -> float:
    return citation_recall(cited_sources([entry]), cited_sources([wanted])) or 0.0


ENTRY_SCORES = EntryAsking()
