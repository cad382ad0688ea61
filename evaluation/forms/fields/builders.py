"""A question as its partial draws it, by its kind."""

import json
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString

from evaluation.forms.fields.checklist import build_checklist
from evaluation.forms.fields.choice import build_choice, choice_options
from evaluation.forms.fields.entries import build_entries
from evaluation.forms.fields.grades import grade_options
from evaluation.forms.fields.parts import PartOptions, build_parts
from evaluation.forms.fields.ranking import build_ranking
from evaluation.forms.fields.scale import build_scale
from evaluation.forms.fields.screen_input import Builder, ScreenInput, build_option
from evaluation.forms.fields.ties import tie_text
from evaluation.forms.problems import sentence_for
from evaluation.forms.shapes import Field, Option
from evaluation.protocols import Over, QuestionSpec
from evaluation.protocols.base import BOTH_BAD, TIE
from evaluation.protocols.kinds import KINDS
from evaluation.protocols.requirements.questions import SHORT_TEXT
from evaluation.registry import KeyedTable

# On the keyboard, beside the responses' numbers.
TIE_KEYS = {TIE: "T", BOTH_BAD: "B"}


def build_field(question: QuestionSpec, page: ScreenInput, value: Any) -> Field:
    form = KINDS[question.kind].form
    field: Field = {
        "key": question.key,
        "id": SafeString(f"q-{escape(question.key)}"),
        "form": form,
        "over": str(question.over),
        "template": f"evaluation/_{form}.html",
        "prompt": question.prompt,
        "help": question.help,
        "required": question.required,
        "error": sentence_for(page.errors.get(question.key, ""), form),
        "options": [],
        "heads": [],
        "rows": [],
        "groups": [],
        "points": None,
        "value": "",
    }
    if question.over != Over.ITEM and form in PART_BUILDERS:
        field["template"] = "evaluation/_parts.html"
        PART_BUILDERS[form](field, question, page, value)
    else:
        BUILDERS[form](field, question, page, value)
    return field


def _preference(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    """The responses in the order shown; what prefers none in the middle of two and after more."""
    if question.grades:
        field["template"] = "evaluation/_graded.html"
        field["sides"] = [card["name"] for card in page.cards]
        field["options"] = grade_options(question, page, escape(question.key), field["id"], value)
        return
    field["options"] = _preference_options(question, page, escape(question.key), field["id"], value)


def _preference_options(
    question: QuestionSpec, page: ScreenInput, name: str, id_: str, value: Any, *, has_keys: bool = True
) -> list[Option]:
    # Only the first nine have a key of their own.
    choices = [(card["part"], card["name"], str(n) if n < 10 else "") for n, card in enumerate(page.cards, 1)]
    at = 1 if len(choices) == 2 else len(choices)
    choices[at:at] = [(value, tie_text(question, value), TIE_KEYS[value]) for value in question.tie_values]
    return [
        build_option(name, part, label, "" if n else id_, key if has_keys else "", checked=value == part)
        for n, (part, label, key) in enumerate(choices)
    ]


def _preference_part(
    question: QuestionSpec, page: ScreenInput, name: str, id_: str, value: Any
) -> list[Option]:
    if question.grades:
        return grade_options(question, page, name, id_, value, has_keys=False)
    return _preference_options(question, page, name, id_, value, has_keys=False)


def _text(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    field["value"] = value if isinstance(value, str) else ""
    field["least"] = question.least
    if question.required and "least" not in question.form:
        field["hinted"] = SHORT_TEXT
    field["moves"] = json.dumps(moves) if (moves := page.trace.get(question.key)) else ""


# By how a question is answered (`QuestionKind.form`).
BUILDERS: KeyedTable[Builder] = KeyedTable(
    "No field draws questions of the form {key!r}: add its builder to evaluation.forms.fields.builders, and "
    "the partial templates/evaluation/_{key}.html.",
    {
        "preference": _preference,
        "checklist": build_checklist,
        "choice": build_choice,
        "scale": build_scale,
        "text": _text,
        "ranking": build_ranking,
        "entries": build_entries,
    },
)


def _of_parts(options: PartOptions | None) -> Builder:
    def build(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
        build_parts(field, question, page, value, options)

    return build


# The same of questions that are asked of each part of an item. Scales and checklists draw theirs themselves.
PART_BUILDERS: dict[str, Builder] = {
    "preference": _of_parts(_preference_part),
    "choice": _of_parts(choice_options),
    "text": _of_parts(None),
}
