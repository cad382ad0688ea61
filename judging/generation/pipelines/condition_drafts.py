"""Condition-answer-citation drafts of ambiguous queries, and answers with and without conditions (CondAmbigQA)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from judging.backends.options import Input, JudgeOption
from judging.generation.conditions.answering import GIVEN, LABELS, RAG, SELF, Answering
from judging.generation.conditions.drafting import (
    DRAFTED,
    DROP,
    KNOWN,
    MARK,
    NONE,
    Drafting,
    Fragments,
    Merging,
    Screening,
)
from judging.generation.conditions.studies import (
    CALIBRATORS,
    answer_records,
    answering_systems,
    calibration_records,
    drafting_systems,
    header_of,
)
from judging.generation.fragments import RETRIEVAL, number_of_fragments
from judging.generation.pipeline import CastRole, Making, Pipeline, QueryState, Record

ANSWERS = "answers"
MOST_CONDITIONS = 10


def number_of_conditions(value: Any) -> int:
    if not float(value).is_integer() or not 1 <= value <= MOST_CONDITIONS:
        raise ValueError(f"a whole number from 1 to {MOST_CONDITIONS} is needed.")
    return int(value)


class ConditionDrafts(Pipeline):
    key, label = "condition_drafts", "Condition drafts"
    about = (
        "Sorts out ambiguous queries, drafts condition-answer-citation entries from numbered fragments, merges several "
        "drafts, and has systems answer with conditions of their own, without any, and with conditions given."
    )
    roles = (
        CastRole(key="screener", label="Screener", max_tokens=1_000),
        CastRole(key="drafters", label="Drafters", help="Each drafts a set by itself; then the sets are merged.",
             most=None, temperature=0.7, max_tokens=4_000),
        CastRole(key="merger", label="Merger", max_tokens=4_000),
        CastRole(key="answerers", label="Systems that answer", help="Each, in each setting, is a system of a study.",
             most=None, temperature=0.7, max_tokens=3_000),
    )  # fmt: skip
    options = (
        JudgeOption(
            key="screening", label="Queries that are not ambiguous", input=Input.CHOICE, default=DROP,
            choices={DROP: "left out", MARK: "kept, and told from the others", NONE: "not looked for"},
        ),
        JudgeOption(
            key="fragments", label="Fragments of a query", input=Input.NUMBER, default=20,
            help="At most so many, of those that were retrieved; without retrieval, of the query's documents.",
            clean=number_of_fragments,
        ),
        JudgeOption(
            key="settings", label="Systems answer", input=Input.CHOICE, default="none",
            choices={"none": "not at all", "all": "in all three settings", SELF: LABELS[SELF], RAG: LABELS[RAG],
                     GIVEN: LABELS[GIVEN], "compared": "without conditions, and with conditions given"},
        ),
        JudgeOption(
            key="conditions", label="Conditions given", input=Input.CHOICE, default=KNOWN,
            choices={KNOWN: "those that people settled, or of a reference set; otherwise the merged draft's",
                     DRAFTED: "the merged draft's"},
        ),
        JudgeOption(
            key="most_conditions", label="Conditions that a system may find", input=Input.NUMBER, default=3,
            clean=number_of_conditions,
        ),
    )  # fmt: skip
    making = (
        JudgeOption(
            key="study", label="Study", input=Input.CHOICE, default="calibration",
            choices={"calibration": "of drafts, which people calibrate", ANSWERS: "of answers, which judges score"},
        ),
        JudgeOption(
            key="drafts", label="Drafts to calibrate", input=Input.CHOICE, default="merged",
            choices={"merged": "the merged one", "all": "those of all drafters, side by side"},
        ),
    )  # fmt: skip
    steps = (Screening(), Fragments(), Drafting(), Merging(), Answering())
    takes = (RETRIEVAL,)
    makes = "condition_calibration"

    def header(self, making: Making) -> Record:
        redundancy = 1 if making.options["study"] == ANSWERS else CALIBRATORS
        return header_of(making, self.systems(making), redundancy)

    def systems(self, making: Making) -> Sequence[Record]:
        answers = making.options["study"] == ANSWERS
        return answering_systems(making) if answers else drafting_systems(making)

    def records(self, making: Making, states: Iterable[QueryState]) -> Iterator[Record]:
        if making.options["study"] == ANSWERS:
            return answer_records(making, states)
        return calibration_records(making, states)


PIPELINE = ConditionDrafts()
