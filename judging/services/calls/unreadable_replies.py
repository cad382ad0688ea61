"""Replies that can't be read: when a run pauses for them, and one of them beside what was asked for.

A run that goes on regardless would spend all its money on nothing and call itself complete.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Q

from evaluation.models import Outcome
from judging import prompting
from judging.models import Call, CallState, Purpose, Run
from judging.services.calls.call_attempts import CallAttempt
from judging.services.calls.plan import CallPlan

READ, UNREAD = ".", "x"
# So many of the last replies are remembered; fewer say little of a share.
WINDOW = 50
UNREADABLE = (Outcome.UNPARSED, Outcome.TRUNCATED)
# No screen shows more of a reply.
SHOWN = 4_000


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


@dataclass(frozen=True)
class UnreadableReply:
    """A reply as it came, why it could not be read, and one that could have been."""

    item: str
    step: str
    raw: str
    error: str
    expected: str


def unreadable_reply(run: Run) -> UnreadableReply | None:
    """The latest of a run's replies that could not be read; None where all could, or were good at a later attempt."""
    bad = Q(state=CallState.FINAL, outcome__in=UNREADABLE) | (~Q(state=CallState.FINAL) & Q(unread__gt=0))
    calls = Call.objects.filter(bad, run=run).exclude(error="").select_related("item")
    call = calls.order_by("-pk").first()
    if call is None or run.purpose == Purpose.REVISION:  # whose replies are no judgments
        return None
    return UnreadableReply(
        call.item.key, call.step, call.raw[:SHOWN], call.error, readable_example(run, call)
    )


def readable_example(run: Run, call: Call) -> str:
    """A reply to this call that could be read, in the very form that was asked for."""
    plan = CallPlan.of(run.judge, run.revision.spec)
    endpoint = run.judge.endpoint
    expected = prompting.expected_reply(
        plan.protocol,
        plan.spec,
        call.item.stimulus or {},
        plan.settings,
        order=call.order,
        step=call.step,
        capabilities=endpoint.capabilities if endpoint else {},
    )
    return expected.text
