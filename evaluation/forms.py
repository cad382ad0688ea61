"""From a frozen item to what templates draw, and from a posted form to what protocols clean.

A screen is plain dictionaries and strings: the item's page is the hot path, and templates read them fastest. What
is repeated in every cell of a checklist (names, labels) is escaped here once and marked safe.
Names of fields are canonical (`preference`, `satisfied.f1.r2`); only numbers and labels follow the presented order.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from evaluation.protocols import GoldResult, Kind, Problem, Protocol, Question
from evaluation.protocols.base import Data, Spec, Stimulus, sees_context

# Fields of the form that are not answers.
VISIBLE_MS = "visible_ms"
PROBLEM_NOTE = "problem_note"
NOT_ANSWERS = frozenset({VISIBLE_MS, PROBLEM_NOTE})

# What a participant is told; the codes are those of `evaluation.protocols.base.MESSAGES`.
PROBLEM_TEXTS: dict[str, str | Promise] = {
    "missing": gettext_lazy("This is still open."),
    "nothing": gettext_lazy("Please answer at least one question."),
    "not_a_choice": gettext_lazy("Please choose one of the options shown."),
    "too_long": gettext_lazy("This is too long; please keep it under %(limit)s characters."),
    "not_text": gettext_lazy("Please write text here."),
    "unknown_question": gettext_lazy(
        "The form held something that this page does not ask. Please answer again."
    ),
    "unknown_part": gettext_lazy("The form held something that this page does not ask. Please answer again."),
}
MISSING_TEXTS: dict[Kind, str | Promise] = {
    Kind.PREFERENCE: gettext_lazy("Please choose one."),
    Kind.CHECKLIST: gettext_lazy("Please choose one."),
    Kind.TEXT: gettext_lazy("Please write a few words."),
}


class Option(TypedDict):
    """A radio button; `attributes` is all that its tag holds, ready and escaped."""

    attributes: str
    label: str
    id: str
    key: str
    checked: bool


class Cell(TypedDict):
    """One follow-up and one response: a choice between the checklist's options."""

    name: str
    who: str
    who_id: str
    options: list[Option]
    error: str


class Row(TypedDict):
    id: str
    number: str
    question: str
    answer: str
    cells: list[Cell]


class Field(TypedDict):
    """A question as its partial draws it; `options`, `rows` and `value` as its kind needs them."""

    key: str
    id: str
    template: str
    prompt: str
    help: str
    required: bool
    error: str
    options: list[Option]
    heads: list["Card"]
    rows: list[Row]
    value: str


class Card(TypedDict):
    """A response as it is shown; `tally` names the checklist whose total stands in its head, if there is one."""

    part: str
    name: str
    html: str
    tally: str
    met: str


class Line(TypedDict):
    href: str
    text: str


class Screen(TypedDict):
    template: str
    query: dict[str, Any]
    context: list[dict[str, str]]
    cards: list[Card]
    fields: list[Field]
    summary: list[Line]


def build_screen(
    protocol: Protocol,
    spec: Spec,
    stimulus: Stimulus,
    order: str,
    *,
    data: Data | None = None,
    problems: Sequence[Problem] = (),
) -> Screen:
    """Everything that an item's page shows, with what was filled in so far and what was wrong with it."""
    values = data or {}
    cards = _cards(stimulus, order)
    questions = protocol.questions(spec, stimulus)
    page = _Page(stimulus, cards, _errors(problems))
    fields = [_field(question, page, values.get(question.key)) for question in questions]
    for field in fields:
        if field["rows"]:
            _add_tallies(cards, field)
    return {
        "template": protocol.template,
        "query": _query(spec, stimulus),
        "context": _context(stimulus) if sees_context(spec, stimulus) else [],
        "cards": cards,
        "fields": fields,
        "summary": _summary(fields, problems),
    }


def read_fields(fields: Mapping[str, str]) -> dict[str, Any]:
    """The answers in a posted form or a draft: {question: value}, {question: {part: value}} for names with a dot."""
    data: dict[str, Any] = {}
    for name, value in fields.items():
        key, dot, part = name.partition(".")
        if key in NOT_ANSWERS:
            continue
        if not dot:
            data[key] = value
        elif isinstance(cells := data.setdefault(key, {}), dict):
            cells[part] = value
    return data


