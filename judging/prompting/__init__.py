"""What a judge is asked: requests derived from the protocol's guideline and questions, in the order shown.

Pure: a spec and a stimulus are plain JSON values, as participants' screens read them.
"""

from judging.prompting.cells import ASKINGS, Asking, Cell, cells_of
from judging.prompting.expected import CHARACTERS_PER_TOKEN, ExpectedReply, expected_reply
from judging.prompting.problems import settings_problems
from judging.prompting.questions import asked, steps, wants_labels
from judging.prompting.replies import line_name
from judging.prompting.request import Frame, build_request, cache_key
from judging.prompting.revising import build_revision, quoted_in
from judging.prompting.settings import OWN_PARAMETERS, CannotAsk, Settings
from judging.prompting.template import NEEDED, PLACEHOLDERS, template_problems
from judging.prompting.view import View, view_of
from judging.prompting.wording import FROM

__all__ = [
    "ASKINGS",
    "CHARACTERS_PER_TOKEN",
    "FROM",
    "NEEDED",
    "OWN_PARAMETERS",
    "PLACEHOLDERS",
    "Asking",
    "CannotAsk",
    "Cell",
    "ExpectedReply",
    "Frame",
    "Settings",
    "View",
    "asked",
    "build_request",
    "build_revision",
    "cache_key",
    "cells_of",
    "expected_reply",
    "line_name",
    "quoted_in",
    "settings_problems",
    "steps",
    "template_problems",
    "view_of",
    "wants_labels",
]
