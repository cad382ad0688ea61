"""Cleaning one question's value, by its kind."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.protocols.base import MAX_TEXT, AnswerValue, Kind, Problem, Question, Source, Stimulus

# A checklist's cell as forms, JSON and JSON written by others spell it.
CHECKS = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "False": 0.0, "True": 1.0}


def response_parts(stimulus: Stimulus) -> list[str]:
    return [response["part"] for response in stimulus["responses"]]


def follow_up_parts(stimulus: Stimulus) -> list[str]:
    context = stimulus["context"]
    return [follow_up["part"] for follow_up in context["follow_ups"]] if context else []


def checklist_parts(stimulus: Stimulus) -> list[str]:
    """One cell per follow-up question and response, in the order of the page."""
    return [
        f"{follow_up}.{part}" for follow_up in follow_up_parts(stimulus) for part in response_parts(stimulus)
    ]


def clean_preference(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """A label r1, r2, ... or tie; from imports and judges also {"label", "number"} with P(r2 is better)."""
    number = None
    if isinstance(value, Mapping) and source != "form":
        number, value = value.get("number"), value.get("label")
        if number is not None:
            number = _number(question.key, number, 0.0, 1.0)
    choices = [*response_parts(stimulus), "tie"]
    if value not in choices:
        raise _Bad(Problem("not_a_choice", question.key, {"value": value, "choices": ", ".join(choices)}))
    return [AnswerValue(question.key, question.kind, label=value, number=number)]


def clean_checklist(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """0 or 1 per cell; from a form every cell must be answered."""
    if not isinstance(value, Mapping):
        raise _Bad(Problem("not_a_mapping", question.key))
    parts = checklist_parts(stimulus)
    problems = [Problem("unknown_part", question.key, {"part": part}) for part in value if part not in parts]
    answers = []
    for part in parts:
        where = f"{question.key}.{part}"
        if value.get(part) in (None, ""):
            if source == "form" and question.required:
                problems.append(Problem("missing", where))
            continue
        if str(value[part]) not in CHECKS:
            problems.append(Problem("not_a_choice", where, {"value": value[part], "choices": "0, 1"}))
            continue
        number = CHECKS[str(value[part])]
        answers.append(AnswerValue(question.key, question.kind, part, number=number))
    if problems:
        raise _Bad(*problems)
    return answers


def clean_text(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    if not isinstance(value, str):
        raise _Bad(Problem("not_text", question.key))
    # NUL is refused by PostgreSQL and half a surrogate pair by any database; line ends are kept in one form so that
    # an export reads back equal.
    text = value.replace("\x00", "").replace("\r\n", "\n").encode("utf-8", "replace").decode().strip()
    if len(text) > MAX_TEXT:
        raise _Bad(Problem("too_long", question.key, {"limit": MAX_TEXT}))
    return [AnswerValue(question.key, question.kind, text=text)] if text else []


def _number(where: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Bad(Problem("not_a_number", where, {"value": value}))
    if not low <= value <= high:  # also refuses NaN
        raise _Bad(Problem("out_of_range", where, {"value": value, "low": low, "high": high}))
    return float(value)


class _Bad(Exception):
    def __init__(self, *problems: Problem) -> None:
        super().__init__()
        self.problems = list(problems)


Cleaner = Callable[[Question, Stimulus, Any, Source], list[AnswerValue]]
# A further kind of question is one function more.
CLEANERS: dict[Kind, Cleaner] = {
    Kind.PREFERENCE: clean_preference,
    Kind.CHECKLIST: clean_checklist,
    Kind.TEXT: clean_text,
}


def clean_value(
    question: Question, stimulus: Stimulus, value: Any, source: Source
) -> tuple[list[AnswerValue], list[Problem]]:
    """The answers that a value stands for, or what is wrong with it."""
    try:
        answers = CLEANERS[question.kind](question, stimulus, value, source)
    except _Bad as bad:
        return [], bad.problems
    if not answers and question.required and source == "form":
        return [], [Problem("missing", question.key)]
    return answers, []
