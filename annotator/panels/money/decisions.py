"""Acts at the panel that cost somebody money: approvals, rejections, requests to return, bonuses.

An act is a row before the panel hears of it; `panel_sending` sends it, and `settling` ends what is in doubt.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelRecord, PanelStatus
from annotator.panels.money.rejections import rejection_problems
from annotator.panels.platforms import get_api
from annotator.panels.platforms.api import PlatformAPI
from annotator.panels.services.retention.id_deletion import refuse_without_ids
from evaluation.refusals import Refused

Kind, State = PanelAct.Kind, PanelAct.State
# What must not be asked for a second time.
STANDING = (State.INTENDED, State.SENDING, State.DONE, State.UNKNOWN)
# Unless it is a rejection that the panel does not have any more: it was taken back there.
TAKEN_BACK = Q(kind=Kind.REJECT, state=State.DONE) & ~Q(record__status=PanelStatus.REJECTED)
# Still at it: nothing is owed yet.
AT_WORK = (PanelStatus.RESERVED, PanelStatus.ACTIVE)
MAX_PURPOSE = 120
MAX_BONUS = Decimal("999999.99")


# --- intending -------------------------------------------------------------------------------------------------------


def intend_approvals(
    panel: Panel, records: Iterable[PanelRecord], by: Any, *, despite_request: bool = False
) -> list[PanelAct]:
    """Approvals to be sent, one per record; what is approved or about to be is passed over.

    `despite_request`: also of who was asked to return and has not decided; a request that is not sent yet never is
    then. Raises Refused if one of the records can't be approved; then none is.
    """
    with transaction.atomic():
        locked = _lock(panel, records)
        decided = _standing(locked, Kind.APPROVE, Kind.REJECT, Kind.REQUEST_RETURN)
        problems, wanted = [], []
        for record in locked:
            kinds = decided.get(record.pk, set())
            if Kind.APPROVE in kinds or record.status == PanelStatus.APPROVED:
                continue
            if Kind.REJECT in kinds:
                problems.append(f"{record.external_id} is being rejected.")
            elif record.status != PanelStatus.AWAITING_REVIEW:
                problems.append(f"{record.external_id} is {PanelStatus(record.status).label}.")
            elif not despite_request and (Kind.REQUEST_RETURN in kinds or record.return_asked_at):
                problems.append(f"{record.external_id} was asked to return it and has not responded yet.")
            wanted.append(PanelAct(panel=panel, record=record, kind=Kind.APPROVE, by=by))
        if problems:
            raise Refused("Only submissions that await review can be approved.", *problems)
        _take_back_requests([act.record for act in wanted])
        return PanelAct.objects.bulk_create(wanted)


def _take_back_requests(records: Iterable[PanelRecord]) -> None:
    """Cancel unsent requests to return of those who are decided about."""
    unsent = PanelAct.objects.filter(record__in=list(records), kind=Kind.REQUEST_RETURN, state=State.INTENDED)
    unsent.update(state=State.CANCELLED, note="It was decided before this was sent.", ended_at=timezone.now())


def intend_rejection(record: PanelRecord, reason: str, category: str, by: Any) -> PanelAct:
    """A rejection to be sent. Raises Refused with every rule of the panel's that speaks against it."""
    reason = " ".join(reason.split())
    with transaction.atomic():
        [locked] = _lock(record.panel, [record])
        problems = rejection_problems(locked, reason, category)
        if _standing([locked], Kind.APPROVE, Kind.REJECT):
            problems.append("A decision on it is already under way.")
        elif PanelAct.objects.filter(TAKEN_BACK, record=locked).exists():
            problems.append("Its rejection was reversed on the panel, so it can't be rejected again.")
        if problems:
            raise Refused(*problems)
        _take_back_requests([locked])
        return PanelAct.objects.create(
            panel=locked.panel, record=locked, kind=Kind.REJECT, reason=reason, category=category, by=by
        )


def intend_return_request(record: PanelRecord, reason: str, by: Any) -> PanelAct:
    """A message to be sent that asks the participant to return the submission, once."""
    reason = reason.strip()
    with transaction.atomic():
        [locked] = _lock(record.panel, [record])
        problems = []
        if not reason:
            problems.append("Give a reason; the participant will see it.")
        if locked.status not in (PanelStatus.ACTIVE, PanelStatus.AWAITING_REVIEW):
            problems.append(f"It is {PanelStatus(locked.status).label}; it can no longer be returned.")
        if _standing([locked], Kind.APPROVE, Kind.REJECT, Kind.REQUEST_RETURN):
            problems.append("A decision on it is already under way.")
        if problems:
            raise Refused(*problems)
        return PanelAct.objects.create(
            panel=locked.panel, record=locked, kind=Kind.REQUEST_RETURN, reason=reason, by=by
        )


def intend_bonuses(
    panel: Panel, amounts: Mapping[PanelRecord, Decimal], purpose: str, by: Any
) -> list[PanelAct]:
    """Bonuses to be paid, in the study's currency; of one purpose there is one per record, ever.

    Raises Refused with everything that is wrong; then none is intended.
    """
    purpose = " ".join(purpose.split())
    with transaction.atomic():
        locked = _lock(panel, amounts)
        problems, api = _purpose_problems(purpose), get_api(panel.platform)
        given = PanelAct.objects.filter(
            record__in=locked, kind=Kind.BONUS, purpose=purpose, state__in=STANDING
        )
        before = set(given.values_list("record", flat=True))
        for record in locked:
            problems += _bonus_problems(record, amounts[record], api)
            if record.pk in before:
                problems.append(f"{record.external_id} already has a bonus for {purpose!r}.")
        if problems:
            raise Refused(*problems)
        return PanelAct.objects.bulk_create(
            PanelAct(panel=panel, record=each, kind=Kind.BONUS, purpose=purpose, amount=amounts[each], by=by)
            for each in locked
        )


def _purpose_problems(purpose: str) -> list[str]:
    if not purpose:
        return ["Enter what the bonus is for: nobody gets two for the same purpose."]
    if len(purpose) > MAX_PURPOSE:
        return [f"The purpose has {len(purpose)} characters; at most {MAX_PURPOSE} are allowed."]
    return []


def _bonus_problems(record: PanelRecord, amount: Decimal, api: PlatformAPI) -> list[str]:
    problems = []
    if not amount.is_finite() or amount > MAX_BONUS or not api.is_payable(amount):
        problems.append(
            f"{record.external_id}: {amount} is not an amount above 0 in steps of {api.smallest_amount}."
        )
    if record.status in AT_WORK:
        problems.append(f"{record.external_id} is {PanelStatus(record.status).label}.")
    return problems


def _lock(panel: Panel, records: Iterable[PanelRecord]) -> list[PanelRecord]:
    """The rows, so that two who decide about the same submission take turns."""
    refuse_without_ids(panel.study)
    wanted = {record.pk for record in records}
    rows = PanelRecord.objects.filter(panel=panel, pk__in=wanted).select_related("panel__study", "submission")
    locked = list(rows.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    if len(locked) != len(wanted):
        raise Refused("This submission belongs to another study.")
    return locked


def _standing(records: Iterable[PanelRecord], *kinds: str) -> dict[int, set[str]]:
    """Record to the kinds of acts that stand about it."""
    found: dict[int, set[str]] = {}
    acts = PanelAct.objects.filter(record__in=list(records), kind__in=kinds, state__in=STANDING)
    acts = acts.exclude(TAKEN_BACK)
    for record, kind in acts.values_list("record", "kind"):
        found.setdefault(record, set()).add(kind)
    return found
