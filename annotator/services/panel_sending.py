"""Sending what is asked of the panel.

An act is `sending`, committed, right before the call. Whoever finds it so later, because the worker was killed or the
line broke, does not know whether the panel heard. An approval or rejection may then be looked up at the panel, and is
sent again only if it has not happened there. A bonus is paid again when it is asked for again: it waits for a person.
Setting bonuses up is harmless; so the batch's id is committed before it is paid, and a batch without one was certainly
not.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelRecord, PanelStatus
from annotator.platforms.prolific.answers import PanelSubmission
from annotator.platforms.prolific.client import BONUSES_AT_ONCE, CENT, Client
from annotator.platforms.prolific.errors import PanelBusy, PanelError, PanelUnreachable
from annotator.services.bonus_evidence import unexplained
from annotator.services.panel_client import open_client
from annotator.services.panel_records import Seen, note_status

logger = logging.getLogger(__name__)

Kind, State = PanelAct.Kind, PanelAct.State
# What a submission becomes by an act that decides about it.
BECOMES = {Kind.APPROVE: PanelStatus.APPROVED, Kind.REJECT: PanelStatus.REJECTED}
ACTIONS = {Kind.APPROVE: "APPROVE", Kind.REJECT: "REJECT"}
NOT_FOUND = 404
# Refusals that may be about a single line of many; others are about all of them (no right, no money).
ABOUT_A_LINE = (400, 404, 422)
# Status of a refusal that is ours: what was set up is not what is to be paid.
ANOTHER_SUM = 0
# After so many acts in a row of which the panel gave no account, it is not about the acts.
MOST_IN_DOUBT = 3
FOUND = "It was found to have happened at the panel."


@dataclass(frozen=True)
class Sent:
    """What became of the acts in hand, and why some of them were left for another time, if they were."""

    done: int = 0
    refused: int = 0
    unknown: int = 0
    stopped: str = ""


def send(panel: Panel) -> Sent:
    """Sends what is intended for this panel, and takes up what was left in the middle. Any number may do it at once.

    An act in doubt that can't be looked up is left for later and holds up no other. A panel that can't be reached or is
    busy ends it; what was not sent is sent the next time. Raises NotSetUp.
    """
    tally = Counter({State.UNKNOWN.value: _leave_to_a_person(panel)})
    stopped = ""
    with open_client() as client:
        try:
            stopped = _send_each(client, panel, tally)
            while bonuses := _take_bonuses(panel):
                _pay(client, panel, bonuses, tally)
        except PanelError as error:
            logger.warning("Acts of panel %s wait: %s", panel.pk, error)
            stopped = error.message
    return Sent(tally[State.DONE], tally[State.REFUSED], tally[State.UNKNOWN], stopped)


def _send_each(client: Client, panel: Panel, tally: Counter[str]) -> str:
    """Sends all but bonuses; why one of them stays in doubt, if one does. Raises PanelError as `_send_one` does."""
    doubt, in_a_row = "", 0
    while (act := _take(panel)) is not None:
        try:
            tally[_send_one(client, act)] += 1
            in_a_row = 0
        except PanelError as error:
            in_a_row += 1
            if _is_unheard(error) or in_a_row == MOST_IN_DOUBT:
                raise
            logger.warning("Act %s of panel %s is in doubt: %s", act.pk, panel.pk, error)
            doubt = error.message
    return doubt


def open_acts() -> QuerySet[PanelAct]:
    """What a sender has something to do about; not what waits for a person."""
    return PanelAct.objects.filter(state__in=[State.INTENDED, State.SENDING])


def _lost_since() -> datetime:
    """Whoever began to send before this is gone: no call takes as long."""
    bound: float = settings.ASSAY_PANEL_SENDING_SECONDS
    return timezone.now() - timedelta(seconds=bound)


def _take(panel: Panel) -> PanelAct | None:
    """One act for this sender alone, committed as being sent before the panel hears of it."""
    due = Q(state=State.INTENDED) | Q(state=State.SENDING, sent_at__lt=_lost_since())
    with transaction.atomic():
        acts = PanelAct.objects.filter(due, panel=panel).exclude(kind=Kind.BONUS).select_related("record")
        act = acts.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by("pk").first()
        if act is not None:
            act.was_sending = act.state == State.SENDING
            act.state, act.sent_at = State.SENDING, timezone.now()
            act.save(update_fields=["state", "sent_at"])
    return act


def _send_one(client: Client, act: PanelAct) -> str:
    """The state that the act came to. Raises PanelError where the panel gives no account of it."""
    if act.was_sending:
        if _happened(act, _look_up(client, act)):
            return _done(act, FOUND)
        if act.kind == Kind.REQUEST_RETURN:
            # A second request would be a second message.
            return _end([act], State.UNKNOWN, "The sender was lost, and the panel does not show the request.")
    try:
        _ask(client, act)
    except PanelError as error:
        return _after_error(client, act, error)
    return _done(act)


def _ask(client: Client, act: PanelAct) -> None:
    about = act.record.external_id
    if act.kind == Kind.REQUEST_RETURN:
        client.request_return(about, [act.reason])
    else:
        action = ACTIONS[Kind(act.kind)]
        client.transition_submission(about, action, message=act.reason, category=act.category, once=True)


def _after_error(client: Client, act: PanelAct, error: PanelError) -> str:
    """Not heard: it is sent another time. Refused, or perhaps heard: the panel knows what is the case there."""
    if _is_unheard(error):
        _end([act], State.INTENDED)
        raise error
    if _happened(act, _look_up(client, act)):
        return _done(act, FOUND)
    if not error.sent:
        return _end([act], State.REFUSED, error.message)
    if act.kind == Kind.REQUEST_RETURN:
        return _end([act], State.UNKNOWN, error.message)
    # It is not so there, and may be in a moment: it is looked up again when nobody can be at it any more.
    raise error


def _is_unheard(error: PanelError) -> bool:
    """The panel was too busy to act or could not be reached; another time it may well do it."""
    return isinstance(error, PanelBusy | PanelUnreachable) and not error.sent


def _look_up(client: Client, act: PanelAct) -> PanelSubmission | None:
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
        seen = Seen(record.external_id, record.participant_id, BECOMES[Kind(act.kind)], timezone.now())
        note_status(act.panel, seen)
    return _end([act], State.DONE, note)


def _end(acts: list[PanelAct], state: PanelAct.State, note: str = "") -> str:
    """Writes down what became of acts, unless another sender took them over or a person settled them meanwhile."""
    fields: dict[str, Any] = {"state": state, "note": note, "ended_at": timezone.now()}
    if state == State.INTENDED:
        fields |= {"sent_at": None, "ended_at": None, "batch": ""}
    # All acts of one call were taken at the same moment.
    still_ours = PanelAct.objects.filter(
        pk__in=[act.pk for act in acts], sent_at=acts[0].sent_at, state__in=[State.SENDING, State.UNKNOWN]
    )
    still_ours.update(**fields)
    return state


# --- bonuses ---------------------------------------------------------------------------------------------------------


def _take_bonuses(panel: Panel) -> list[PanelAct]:
    """The next batch of bonuses, committed as being sent; one at a time per panel, and one bonus per submission."""
    with transaction.atomic():
        Panel.objects.select_for_update(no_key=True).get(pk=panel.pk)
        bonuses = PanelAct.objects.filter(panel=panel, kind=Kind.BONUS)
        if bonuses.filter(state=State.SENDING).exists():
            return []
        batch: dict[int, PanelAct] = {}
        waiting = bonuses.filter(state=State.INTENDED).select_related("record")
        for act in waiting.select_for_update(no_key=True, of=("self",)).order_by("pk"):
            if len(batch) < BONUSES_AT_ONCE:
                batch.setdefault(act.record_id, act)
        taken, now = list(batch.values()), timezone.now()
        before = _bonuses_before([act.record for act in taken])
        for act in taken:
            act.state, act.sent_at = State.SENDING, now
            is_read = act.record.bonuses is not None
            act.others = unexplained(act.record, before.get(act.record_id, ())) if is_read else None
        PanelAct.objects.bulk_update(taken, ["state", "sent_at", "others"])
        return taken


def _bonuses_before(records: Sequence[PanelRecord]) -> dict[int, list[PanelAct]]:
    """Record to the bonuses that were sent for it before."""
    found: dict[int, list[PanelAct]] = {}
    for act in PanelAct.objects.filter(record__in=records, kind=Kind.BONUS).exclude(sent_at=None):
        found.setdefault(act.record_id, []).append(act)
    return found


def _pay(client: Client, panel: Panel, acts: list[PanelAct], tally: Counter[str]) -> None:
    """Pays these bonuses, in smaller batches where one of them is refused, so that no other suffers for it.

    Raises PanelError when there is no use in going on with others now; what is not begun is then intended again.
    """
    parts = [acts]
    try:
        while parts:
            part = parts.pop()
            try:
                batch = _set_up(client, panel, part)
            except PanelError as error:
                if _is_unheard(error) or error.sent:
                    parts.append(part)  # whatever the panel heard, nothing is paid by setting it up
                    raise
                if len(part) > 1 and error.status in ABOUT_A_LINE:
                    half = len(part) // 2
                    parts += [part[half:], part[:half]]
                else:
                    tally[_end(part, State.REFUSED, error.message)] += len(part)
                continue
            tally[_pay_batch(client, part, batch)] += len(part)
    except PanelError:
        for part in parts:
            _end(part, State.INTENDED)
        raise


def _set_up(client: Client, panel: Panel, acts: Iterable[PanelAct]) -> str:
    """The id of the batch, which is not paid yet. Raises PanelError also where the panel sets up another sum."""
    amounts = [(act.record.external_id, act.amount) for act in acts if act.amount is not None]
    batch = client.create_bonuses(panel.external_id, amounts)
    wanted = sum(amount for _, amount in amounts)
    if batch.amount * CENT != wanted:
        said = f"Prolific set up {batch.amount * CENT} where {wanted} was asked for, so nothing was paid."
        raise PanelError(ANOTHER_SUM, said)
    return batch.id


def _pay_batch(client: Client, acts: list[PanelAct], batch: str) -> str:
    """The state that the bonuses of this batch came to. Raises PanelError if the panel certainly did not hear."""
    if not _keep_batch(acts, batch):
        return State.INTENDED
    try:
        client.pay_bonuses(batch)
    except PanelError as error:
        if _is_unheard(error):
            _end(acts, State.INTENDED)
            raise
        if not error.sent:
            return _end(acts, State.REFUSED, error.message)
        note = f"Batch {batch} was to be paid when the line broke: {error.message}"
        return _end(acts, State.UNKNOWN, note)
    return _end(acts, State.DONE)


def _keep_batch(acts: list[PanelAct], batch: str) -> bool:
    """Whether the batch may be paid: its id stands at each of its bonuses, and all of them are still this sender's."""
    with transaction.atomic():
        ours = PanelAct.objects.filter(
            pk__in=[act.pk for act in acts], sent_at=acts[0].sent_at, state=State.SENDING, batch=""
        )
        if ours.update(batch=batch) == len(acts):
            return True
        transaction.set_rollback(True)
        return False


def _leave_to_a_person(panel: Panel) -> int:
    """Bonuses whose sender was lost: with a batch they may have been paid, without one they were not."""
    lost = PanelAct.objects.filter(
        panel=panel, kind=Kind.BONUS, state=State.SENDING, sent_at__lt=_lost_since()
    )
    lost.filter(batch="").update(state=State.INTENDED, sent_at=None)
    note = "The sender was lost while it had this paid. Prolific's page of the submission shows its bonuses."
    return lost.exclude(batch="").update(state=State.UNKNOWN, note=note, ended_at=timezone.now())
