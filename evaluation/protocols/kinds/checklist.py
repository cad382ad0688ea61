"""Checklist: yes or no for each of its parts."""

from collections.abc import Iterator
from typing import Any

from evaluation.protocols.base import AnswerValue, Over, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.kinds.base import BadValue, QuestionKind, values_by_part
from evaluation.protocols.kinds.choice import find_choice_problems

# A checklist's cell as forms, JSON and JSON written by others spell it.
CHECKS = {"on": 1.0, "0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "False": 0.0, "True": 1.0}


class ChecklistKind(QuestionKind):
    key = "checklist"
    storage = "number"
    form = "checklist"
    overs = frozenset(set(Over))
    rule = "majority"

    def offers(self, question: QuestionSpec) -> tuple[Any, ...]:
        return (0, 1)

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        if question.over == Over.CHOICE:
            yield from find_choice_problems(question)

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """0 or 1 per part; a form must answer every part. An unticked box is a no."""
        boxes = question.is_flag or question.over == Over.CHOICE

        def clean_check(where: str, each: Any) -> float:
            if str(each) not in CHECKS:
                raise BadValue(Problem("not_a_choice", where, {"value": each, "choices": "0, 1"}))
            return CHECKS[str(each)]

        return values_by_part(self, question, stimulus, value, source, clean_check, 0.0 if boxes else None)
