"""Cleaning one question's value, by its kind."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.protocols.base import (
    MAX_TEXT,
    AnswerValue,
    Kind,
    Over,
    Problem,
    Question,
    Source,
    Stimulus,
    storable,
)
from evaluation.protocols.entries import (
    clean_entries,
    clean_entry,
    drafted_entries,
    find_set_problems,
    fragments_of,
    write_entry,
)
from evaluation.protocols.entry_form import read_form

# A checklist's cell as forms, JSON and JSON written by others spell it.
CHECKS = {"on": 1.0, "0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "False": 0.0, "True": 1.0}


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


def value_parts(stimulus: Stimulus) -> list[str]:
    """The values of every follow-up question's answer set; where one is chosen, that one alone."""
    context = stimulus["context"]
    parts = []
    for follow_up in context["follow_ups"] if context else []:
        chosen = follow_up["answer"]
        parts += [
            f"{follow_up['part']}.v{number}"
            for number, answer in enumerate(follow_up["answers"], 1)
            if not chosen or answer == chosen
        ]
    return parts


def parts_of(question: Question, stimulus: Stimulus) -> list[str]:
    """The keys of what the question is asked about, in the order of the stimulus; [''] for the whole item."""
    match question.over:
        case Over.RESPONSE:
            return response_parts(stimulus)
        case Over.FOLLOW_UP:
            return follow_up_parts(stimulus)
        case Over.FOLLOW_UP_RESPONSE:
            return checklist_parts(stimulus)
        case Over.VALUE:
            return value_parts(stimulus)
        case Over.CHOICE:
            return list(question.choices)
        case Over.ITEM:
            return [""]


