"""Sending what is asked of the panel.

An act is `sending`, committed, right before the call. Whoever finds it so later, because the worker was killed or the
line broke, does not know whether the panel heard. An approval or rejection may then be looked up at the panel, and is
sent again only if it has not happened there. A bonus is paid again when it is asked for again: it waits for a person.
Setting bonuses up is harmless; so the batch's id is committed before it is paid, and a batch without one was certainly
not.
"""

import logging
from collections import Counter
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelStatus
from annotator.panels.money.bonus_batches import (
    end_acts,
    is_undelivered,
    lost_before,
    mark_lost_bonuses,
    pay_batches,
    take_bonuses,
)
from annotator.panels.platforms.api import PanelSubmission, PlatformClient
from annotator.panels.platforms.errors import NOT_FOUND, PanelError
from annotator.panels.services.connection import open_client
from annotator.panels.services.submission_records import ReportedState, note_status

logger = logging.getLogger(__name__)

Kind, State = PanelAct.Kind, PanelAct.State
# What a submission becomes by an act that decides about it.
BECOMES = {Kind.APPROVE: PanelStatus.APPROVED, Kind.REJECT: PanelStatus.REJECTED}
# After this many acts in a row of which the panel gave no account, it is not about the acts.
MOST_IN_DOUBT = 3
FOUND = "The panel shows that it happened."


@dataclass(frozen=True)
class SendingResult:
    """The result of one sending: the acts by their end, and why some were left for another time, if they were."""

    done: int = 0
    refused: int = 0
    unknown: int = 0
    stopped: str = ""


def send(panel: Panel) -> SendingResult:
    """Send what is intended for this panel, and take up what was left in the middle. Any number may do it at once.

    An act in doubt that can't be looked up is left for later and holds up no other. A panel that can't be reached or is
    busy ends it; what was not sent is sent the next time. Raises NotSetUp.
    """
    tally = Counter({State.UNKNOWN.value: mark_lost_bonuses(panel)})
    stopped = ""
    with open_client(panel.platform) as client:
        try:
            stopped = _send_each(client, panel, tally)
            while bonuses := take_bonuses(panel):
                pay_batches(client, panel, bonuses, tally)
        except PanelError as error:
            logger.warning("Acts of panel %s wait: %s", panel.pk, error)
            stopped = error.message
    return SendingResult(tally[State.DONE], tally[State.REFUSED], tally[State.UNKNOWN], stopped)


def _send_each(client: PlatformClient, panel: Panel, tally: Counter[str]) -> str:
    """Send all but bonuses; why one of them stays in doubt, if one does. Raises PanelError as `_send_one` does."""
    doubt, in_a_row = "", 0
    while (act := _take(panel)) is not None:
        try:
            tally[_send_one(client, act)] += 1
            in_a_row = 0
        except PanelError as error:
            in_a_row += 1
            if is_undelivered(error) or in_a_row == MOST_IN_DOUBT:
                raise
            logger.warning("Act %s of panel %s is in doubt: %s", act.pk, panel.pk, error)
            doubt = error.message
    return doubt


def open_acts() -> QuerySet[PanelAct]:
    """The acts that a sender has something to do about; not those that wait for a person."""
    return PanelAct.objects.filter(state__in=[State.INTENDED, State.SENDING])


def _take(panel: Panel) -> PanelAct | None:
    """Claim one act for this sender, committed as being sent before the panel hears of it."""
    due = Q(state=State.INTENDED) | Q(state=State.SENDING, sent_at__lt=lost_before())
    with transaction.atomic():
        acts = PanelAct.objects.filter(due, panel=panel).exclude(kind=Kind.BONUS).select_related("record")
        act = acts.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by("pk").first()
        if act is not None:
            act.was_sending = act.state == State.SENDING
            act.state, act.sent_at = State.SENDING, timezone.now()
            act.save(update_fields=["state", "sent_at"])
    return act


def _send_one(client: PlatformClient, act: PanelAct) -> str:
    """The state that the act came to. Raises PanelError where the panel gives no account of it."""
    if act.was_sending:
        if _happened(act, _look_up(client, act)):
            return _done(act, FOUND)
        if act.kind == Kind.REQUEST_RETURN:
            # A second request would be a second message.
            return end_acts(
                [act], State.UNKNOWN, "The worker was lost, and the panel does not show the request."
            )
    try:
        _ask(client, act)
    except PanelError as error:
        return _after_error(client, act, error)
    return _done(act)


def _ask(client: PlatformClient, act: PanelAct) -> None:
    about = act.record.external_id
    if act.kind == Kind.REQUEST_RETURN:
        client.request_return(about, act.reason)
    elif act.kind == Kind.REJECT:
        client.reject(about, reason=act.reason, category=act.category)
    else:
        client.approve(about)


def _after_error(client: PlatformClient, act: PanelAct, error: PanelError) -> str:
    """Handle an error: what was not heard is sent another time; otherwise the panel is asked for the state."""
    if is_undelivered(error):
        end_acts([act], State.INTENDED)
        raise error
    if _happened(act, _look_up(client, act)):
        return _done(act, FOUND)
    if not error.sent:
        return end_acts([act], State.REFUSED, error.message)
    if act.kind == Kind.REQUEST_RETURN:
        return end_acts([act], State.UNKNOWN, error.message)
    # It is not so there, and may be in a moment: it is looked up again when nobody can be at it any more.
    raise error


def _look_up(client: PlatformClient, act: PanelAct) -> PanelSubmission | None:
    """The submission as it is there; None if there is none."""
    try:
        return client.get_submission(act.record.external_id)
    except PanelError as error:
        if error.status == NOT_FOUND:
            return None
        raise


def _happened(act: PanelAct, there: PanelSubmission | None) -> bool:
    if there is None:
        return False
    if act.kind == Kind.REQUEST_RETURN:
        return there.return_requested_at is not None or there.status == PanelStatus.RETURNED
    return there.status == BECOMES[Kind(act.kind)]


def _done(act: PanelAct, note: str = "") -> str:
    if act.kind in BECOMES:
        # Before the act itself is done, so that nobody sees it done and the submission still waiting for it.
        record = act.record
        seen = ReportedState(
            record.external_id, record.participant_id, BECOMES[Kind(act.kind)], timezone.now()
        )
        note_status(act.panel, seen)
    return end_acts([act], State.DONE, note)
