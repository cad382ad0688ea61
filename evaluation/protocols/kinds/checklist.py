"""Checklist: yes or no for each of its parts."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.protocols.base import AnswerValue, Over, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.kinds.base import BadValue, QuestionKind, values_by_part
from evaluation.protocols.kinds.choice import find_choice_problems

# A checklist's cell as forms, JSON and JSON written by others spell it.
CHECKS = {"on": 1.0, "0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "False": 0.0, "True": 1.0}
# The part under which a form sends that none of the choices holds; no choice is spelt like it.
NONE = "~none"


class ChecklistKind(QuestionKind):
    key = "checklist"
    storage = "number"
    form = "checklist"
    overs = frozenset(set(Over))
    rule = "majority"
    own_settings = frozenset({"none"})

    def offers(self, question: QuestionSpec) -> tuple[Any, ...]:
        return (0, 1)

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        if question.over == Over.CHOICE:
            yield from find_choice_problems(question)
        elif question.offers_none:
            yield Problem("none_of_choices", "")

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """0 or 1 per part; a form must answer every part. An unticked box is a no: of a question that offers none of
        its choices, where one of them or none is ticked."""
        boxes = question.is_flag or question.over == Over.CHOICE

        def clean_check(where: str, each: Any) -> float:
            if str(each) not in CHECKS:
                raise BadValue(Problem("not_a_choice", where, {"value": each, "choices": "0, 1"}))
            return CHECKS[str(each)]

        if source == "form" and question.offers_none and isinstance(value, Mapping):
            value = _without_none(question, value)
        return values_by_part(self, question, stimulus, value, source, clean_check, 0.0 if boxes else None)


def _without_none(question: QuestionSpec, ticked: Mapping[str, Any]) -> Mapping[str, Any]:
    some = {part: each for part, each in ticked.items() if part != NONE}
    if NONE in ticked and some:
        raise BadValue(Problem("none_and_some", question.key))
    if NONE not in ticked and not some and question.required:
        raise BadValue(Problem("missing", question.key))
    return some
