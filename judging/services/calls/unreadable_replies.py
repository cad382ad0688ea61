"""Replies that can't be read: when a run pauses for them.

A run that goes on regardless would spend all its money on nothing and call itself complete.
"""

from collections.abc import Iterable

from django.conf import settings

from evaluation.models import Outcome
from judging.services.calls.call_attempts import CallAttempt

READ, UNREAD = ".", "x"
# So many of the last replies are remembered; fewer say little of a share.
WINDOW = 50
UNREADABLE = (Outcome.UNPARSED, Outcome.TRUNCATED)


def reply_marks(batch: Iterable[CallAttempt]) -> str:
    """A letter per reply that came back; failures brought none, and the cache is no news of the model."""
    came = (each for each in batch if not each.cached and (each.unread or each.outcome in _BROUGHT))
    return "".join(UNREAD if each.unread or each.outcome in UNREADABLE else READ for each in came)


_BROUGHT = {Outcome.OK, Outcome.REFUSED, *UNREADABLE}


def is_doubtful(recent: str) -> bool:
    """True while no reply has been read, so that few calls should be under way."""
    return settings.ASSAY_RUN_UNREAD_FIRST > 0 and READ not in recent


def reason_to_pause(recent: str) -> str:
    """Why a run with these last replies should not go on; '' where it should."""
    first, bad = settings.ASSAY_RUN_UNREAD_FIRST, recent.count(UNREAD)
    see = "Compare the reply with the expected one, then resume or cancel."
    # A full window may have slid past replies that could be read.
    if first and first <= len(recent) < WINDOW and bad == len(recent):
        replies = f"{bad} replies" if bad > 1 else "reply"
        return f"None of the first {replies} could be read. {see}"
    if len(recent) >= WINDOW and bad / len(recent) > settings.ASSAY_RUN_UNREAD_SHARE:
        return f"{bad} of the last {len(recent)} replies could not be read. {see}"
    return ""
