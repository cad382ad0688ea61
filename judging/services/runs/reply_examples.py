"""A judge's reply that could not be read, beside one that could have been."""

from dataclasses import dataclass

from django.db.models import Q

from judging.backends.base import Unmeasurable
from judging.models import Call, CallState, Run, WorkKind
from judging.prompting.item_call import ItemCall
from judging.services.calls.plan import CallPlan
from judging.services.calls.unreadable_replies import UNREADABLE
from judging.services.endpoints.targets import capabilities_of, targets_of

# No screen shows more of a reply.
SHOWN = 4_000


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
    if call is None or call.item is None or run.work != WorkKind.JUDGING:  # whose replies are no judgments
        return None
    return UnreadableReply(
        call.item.key, call.step, call.raw[:SHOWN], call.error, readable_example(run, call)
    )


def readable_example(run: Run, call: Call) -> str:
    """A reply to this call that could be read, in the very form that was asked for; '' where nothing was asked."""
    assert call.item is not None
    plan = CallPlan.of(run.judging.judge, run.judging.revision.spec)
    judge = run.judging.judge
    assert plan.asking is not None
    able = capabilities_of(judge, targets_of(judge))
    stimulus = call.item.stimulus or {}
    asked = ItemCall(
        plan.protocol, plan.spec, stimulus, plan.settings, order=call.order, step=call.step, capabilities=able
    )
    try:
        return plan.asking.expected(asked).text
    except Unmeasurable:
        return ""
