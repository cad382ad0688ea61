"""Preference: which response is better, or by how much."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.protocols.answers.parts import response_parts
from evaluation.protocols.base import TIE, AnswerValue, Over, Problem, QuestionSpec, Source, Stimulus
from evaluation.protocols.kinds.base import BadValue, QuestionKind, answers_by_part, number_between

GRADED = (5, 7)


class PreferenceKind(QuestionKind):
    key = "preference"
    storage = "label"
    form = "preference"
    overs = frozenset({Over.ITEM, Over.FOLLOW_UP, Over.TURN})
    rule = "majority"
    own_settings = frozenset({"both_bad"})

    def find_problems(self, question: QuestionSpec) -> Iterator[Problem]:
        both_bad = question.form.get("both_bad", False)
        if not isinstance(both_bad, bool) or (both_bad and (not question.ties or "points" in question.form)):
            yield Problem("both_bad", "")

    def clean(
        self, question: QuestionSpec, stimulus: Stimulus, value: Any, source: Source
    ) -> list[AnswerValue]:
        """A label r1, r2, ... or one of the question's `tie_values`; from imports and judges also {"label", "number"}
        with P(r2 is better), or with the grade where the preference is graded. Of turns or follow-ups one for each."""

        def clean_one(where: str, part: str, each: Any) -> AnswerValue:
            if question.grades:
                return _graded(question, where, part, each, source)
            return _preferred(question, stimulus, where, part, each, source)

        if question.over == Over.ITEM:
            return [clean_one(question.key, "", value)]
        return answers_by_part(question, stimulus, value, source, clean_one)


def _preferred(
    question: QuestionSpec, stimulus: Stimulus, where: str, part: str, value: Any, source: Source
) -> AnswerValue:
    number = None
    if isinstance(value, Mapping) and source != "form":
        # An object without a label is itself what is no choice.
        number, value = value.get("number"), value.get("label", value)
        if number is not None:
            number = number_between(where, number, 0.0, 1.0)
    choices = [*response_parts(stimulus), *question.tie_values]
    if value not in choices:
        raise BadValue(Problem("not_a_choice", where, {"value": value, "choices": ", ".join(choices)}))
    return AnswerValue(question.key, question.kind, part, label=value, number=number)


def _graded(question: QuestionSpec, where: str, part: str, value: Any, source: Source) -> AnswerValue:
    """A grade with the label that its sign says. The points bind forms only; imports and judges may give fractions
    between them, a label beside the grade, or a label alone, which has no grade."""
    labels = ["r1", "r2", *question.tie_values]
    label = None
    if isinstance(value, Mapping) and source != "form":
        label, value = value.get("label"), value.get("number")
        if value is None:
            label, value = None, label
    if source != "form" and value in labels:
        return AnswerValue(question.key, question.kind, part, label=value)
    number = _grade(question, where, value, source)
    own = sign_label(number)
    if own not in labels:
        raise BadValue(_no_grade(question, where, value))
    if label not in (None, own):
        raise BadValue(Problem("grade_label", where, {"label": label, "number": value}))
    return AnswerValue(question.key, question.kind, part, label=own, number=number)


def _grade(question: QuestionSpec, where: str, value: Any, source: Source) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise BadValue(_no_grade(question, where, value)) from None
    grades = question.grades
    number = number_between(where, value, grades[0], grades[-1])
    if source == "form" and number not in grades:
        raise BadValue(_no_grade(question, where, value))
    return number


def _no_grade(question: QuestionSpec, where: str, value: Any) -> Problem:
    choices = ", ".join(map(str, question.grades))
    return Problem("not_a_choice", where, {"value": value, "choices": choices})


def sign_label(grade: float) -> str:
    """The label that a grade stands for."""
    return TIE if grade == 0 else "r1" if grade < 0 else "r2"
