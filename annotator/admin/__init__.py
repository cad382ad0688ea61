"""The crowd in the admin: slots and participants to watch, and the acts that change them."""

from collections.abc import Iterable
from typing import Any

from annotator.admin import entry_rules, participants, quality, slots
from annotator.panels import admin as recruiters
from evaluation.admin.pages import study_pages


def _pages() -> Iterable[tuple[str, str, Any]]:
    yield "quality/", "quality", quality.quality
    yield "redundancy/", "redundancy", slots.redundancy
    yield "entry-rules/", "entry_rules", entry_rules.entry_rules
    yield "replace/", "replace", slots.replace


study_pages["crowd"] = _pages

__all__ = ["participants", "recruiters", "slots"]
