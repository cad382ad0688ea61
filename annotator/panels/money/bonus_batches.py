"""Batches of bonuses: taken in hand, set up at the panel, and paid once.

Setting bonuses up is harmless; so the batch's id is committed before it is paid, and a batch without one was certainly
not. Of one that may have been paid a person says what happened.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelRecord
from annotator.panels.money.bonus_evidence import unexplained
from annotator.panels.platforms import get_api, get_platform
from annotator.panels.platforms.api import PlatformClient
from annotator.panels.platforms.errors import PanelBusy, PanelError, PanelUnreachable
from annotator.panels.states import Kind, State

# Refusals that may be about a single line of many; others are about all of them (no right, no money).
ABOUT_A_LINE = (400, 404, 422)
# Status of a refusal that is ours: what was set up is not what is to be paid.
ANOTHER_SUM = 0


def lost_before() -> datetime:
    """The time before which a sending that is still open was lost: no call takes as long."""
    bound: float = settings.ASSAY_PANEL_SENDING_SECONDS
    return timezone.now() - timedelta(seconds=bound)


def is_undelivered(error: PanelError) -> bool:
    """The panel was too busy to act or could not be reached; another time it may well do it."""
    return isinstance(error, PanelBusy | PanelUnreachable) and not error.sent


def end_acts(acts: list[PanelAct], state: PanelAct.State, note: str = "") -> str:
    """Store the outcome of acts, unless another sender took them over or a person settled them meanwhile."""
    fields: dict[str, Any] = {"state": state, "note": note, "ended_at": timezone.now()}
    if state == State.INTENDED:
        fields |= {"sent_at": None, "ended_at": None, "batch": ""}
    # All acts of one call were taken at the same moment.
    still_ours = PanelAct.objects.filter(
        pk__in=[act.pk for act in acts], sent_at=acts[0].sent_at, state__in=[State.SENDING, State.UNKNOWN]
    )
    still_ours.update(**fields)
    return state


def take_bonuses(panel: Panel) -> list[PanelAct]:
    """The next batch of bonuses, committed as being sent; one at a time per panel, and one bonus per submission."""
    with transaction.atomic():
        Panel.objects.select_for_update(no_key=True).get(pk=panel.pk)
        bonuses = PanelAct.objects.filter(panel=panel, kind=Kind.BONUS)
        if bonuses.filter(state=State.SENDING).exists():
            return []
        batch: dict[int, PanelAct] = {}
        at_once = get_api(panel.platform).bonuses_at_once
        waiting = bonuses.filter(state=State.INTENDED)
        waiting = waiting.select_related("record__panel", "record__linked_study")
        for act in waiting.select_for_update(no_key=True, of=("self",)).order_by("pk"):
            if len(batch) < at_once:
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


def pay_batches(client: PlatformClient, panel: Panel, acts: list[PanelAct], tally: Counter[str]) -> None:
    """Pay these bonuses, in smaller batches where one of them is refused, so that no other suffers for it.

    Raises PanelError when there is no use in going on with others now; what is not begun is then intended again.
    """
    parts = _by_study(acts)
    try:
        while parts:
            part = parts.pop()
            try:
                batch = _set_up(client, panel, part)
            except PanelError as error:
                if is_undelivered(error) or error.sent:
                    parts.append(part)  # whatever the panel heard, nothing is paid by setting it up
                    raise
                if len(part) > 1 and error.status in ABOUT_A_LINE:
                    half = len(part) // 2
                    parts += [part[half:], part[:half]]
                else:
                    tally[end_acts(part, State.REFUSED, error.message)] += len(part)
                continue
            tally[_pay_batch(client, part, batch)] += len(part)
    except PanelError:
        for part in parts:
            end_acts(part, State.INTENDED)
        raise


def _by_study(acts: Iterable[PanelAct]) -> list[list[PanelAct]]:
    """A batch is of one study there."""
    found: dict[str, list[PanelAct]] = {}
    for act in acts:
        found.setdefault(act.record.study_there, []).append(act)
    return list(found.values())


def _set_up(client: PlatformClient, panel: Panel, acts: Sequence[PanelAct]) -> str:
    """The id of the batch, which is not paid yet. Raises PanelError also where the panel sets up another sum."""
    amounts = [(act.record.external_id, act.amount) for act in acts if act.amount is not None]
    batch = client.create_bonuses(acts[0].record.study_there, amounts)
    wanted = sum(amount for _, amount in amounts)
    if batch.amount != wanted:
        label = get_platform(panel.platform).label
        said = f"{label} set up {batch.amount} where {wanted} was asked for, so nothing was paid."
        raise PanelError(ANOTHER_SUM, said)
    return batch.id


def _pay_batch(client: PlatformClient, acts: list[PanelAct], batch: str) -> str:
    """The state that the bonuses of this batch came to. Raises PanelError if the panel certainly did not hear."""
    if not _keep_batch(acts, batch):
        return State.INTENDED
    try:
        client.pay_bonuses(batch)
    except PanelError as error:
        if is_undelivered(error):
            end_acts(acts, State.INTENDED)
            raise
        if not error.sent:
            return end_acts(acts, State.REFUSED, error.message)
        note = f"Batch {batch}: the connection broke while it was being paid: {error.message}"
        return end_acts(acts, State.UNKNOWN, note)
    return end_acts(acts, State.DONE)


def _keep_batch(acts: list[PanelAct], batch: str) -> bool:
    """Store the batch's id with each of its bonuses; true if all are still this sender's, so that it may be paid."""
    with transaction.atomic():
        ours = PanelAct.objects.filter(
            pk__in=[act.pk for act in acts], sent_at=acts[0].sent_at, state=State.SENDING, batch=""
        )
        if ours.update(batch=batch) == len(acts):
            return True
        transaction.set_rollback(True)
        return False


def mark_lost_bonuses(panel: Panel) -> int:
    """Bonuses whose sender was lost: with a batch they may have been paid, without one they were not."""
    lost = PanelAct.objects.filter(
        panel=panel, kind=Kind.BONUS, state=State.SENDING, sent_at__lt=lost_before()
    )
    lost.filter(batch="").update(state=State.INTENDED, sent_at=None)
    label = get_platform(panel.platform).label
    note = f"The worker was lost while paying this. {label} shows the bonuses on the submission's page."
    return lost.exclude(batch="").update(state=State.UNKNOWN, note=note, ended_at=timezone.now())
