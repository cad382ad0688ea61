"""Screens and forms: a frozen item becomes what templates draw, and a posted form what protocols clean.

A screen is plain dictionaries and strings: the item's page is the hot path, and templates read them fastest. What
is repeated in every cell of a checklist (names, labels) is escaped here once and marked safe.
Names of fields are canonical (`preference`, `satisfied.f1.r2`); only numbers and labels follow the presented order.
"""

from evaluation.forms.entry_shapes import ModelRevisions, RoundRecord
from evaluation.forms.feedback import build_feedback
from evaluation.forms.input.draft_merge import held_fields, merge_drafts
from evaluation.forms.input.posted_fields import (
    HELD,
    INSTRUCTION,
    LOOK,
    PROBLEM_NOTE,
    VISIBLE_MS,
    read_fields,
    read_trace,
    read_visible_ms,
)
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.forms.input.screen_record import LAYOUTS, SCREEN, SCREEN_TRACE, ScreenRecord, read_screen
from evaluation.forms.language import in_language_of, language_of
from evaluation.forms.problems import PROBLEM_TEXTS, problem_text
from evaluation.forms.response_names import response_names
from evaluation.forms.screen import build_screen
from evaluation.forms.shapes import Field, Screen

__all__ = [
    "HELD",
    "INSTRUCTION",
    "LAYOUTS",
    "LOOK",
    "PROBLEM_NOTE",
    "PROBLEM_TEXTS",
    "SCREEN",
    "SCREEN_TRACE",
    "VISIBLE_MS",
    "Field",
    "ModelRevisions",
    "RoundRecord",
    "Screen",
    "ScreenRecord",
    "answers_as_data",
    "build_feedback",
    "build_screen",
    "held_fields",
    "in_language_of",
    "language_of",
    "merge_drafts",
    "problem_text",
    "read_fields",
    "read_screen",
    "read_trace",
    "read_visible_ms",
    "response_names",
]
