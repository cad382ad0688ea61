"""Prolific's words for the state of a submission and of a study, in one spelling.

Answers have "AWAITING REVIEW", queries "AWAITING_REVIEW", and "TIMED-OUT" has a dash in both.
"""

import re

# The values of `annotator.models.PanelStatus`, and which of them is meant by Prolific's word.
SUBMISSION = {
    "RESERVED": "reserved",
    "ACTIVE": "active",
    "AWAITING_REVIEW": "awaiting_review",
    "APPROVED": "approved",
    "PARTIALLY_APPROVED": "partially_approved",
    "REJECTED": "rejected",
    "RETURNED": "returned",
    "TIMED_OUT": "timed_out",
    "SCREENED_OUT": "screened_out",
}
UNKNOWN = "unknown"


def _spelled(word: str, gap: str) -> str:
    return re.sub(r"[\s_-]+", gap, word.strip()).upper()


def submission_status(word: str) -> str:
    """Our value for Prolific's word; `unknown` for one that is new."""
    return SUBMISSION.get(_spelled(word, "_"), UNKNOWN)


def study_status(word: str) -> str:
    """The state of `annotator.panels.platforms.statuses`, whose names are Prolific's words in the spelling of its
    answers; a new word is its own."""
    return _spelled(word, " ")
