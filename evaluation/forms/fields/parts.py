"""Questions that are asked of each part of an item: a row of choices or a text for every part."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString

from evaluation.forms.fields.part_names import PartName, part_names
from evaluation.forms.fields.screen_input import ScreenInput
from evaluation.forms.problems import sentence_for
from evaluation.forms.shapes import Field, Option, ScaleGroup
from evaluation.protocols import QuestionSpec

# The options under a name, the first with that id.
PartOptions = Callable[[QuestionSpec, ScreenInput, str, str, Any], list[Option]]


def build_parts(
    field: Field, question: QuestionSpec, page: ScreenInput, value: Any, options: PartOptions | None
) -> None:
    """A group for every part; without `options` each is a text to write."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    field["groups"] = [
        _group(field, question, page, part, given.get(part.key), options)
        for part in part_names(question, page)
    ]


def _group(
    field: Field,
    question: QuestionSpec,
    page: ScreenInput,
    part: PartName,
    value: Any,
    options: PartOptions | None,
) -> ScaleGroup:
    key = escape(field["key"])
    name = SafeString(f"{key}.{part.key}")
    id_ = SafeString(f"q-{name}")
    return {
        "name": name,
        "id": id_,
        "part": part.key,
        "who": part.who,
        "who_id": SafeString(f"w-{name}"),
        "head": part.head,
        "head_id": SafeString(f"a-{key}.{part.head_key}"),
        "options": [] if options is None else options(question, page, name, id_, value),
        "value": value if options is None and isinstance(value, str) else "",
        "error": sentence_for(page.errors.get(f"{field['key']}.{part.key}", ""), field["form"]),
    }
