"""Shared parts of the field builders."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from evaluation.forms.entry_shapes import ModelRevisions
from evaluation.forms.shapes import Card, Field, Option
from evaluation.protocols import QuestionSpec
from evaluation.protocols.answers.trace import Trace
from evaluation.protocols.base import Stimulus


class ScreenInput(NamedTuple):
    """The input from which all fields of a screen are built."""

    stimulus: Stimulus
    cards: list[Card]
    errors: Mapping[str, str]
    # The moves of its rankings and the acts on its entries so far.
    trace: Trace
    # Whom to ask for revised entries, where somebody can be.
    drafting: ModelRevisions | None = None


Builder = Callable[[Field, QuestionSpec, ScreenInput, Any], None]


def build_option(name: str, value: str, label: str, id_: str = "", key: str = "", *, checked: bool) -> Option:
    """A radio button or checkbox; all arguments but the last two have been escaped."""
    attributes = f'name="{name}" value="{value}"'
    attributes += f' id="{id_}"' if id_ else ""
    attributes += f' data-key="{key}"' if key else ""
    attributes += " checked" if checked else ""
    return {"attributes": SafeString(attributes), "label": label, "id": id_, "key": key, "checked": checked}
