"""The answers to a preference that prefer no response, in the form's words."""

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from evaluation.protocols import QuestionSpec
from evaluation.protocols.base import BOTH_BAD


def tie_text(question: QuestionSpec, value: str) -> SafeString:
    """The study's words for one of the question's `tie_values`, or those that it has by default."""
    if own := question.label(value):
        return escape(own)
    if value == BOTH_BAD:
        return escape(gettext("Both are bad"))
    return escape(gettext("Both are good") if question.tells_both_bad else gettext("Tie"))
