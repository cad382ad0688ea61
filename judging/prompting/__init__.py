"""Prompts of judges: requests derived from the protocol's guideline and questions, in the order shown.

Pure: a spec and a stimulus are plain JSON values, as participants' screens read them.
"""

from judging.prompting.cells import (
    ANSWER_FORMATS,
    AnswerCell,
    AnswerFormat,
    cells_of,
    line_name,
    named_cells,
)
from judging.prompting.examples import can_be_shown
from judging.prompting.expected_reply import CHARACTERS_PER_TOKEN, ExpectedReply, expected_reply
from judging.prompting.problems import settings_problems
from judging.prompting.questions import asked_questions, steps, wants_labels
from judging.prompting.request import Frame, build_request, cache_key
from judging.prompting.revision import build_revision, quotations
from judging.prompting.settings import OWN_PARAMETERS, CannotAsk, Example, Settings
from judging.prompting.template import PLACEHOLDERS, REQUIRED_PLACEHOLDERS, template_problems
from judging.prompting.view import View, view_of
from judging.prompting.wording import ORIGINS_FIELD

__all__ = [
    "ANSWER_FORMATS",
    "CHARACTERS_PER_TOKEN",
    "ORIGINS_FIELD",
    "OWN_PARAMETERS",
    "PLACEHOLDERS",
    "REQUIRED_PLACEHOLDERS",
    "AnswerCell",
    "AnswerFormat",
    "CannotAsk",
    "Example",
    "ExpectedReply",
    "Frame",
    "Settings",
    "View",
    "asked_questions",
    "build_request",
    "build_revision",
    "cache_key",
    "can_be_shown",
    "cells_of",
    "expected_reply",
    "line_name",
    "named_cells",
    "quotations",
    "settings_problems",
    "steps",
    "template_problems",
    "view_of",
    "wants_labels",
]
