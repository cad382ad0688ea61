"""Checklists: a yes or no for each part of an item, a single checkbox, or tags."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from evaluation.forms.fields.parts import build_parts
from evaluation.forms.fields.screen_input import ScreenInput, build_option
from evaluation.forms.problems import sentence_for
from evaluation.forms.shapes import ChecklistCell, ChecklistRow, Field, Option
from evaluation.protocols import Kind, Over, QuestionSpec
from evaluation.protocols.answers.parts import parts_of
from evaluation.protocols.kinds.checklist import NONE

TICKED = "1"
# Drawn like choices over these, so that they can stand beside what they are about.
GROUPED = (Over.RESPONSE, Over.TURN, Over.TURN_RESPONSE, Over.CLAIM)


def build_checklist(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    if question.is_flag:
        _flag(field, question, page, value)
    elif question.over == Over.CHOICE:
        _tags(field, question, page, value)
    elif question.over == Over.ITEM:
        _yes_or_no(field, question, value)
    elif question.over == Over.FOLLOW_UP_RESPONSE:
        _table(field, question, page, value)
    elif question.over in GROUPED:
        field["template"] = "evaluation/_parts.html"
        build_parts(field, question, page, value, _part_options)
    else:
        _lines(field, question, page, value)


def _flag(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    """One box, labelled with the question itself."""
    field["template"] = "evaluation/_flag.html"
    field["error"] = _any_error(field, question, page)
    ticked = isinstance(value, str) and value == TICKED
    field["options"] = [
        build_option(escape(question.key), TICKED, escape(question.prompt), field["id"], checked=ticked)
    ]


def _tags(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    """A box per choice, each with its label and what it means."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    field["template"] = "evaluation/_tags.html"
    field["error"] = _any_error(field, question, page)
    for number, choice in enumerate(question.choices):
        name = SafeString(f"{escape(question.key)}.{escape(choice)}")
        id_ = SafeString(f"q-{name}") if number else field["id"]
        label = escape(question.label(choice) or choice)
        option = build_option(name, TICKED, label, id_, checked=given.get(choice) == TICKED)
        option["about"] = question.about(choice)
        field["options"].append(option)
    if question.offers_none:
        name = SafeString(f"{escape(question.key)}.{NONE}")
        label = escape(gettext("None of these"))
        field["options"].append(
            build_option(name, TICKED, label, f"q-{name}", checked=given.get(NONE) == TICKED)
        )
        field["none"] = question.required
        if page.errors.get(question.key) == "missing":
            field["error"] = gettext("Tick what applies, or “None of these”.")


def _any_error(field: Field, question: QuestionSpec, page: ScreenInput) -> str:
    """The first problem of the question or its boxes, which are too close together for a line each."""
    wrong = (text for where, text in page.errors.items() if where.startswith(f"{question.key}."))
    return field["error"] or sentence_for(next(wrong, ""), Kind.CHECKLIST)


def _yes_or_no(field: Field, question: QuestionSpec, value: Any) -> None:
    """A single yes or no about the whole item."""
    field["template"] = "evaluation/_choice.html"
    name = escape(question.key)
    field["options"] = [
        build_option(name, option, label, "" if n else field["id"], checked=value == option)
        for n, (option, label) in enumerate(yes_no_options(question))
    ]


def _table(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    """A line per follow-up question with a column per response; their totals stand in the heads."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    context = page.stimulus["context"]
    options = yes_no_options(question)
    key = escape(question.key)
    field["heads"] = page.cards
    for number, follow_up in enumerate(context["follow_ups"] if context else [], 1):
        cells = [
            _cell(key, f"{follow_up['part']}.{card['part']}", card["name"], options, given, page.errors)
            for card in page.cards
        ]
        field["rows"].append(
            {
                "id": SafeString(f"{field['id']}-{follow_up['part']}"),
                "number": str(number),
                "question": follow_up["question"],
                "answer": follow_up["answer"],
                "cells": cells,
            }
        )


def _lines(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    """A line per follow-up question or value of an attribute."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    field["template"] = "evaluation/_checks.html"
    options = yes_no_options(question)
    key, who = escape(question.key), escape(question.prompt)
    for number, (part, asked, answer) in enumerate(_parts(question, page), 1):
        row: ChecklistRow = {
            "id": SafeString(f"{field['id']}-{part}"),
            "number": str(number),
            "question": asked,
            "answer": answer,
            "cells": [_cell(key, part, who, options, given, page.errors)],
        }
        field["rows"].append(row)


def _parts(question: QuestionSpec, page: ScreenInput) -> Iterator[tuple[str, str, str]]:
    """The subject of each line: its part of the answer's key, its text, and the answer to it."""
    context = page.stimulus["context"]
    by_part = {each["part"]: each for each in (context["follow_ups"] if context else [])}
    for part in parts_of(question, page.stimulus):
        key, _, value = part.partition(".v")
        follow_up = by_part[key]
        answer = follow_up["answers"][int(value) - 1] if value else follow_up["answer"]
        yield part, follow_up["question"], answer


def yes_no_options(question: QuestionSpec) -> list[tuple[str, str]]:
    # Yes before no, whatever order the database gave the options back in (PostgreSQL's jsonb sorts keys).
    words = (("1", gettext("Yes")), ("0", gettext("No")))
    return [(SafeString(value), escape(question.options.get(value) or word)) for value, word in words]


def _part_options(question: QuestionSpec, page: ScreenInput, name: str, id_: str, value: Any) -> list[Option]:
    return [
        build_option(name, option, label, "" if n else id_, checked=value == option)
        for n, (option, label) in enumerate(yes_no_options(question))
    ]


def _cell(
    key: str,
    part: str,
    who: str,
    options: Sequence[tuple[str, str]],
    given: Mapping[str, Any],
    errors: Mapping[str, str],
) -> ChecklistCell:
    """The choice at one part; key and who are escaped."""
    name = SafeString(f"{key}.{part}")
    value = given.get(part)
    first = SafeString(f"q-{name}")
    return {
        "name": name,
        "who": who,
        "who_id": SafeString(f"w-{name}"),
        "options": [
            build_option(name, option, label, "" if n else first, checked=value == option)
            for n, (option, label) in enumerate(options)
        ],
        "error": sentence_for(errors.get(name, ""), Kind.CHECKLIST),
    }
