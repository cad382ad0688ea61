"""Whether a question, as a researcher or a dump words it, can be asked at all."""

import re
from collections.abc import Iterator

from evaluation.protocols.base import (
    CAN_BE_OVER,
    DIRECTIONS,
    FORM,
    ONLY_ITEM,
    Kind,
    Over,
    Problem,
    Question,
)

# A value is a part of an answer's key, a field's name and a word in a judge's reply.
VALUE = re.compile(r"[A-Za-z0-9_-]{1,32}")
MAX_POINTS = 21
MAX_CHOICES = 60
NUMBERS = ("low", "high", "step", "ideal")
GRADED = (5, 7)
# What a form sends beside its answers (`evaluation.forms.reading`): a question of that key could never be answered.
RESERVED = frozenset({"visible_ms", "problem_note", "trace", "round"})
KNOWN = {*NUMBERS, "direction", "over", "choices", "groups", "ties", "flag", "points"}


def find_question_problems(question: Question) -> list[Problem]:
    """Everything that is wrong with how the question is to be answered."""
    where = f"questions.{question.key}"
    if question.key in RESERVED:
        return [Problem("key_reserved", where, {"key": question.key})]
    form = question.options.get(FORM, {})
    if not isinstance(form, dict):
        return [Problem("form_no_object", where)]
    return [Problem(problem.code, where, problem.params) for problem in _problems(question)]


def _problems(question: Question) -> Iterator[Problem]:
    form = question.form
    for name in form.keys() - KNOWN:
        yield Problem("form_unknown", "", {"name": name})
    allowed = CAN_BE_OVER.get(question.kind, ONLY_ITEM)
    over = form.get("over", question.over if "over" not in form else None)
    if over not in [str(each) for each in allowed]:
        yield Problem(
            "form_over", "", {"over": over, "kind": question.kind, "choices": ", ".join(sorted(allowed))}
        )
        return
    if "points" in form and (question.kind != Kind.PREFERENCE or not _is_graded(form["points"])):
        yield Problem("preference_points", "")
    if "direction" in form and not _has_direction(question):
        yield Problem("scale_direction", "")
    if question.kind == Kind.SCALE:
        yield from _scale_problems(question)
    if question.kind == Kind.CHOICE or question.over == Over.CHOICE:
        yield from _choice_problems(question)
    if "groups" in form and not _are_groups(form["groups"], form.get("choices")):
        yield Problem("choice_groups", "")


def _is_graded(points: object) -> bool:
    return isinstance(points, int) and points in GRADED


def _has_direction(question: Question) -> bool:
    return question.kind == Kind.SCALE and question.form["direction"] in DIRECTIONS and question.ideal is None


def _scale_problems(question: Question) -> Iterator[Problem]:
    form = question.form
    numbers = {name: form[name] for name in NUMBERS if form.get(name) is not None}
    wrong = [
        name
        for name, value in numbers.items()
        if isinstance(value, bool) or not isinstance(value, int | float)
    ]
    if wrong or not {"low", "high"} <= numbers.keys():
        yield Problem("scale_limits", "")
        return
    low, high, step = numbers["low"], numbers["high"], numbers.get("step", 1)
    if not low < high or step <= 0 or abs((high - low) / step - round((high - low) / step)) > 1e-9:
        yield Problem("scale_limits", "")
    elif (high - low) / step + 1 > MAX_POINTS:
        yield Problem("scale_points", "", {"limit": MAX_POINTS})
    elif not low <= numbers.get("ideal", low) <= high:
        yield Problem("scale_ideal", "", {"ideal": numbers["ideal"], "low": low, "high": high})


def _choice_problems(question: Question) -> Iterator[Problem]:
    choices = question.form.get("choices")
    if not isinstance(choices, list) or not all(isinstance(each, str) for each in choices):
        yield Problem("choices_missing", "")
        return
    if not 2 <= len(choices) <= MAX_CHOICES:
        yield Problem("choices_number", "", {"limit": MAX_CHOICES, "found": len(choices)})
    if len(set(choices)) != len(choices):
        yield Problem("choices_twice", "")
    for value in choices:
        if not VALUE.fullmatch(value):
            yield Problem("choice_value", "", {"value": value[:40]})


def _are_groups(groups: object, choices: object) -> bool:
    """Not every choice needs one."""
    return isinstance(groups, dict) and all(
        isinstance(choices, list) and key in choices and isinstance(name, str) and VALUE.fullmatch(name)
        for key, name in groups.items()
    )