def read_visible_ms(fields: Mapping[str, str]) -> int | None:
    """The time in view that the browser counted; None where it did not, or says nonsense."""
    value = fields.get(VISIBLE_MS, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else None


def response_names(stimulus: Stimulus, order: str) -> dict[str, str]:
    """Canonical part to the name on the screen, in the order shown."""
    parts = order.split(",") if order else [response["part"] for response in stimulus["responses"]]
    return {part: escape(gettext("Response %(number)s") % {"number": n}) for n, part in enumerate(parts, 1)}


def _query(spec: Spec, stimulus: Stimulus) -> dict[str, Any]:
    query = stimulus["query"]
    return {
        "label": gettext("%(asker)s asked") % {"asker": spec["asker"]},
        "asker": spec["asker"],
        "text": query["text"],
        "clarifying_question": stimulus["clarifying_question"],
        "references": [_reference(each) for each in query["references"]] if spec["show_references"] else [],
    }


def _reference(reference: Any) -> str:
    return str(reference.get("text", "")) if isinstance(reference, Mapping) else str(reference)


def _context(stimulus: Stimulus) -> list[dict[str, str]]:
    return [
        {"question": follow_up["question"], "answer": follow_up["answer"]}
        for follow_up in stimulus["context"]["follow_ups"]
    ]


def _cards(stimulus: Stimulus, order: str) -> list[Card]:
    by_part = {response["part"]: response for response in stimulus["responses"]}
    return [
        {"part": part, "name": name, "html": by_part[part]["html"], "tally": "", "met": ""}
        for part, name in response_names(stimulus, order).items()
    ]


class _Page(NamedTuple):
    """What all fields of a screen share."""

    stimulus: Stimulus
    cards: list[Card]
    errors: Mapping[str, str]


Builder = Callable[[Field, Question, _Page, Any], None]


def _field(question: Question, page: _Page, value: Any) -> Field:
    field: Field = {
        "key": question.key,
        "id": SafeString(f"q-{escape(question.key)}"),
        "template": f"evaluation/_{question.kind}.html",
        "prompt": question.prompt,
        "help": question.help,
        "required": question.required,
        "error": _text_for(page.errors.get(question.key, ""), question.kind),
        "options": [],
        "heads": [],
        "rows": [],
        "value": "",
    }
    BUILDERS[question.kind](field, question, page, value)
    return field


def _preference(field: Field, question: Question, page: _Page, value: Any) -> None:
    """The responses in the order shown, with the tie in the middle of two."""
    choices = [(card["part"], card["name"], str(n)) for n, card in enumerate(page.cards, 1)]
    choices.insert(1, ("tie", escape(question.options.get("tie") or gettext("Tie")), "T"))
    name = escape(question.key)
    field["options"] = [
        _option(name, part, label, "" if n else field["id"], key, checked=value == part)
        for n, (part, label, key) in enumerate(choices)
    ]


def _checklist(field: Field, question: Question, page: _Page, value: Any) -> None:
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    context = page.stimulus["context"]
    # Yes before no, whatever order the database gave the options back in (PostgreSQL's jsonb sorts keys).
    words = (("1", gettext("Yes")), ("0", gettext("No")))
    options = [(SafeString(value), escape(question.options.get(value) or word)) for value, word in words]
    key = escape(question.key)
    field["heads"] = page.cards
    for number, follow_up in enumerate(context["follow_ups"] if context else [], 1):
        cells = [_cell(key, follow_up["part"], card, options, given, page.errors) for card in page.cards]
        field["rows"].append(
            {
                "id": SafeString(f"{field['id']}-{follow_up['part']}"),
                "number": str(number),
                "question": follow_up["question"],
                "answer": follow_up["answer"],
                "cells": cells,
            }
        )


def _cell(
    key: str,
    follow_up: str,
    card: Card,
    options: Sequence[tuple[str, str]],
    given: Mapping[str, Any],
    errors: Mapping[str, str],
) -> Cell:
    part = f"{follow_up}.{card['part']}"
    name = SafeString(f"{key}.{part}")
    value = given.get(part)
    first = SafeString(f"q-{name}")
    return {
        "name": name,
        "who": card["name"],
        "who_id": SafeString(f"w-{name}"),
        "options": [
            _option(name, option, label, "" if n else first, checked=value == option)
            for n, (option, label) in enumerate(options)
        ],
        "error": _text_for(errors.get(name, ""), Kind.CHECKLIST),
    }


def _option(name: str, value: str, label: str, id_: str = "", key: str = "", *, checked: bool) -> Option:
    """All but the last two have been escaped."""
    attributes = f'name="{name}" value="{value}"'
    attributes += f' id="{id_}"' if id_ else ""
    attributes += f' data-key="{key}"' if key else ""
    attributes += " checked" if checked else ""
    return {"attributes": SafeString(attributes), "label": label, "id": id_, "key": key, "checked": checked}


def _text(field: Field, question: Question, page: _Page, value: Any) -> None:
    field["value"] = value if isinstance(value, str) else ""


# A further kind of question is a function here and a partial templates/evaluation/_<kind>.html.
BUILDERS: dict[Kind, Builder] = {
    Kind.PREFERENCE: _preference,
    Kind.CHECKLIST: _checklist,
    Kind.TEXT: _text,
}


def _add_tallies(cards: list[Card], field: Field) -> None:
    for column, card in enumerate(cards):
        met = sum(row["cells"][column]["options"][0]["checked"] for row in field["rows"])
        card["tally"] = field["key"]
        card["met"] = gettext("%(met)s of %(all)s met") % {"met": met, "all": len(field["rows"])}


def _errors(problems: Iterable[Problem]) -> dict[str, str]:
    """Where to the sentence; "missing" stays a code, because it reads differently for every kind."""
    return {
        problem.where: "missing" if problem.code == "missing" else problem_text(problem)
        for problem in problems
    }


def problem_text(problem: Problem) -> str:
    """The problem in the participant's language."""
    text = PROBLEM_TEXTS.get(problem.code, gettext_lazy("This answer can't be taken."))
    return str(text) % dict(problem.params)


def _text_for(error: str, kind: Kind) -> str:
    return str(MISSING_TEXTS.get(kind, PROBLEM_TEXTS["missing"])) if error == "missing" else error


def _summary(fields: list[Field], problems: Sequence[Problem]) -> list[Line]:
    """One line per question that has problems, and what belongs to no question; nothing without problems."""
    lines: list[Line] = []
    for field in fields:
        wrong = [cell for row in field["rows"] for cell in row["cells"] if cell["error"]]
        if wrong:
            still = ngettext("%(n)s choice is still open.", "%(n)s choices are still open.", len(wrong))
            text = still % {"n": len(wrong)}
            lines.append({"href": f"#{wrong[0]['options'][0]['id']}", "text": f"{field['prompt']} {text}"})
        if field["error"]:
            lines.append({"href": f"#{field['id']}", "text": f"{field['prompt']} {field['error']}"})
    known = {field["key"] for field in fields}
    strays = [problem_text(problem) for problem in problems if problem.where.partition(".")[0] not in known]
    return lines + [{"href": "#main", "text": text} for text in dict.fromkeys(strays)]


class FeedbackLine(TypedDict):
    prompt: str
    answer: str
    who: str
    given: str
    accepted: str
    correct: bool


class Feedback(TypedDict):
    passed: bool
    note: str
    lines: list[FeedbackLine]


def build_feedback(
    protocol: Protocol, spec: Spec, stimulus: Stimulus, order: str, result: GoldResult
) -> Feedback:
    """Each gold value beside the given one, in the words of the screen."""
    questions = {question.key: question for question in protocol.questions(spec, stimulus)}
    names = response_names(stimulus, order)
    lines: list[FeedbackLine] = []
    for each in result.comparisons:
        question = questions.get(each.question)
        if question is None:
            continue
        labels = {**names, **question.options}
        part, _, response = each.part.partition(".")
        asked = _follow_up(stimulus, part)
        lines.append(
            {
                "prompt": asked["question"] if asked else question.prompt,
                "answer": asked["answer"] if asked else "",
                "who": gettext("Taken into account by %(response)s") % {"response": names[response]}
                if asked
                else "",
                "given": gettext("no answer") if each.given is None else labels.get(each.given, each.given),
                "accepted": gettext(" or ").join(labels.get(value, value) for value in each.accepted),
                "correct": each.correct,
            }
        )
    return {"passed": result.passed, "note": result.note, "lines": lines}


def _follow_up(stimulus: Stimulus, part: str) -> dict[str, str] | None:
    follow_ups = stimulus["context"]["follow_ups"] if stimulus["context"] else []
    return next((each for each in follow_ups if each["part"] == part), None)