def clean_preference(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """A label r1, r2, ... or tie, where ties are allowed; from imports and judges also {"label", "number"} with
    P(r2 is better), or with the grade where the preference is graded."""
    if question.grades:
        return [_graded(question, value, source)]
    number = None
    if isinstance(value, Mapping) and source != "form":
        number, value = value.get("number"), value.get("label")
        if number is not None:
            number = _number(question.key, number, 0.0, 1.0)
    choices = [*response_parts(stimulus), *(["tie"] if question.ties else [])]
    if value not in choices:
        raise _Bad(Problem("not_a_choice", question.key, {"value": value, "choices": ", ".join(choices)}))
    return [AnswerValue(question.key, question.kind, label=value, number=number)]


def _graded(question: Question, value: Any, source: Source) -> AnswerValue:
    """A grade with the label that its sign says. The points bind forms only; imports and judges may give fractions
    between them, a label beside the grade, or a label alone, which has no grade."""
    labels = ["r1", "r2", *(["tie"] if question.ties else [])]
    label = None
    if isinstance(value, Mapping) and source != "form":
        label, value = value.get("label"), value.get("number")
        if value is None:
            label, value = None, label
    if source != "form" and value in labels:
        return AnswerValue(question.key, question.kind, label=value)
    number = _grade(question, value, source)
    own = sign_label(number)
    if own not in labels:
        raise _Bad(_no_grade(question, value))
    if label not in (None, own):
        raise _Bad(Problem("grade_label", question.key, {"label": label, "number": value}))
    return AnswerValue(question.key, question.kind, label=own, number=number)


def _grade(question: Question, value: Any, source: Source) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise _Bad(_no_grade(question, value)) from None
    grades = question.grades
    number = _number(question.key, value, grades[0], grades[-1])
    if source == "form" and number not in grades:
        raise _Bad(_no_grade(question, value))
    return number


def _no_grade(question: Question, value: Any) -> Problem:
    choices = ", ".join(map(str, question.grades))
    return Problem("not_a_choice", question.key, {"value": value, "choices": choices})


def sign_label(grade: float) -> str:
    """The label that a grade stands for."""
    return "tie" if grade == 0 else "r1" if grade < 0 else "r2"


def clean_choice(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """One of the question's choices."""
    if value not in question.choices:
        choices = ", ".join(question.choices)
        raise _Bad(Problem("not_a_choice", question.key, {"value": value, "choices": choices}))
    return [AnswerValue(question.key, question.kind, label=value)]


def clean_checklist(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """0 or 1 per part; from a form every part must be answered. A box that is not ticked is a no."""
    boxes = question.is_flag or question.over == Over.CHOICE

    def clean_check(where: str, each: Any) -> float:
        if str(each) not in CHECKS:
            raise _Bad(Problem("not_a_choice", where, {"value": each, "choices": "0, 1"}))
        return CHECKS[str(each)]

    return _numbers_by_part(question, stimulus, value, source, clean_check, 0.0 if boxes else None)


def clean_scale(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """A number per part, within the scale. The step binds forms only: judges and imports may give fractions."""
    points = question.points

    def clean_rating(where: str, each: Any) -> float:
        if isinstance(each, str):
            each = _read_number(where, each)
        number = _number(where, each, points[0], points[-1])
        if source == "form" and number not in points:
            params = {"value": each, "low": points[0], "high": points[-1]}
            raise _Bad(Problem("off_step", where, params))
        return number

    return _numbers_by_part(question, stimulus, value, source, clean_rating)


# What a ranking's form sends beside the ranks: the order that it began with, and that it was confirmed unmoved.
RANKING_START, RANKING_CONFIRMED = "start", "confirmed"


def clean_ranking(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """A rank per response, 1 for the best; all of them, each rank once unless ties are allowed.

    Equals share a rank, and the next rank is one more or skips as many as there are equals: both are read. They are
    kept as the mean of the places that they share. A form whose order is as it began must be confirmed.
    """
    if not isinstance(value, Mapping):
        raise _Bad(Problem("not_a_mapping", question.key))
    parts = response_parts(stimulus)
    given = {part: each for part, each in value.items() if part not in (RANKING_START, RANKING_CONFIRMED)}

    def clean_rank(where: str, each: Any) -> float:
        number = _read_number(where, each) if isinstance(each, str) else each
        if isinstance(number, bool) or not isinstance(number, int | float) or not 1 <= number <= len(parts):
            raise _Bad(Problem("not_a_rank", where, {"value": each, "highest": len(parts)}))
        return float(number)

    answers = _numbers_by_part(question, stimulus, given, source, clean_rank)
    if source == "form" and not answers and not question.required:
        return []
    if len(answers) != len(parts):
        raise _Bad(Problem("missing", question.key))
    ranks = _shared_places([answer.number or 0.0 for answer in answers])
    if len(set(ranks)) != len(ranks) and not question.ties:
        raise _Bad(Problem("ranks_tied", question.key))
    if source == "form" and not value.get(RANKING_CONFIRMED):
        begun = [part for part in str(value.get(RANKING_START) or "").split(",") if part]
        now = [part for _, part in sorted(zip(ranks, parts, strict=True), key=lambda pair: pair[0])]
        if begun in ([], now) and len(set(ranks)) == len(ranks):
            if not question.required:
                return []
            raise _Bad(Problem("unconfirmed", question.key))
    return [
        AnswerValue(question.key, question.kind, part, number=rank)
        for part, rank in zip(parts, ranks, strict=True)
    ]


def _shared_places(ranks: list[float]) -> list[float]:
    """Ranks as the places 1 to n; equals share the mean of theirs."""
    return [
        sum(other < rank for other in ranks) + (sum(other == rank for other in ranks) + 1) / 2
        for rank in ranks
    ]


def _numbers_by_part(
    question: Question,
    stimulus: Stimulus,
    value: Any,
    source: Source,
    clean: Callable[[str, Any], float],
    absent: float | None = None,
) -> list[AnswerValue]:
    """A number per part. `absent` is what a form means that leaves a part out; None: it must not."""
    parts = parts_of(question, stimulus)
    if parts == [""] and not isinstance(value, Mapping):
        value = {"": value}
    if not isinstance(value, Mapping):
        raise _Bad(Problem("not_a_mapping", question.key))
    problems = [Problem("unknown_part", question.key, {"part": part}) for part in value if part not in parts]
    answers = []
    for part in parts:
        where = f"{question.key}.{part}" if part else question.key
        each = value.get(part)
        if each in (None, ""):
            if source != "form":
                continue
            if absent is None:
                if question.required:
                    problems.append(Problem("missing", where))
                continue
            each = absent
        try:
            answers.append(AnswerValue(question.key, question.kind, part, number=clean(where, each)))
        except _Bad as bad:
            problems += bad.problems
    if problems:
        raise _Bad(*problems)
    return answers


def clean_text(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    if not isinstance(value, str):
        raise _Bad(Problem("not_text", question.key))
    text = storable(value).strip()
    if len(text) > MAX_TEXT:
        raise _Bad(Problem("too_long", question.key, {"limit": MAX_TEXT}))
    return [AnswerValue(question.key, question.kind, text=text)] if text else []


def clean_set(question: Question, stimulus: Stimulus, value: Any, source: Source) -> list[AnswerValue]:
    """An answer per entry of a set: from a form its rows (`read_form`), else a list of entries."""
    fragments = fragments_of(stimulus)
    if source == "form":
        if not isinstance(value, Mapping):
            raise _Bad(Problem("not_a_mapping", question.key))
        rows, problems = read_form(question.key, value)
        entries = {}
        for row, given in rows.items():
            entries[row], wrong = clean_entry(given, fragments, f"{question.key}.{row}")
            problems += wrong
    else:
        found, problems = clean_entries(value, fragments, question.key)
        entries = {f"e{number}": entry for number, entry in enumerate(found, 1)}
    problems = problems or find_set_problems(entries, drafted_entries(stimulus), question.key)
    if source == "form" and not entries and not question.required:
        return []
    if problems:
        raise _Bad(*problems)
    return [
        AnswerValue(question.key, question.kind, f"e{number}", text=write_entry(entry))
        for number, entry in enumerate(entries.values(), 1)
    ]


def _read_number(where: str, text: str) -> float:
    """A number as a form sends it."""
    try:
        return float(text)
    except ValueError:
        raise _Bad(Problem("not_a_number", where, {"value": text[:80]})) from None


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
CLEANERS: dict[Kind, Cleaner] = {
    Kind.PREFERENCE: clean_preference,
    Kind.CHECKLIST: clean_checklist,
    Kind.SCALE: clean_scale,
    Kind.CHOICE: clean_choice,
    Kind.RANKING: clean_ranking,
    Kind.TEXT: clean_text,
    Kind.ENTRIES: clean_set,
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
