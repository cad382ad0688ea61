"""The names of responses on the screen."""

from django.utils.html import escape
from django.utils.translation import gettext

from evaluation.protocols.base import Stimulus


def response_names(stimulus: Stimulus, order: str) -> dict[str, str]:
    """Canonical part to the name on the screen, in the order shown."""
    if len(stimulus["responses"]) == 1:
        return {stimulus["responses"][0]["part"]: escape(gettext("Response"))}
    parts = order.split(",") if order else [response["part"] for response in stimulus["responses"]]
    return {part: escape(gettext("Response %(number)s") % {"number": n}) for n, part in enumerate(parts, 1)}
