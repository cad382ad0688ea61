"""A scale: for every part of the item that it is asked about, its points from low to high."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils import formats
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language_bidi

from evaluation.forms.fields.part_names import PartName, part_names
from evaluation.forms.fields.screen_input import ScreenInput, build_option
from evaluation.forms.problems import sentence_for
from evaluation.forms.shapes import Field, PointMeaning, ScaleGroup, ScaleLayout, ScalePoint
from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import Kind, Over, option_key
from evaluation.protocols.kinds import KINDS

# Labels up to here stand under their number in a segment; longer ones, each on a line of its own.
SHORT_LABEL = 20
# So many segments with words, and so many with numbers alone, stand in one row on a phone's screen.
ROW_OF_WORDS, ROW_OF_NUMBERS = 5, 7


class _Step(NamedTuple):
    """A point before it belongs to a part; all escaped."""

    value: SafeString
    number: str
    label: SafeString


def build_scale(field: Field, question: QuestionSpec, page: ScreenInput, value: Any) -> None:
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {"": value}
    steps = [
        _Step(escape(option_key(point)), number_text(point), escape(question.label(point)))
        for point in KINDS[question.kind].offers(question)
    ]
    field["points"] = _points(question, steps)
    field["groups"] = [_group(field, part, steps, given, page.errors) for part in part_names(question, page)]


def number_text(value: float) -> str:
    """A number as people write it in their language: no needless digits, and a true minus sign."""
    written = f"{value:g}".replace("-", "\N{MINUS SIGN}").replace(
        ".", formats.get_format("DECIMAL_SEPARATOR")
    )
    # Among letters that run from the right, a minus sign would stand behind its number.
    return f"\N{LEFT-TO-RIGHT MARK}{written}" if value < 0 and get_language_bidi() else written


def _points(question: QuestionSpec, steps: list[_Step]) -> ScaleLayout:
    worded = all(step.label for step in steps)
    described: list[PointMeaning] = [
        {"number": step.number, "label": step.label, "text": question.about(point)}
        for step, point in zip(steps, KINDS[question.kind].offers(question), strict=True)
    ]
    return {
        "by_response": question.over == Over.RESPONSE,
        "classes": _classes(steps, worded=worded),
        "worded": worded,
        "ends": [] if worded else [each for each in described if each["label"]],
        "meanings": [each for each in described if each["text"]],
    }


def _classes(steps: list[_Step], *, worded: bool) -> str:
    """The arrangement as style sheets name it; a row that is too long for a phone is broken into even ones."""
    if not worded:
        rows = -(-len(steps) // ROW_OF_NUMBERS)
        return f"numbers by-{-(-len(steps) // rows)}" if rows > 1 else "numbers"
    short = len(steps) <= ROW_OF_WORDS and all(len(step.label) <= SHORT_LABEL for step in steps)
    if not short:
        return "lines"
    return "words five" if len(steps) == ROW_OF_WORDS else "words"


def _group(
    field: Field, part: PartName, steps: list[_Step], given: Mapping[str, Any], errors: Mapping[str, str]
) -> ScaleGroup:
    key = escape(field["key"])
    where = f"{field['key']}.{part.key}" if part.key else field["key"]
    name = SafeString(f"{key}.{part.key}" if part.key else key)
    value = given.get(part.key)
    chosen = None if value is None else str(value)
    return {
        "name": name,
        "id": SafeString(f"q-{name}"),
        "part": part.key,
        "who": part.who,
        "who_id": SafeString(f"w-{name}"),
        "head": part.head,
        "head_id": SafeString(f"a-{key}.{part.head_key}"),
        "options": [
            _point(name, step, "" if n else f"q-{name}", checked=step.value == chosen)
            for n, step in enumerate(steps)
        ],
        "value": "",
        # Of the whole item the field itself says what is wrong.
        "error": sentence_for(errors.get(where, ""), Kind.SCALE) if part.key else "",
    }


def _point(name: str, step: _Step, id_: str, *, checked: bool) -> ScalePoint:
    option = build_option(name, step.value, step.label, SafeString(id_), checked=checked)
    return {**option, "number": step.number}
