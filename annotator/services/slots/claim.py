"""Claiming: one short transaction that takes one place and proves that it did."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest

from annotator.models import Assignment, AssignmentState, ClaimCursor, Participant, Slot, SlotState
from annotator.selectors.slots import OPEN, lapsed_slots, once_field, seen_keys
from annotator.services.admission.arm_draw import arms_for
from annotator.services.slots import claim_cursors, in_play
from evaluation.database.compiled_queries import CompiledInsert, CompiledSelect, CompiledUpdate, field_of
from evaluation.models import Arm, Study


def _with_lease_over(once: str, study: int, arm: int, participant: int, now: datetime) -> QuerySet[Slot]:
    begin = ClaimCursor.objects.filter(arm=arm).values("earliest_lease")
    return _untouched(once, study, arm, participant).filter(lapsed_slots(now), leased_until__gte=begin)


def _untouched(once: str, study: int, arm: int, participant: int) -> QuerySet[Slot]:
    """The arm's slots of queries (or items) that the participant has not met."""
    slots = Slot.objects.filter(study=study, arm=arm)
    return slots.exclude(**{f"{once}__in": seen_keys(participant)})


def _locked(slots: QuerySet[Slot]) -> Any:
    locked = slots.select_for_update(skip_locked=True, no_key=True)
    return locked.only("arm", "item", "query", "order", "holder", "rank")


# How many of the item's slots are not closed; none if the item is withdrawn.
STANDING = Coalesce(
    Subquery(
        Slot.objects.filter(item=OuterRef("item"), item__withdrawn_at=None, replaced_by=None)
        .exclude(state=SlotState.RETIRED)
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
        .values("n")
    ),
    0,
)


def _first_open(once: str) -> Callable[..., Any]:
    def build(study: int, arm: int, participant: int, now: datetime) -> Any:
        begin = ClaimCursor.objects.filter(arm=arm).values("first_open")
        slots = _untouched(once, study, arm, participant).filter(OPEN, rank__gte=begin)
        overdue = Exists(_with_lease_over(once, study, arm, participant, now))
        return _locked(slots).annotate(overdue=overdue).order_by("rank")

    return build


def _first_lapsed(once: str) -> Callable[..., Any]:
    def build(study: int, arm: int, participant: int, now: datetime) -> Any:
        slots = _with_lease_over(once, study, arm, participant, now)
        return _locked(slots).annotate(standing=STANDING).order_by("leased_until")

    return build


def _compiled(build: Callable[[str], Callable[..., Any]]) -> dict[str, CompiledSelect[Any]]:
    """By the column that the study's once-per rule counts."""
    return {
        once: CompiledSelect(
            build(once),
            study=field_of(Study, "id"),
            arm=field_of(Arm, "id"),
            participant=field_of(Participant, "id"),
            now=field_of(Slot, "leased_until"),
        )
        for once in ("query_id", "item_id")
    }


FIRST_OPEN, FIRST_LAPSED = _compiled(_first_open), _compiled(_first_lapsed)
INSERT = CompiledInsert(Assignment)
RESERVE = CompiledUpdate(
    lambda slot, holder, until: (
        Slot.objects.filter(pk=slot),
        {"state": SlotState.RESERVED, "holder": holder, "leased_until": until},
    ),
    slot=field_of(Slot, "id"),
    holder=field_of(Slot, "holder"),
    until=field_of(Slot, "leased_until"),
)


def claim_slot(participant: Participant, now: datetime) -> Assignment | None:
    """Reserve the first available place for a participant whose row the caller has locked.

    Nobody waits: places that others are just claiming are passed over (`skip_locked`), and so is an arm's row that
    others hold, since who gave an item back holds one already. On SQLite the transaction itself is exclusive and the
    same code is exact.
    """
    once = once_field(participant.revision.spec)
    arms = arms_for(participant, now)
    slot = _find(once, participant, arms, now) or _find_anywhere(once, participant, arms, now)
    # Held through a change of the redundancy, or a withdrawal of its item: closed, where it would be given on.
    if slot is not None and slot.holder_id and not 0 < slot.standing <= participant.study.redundancy:
        if _close(slot, now):
            return claim_slot(participant, now)
        slot = _find_wanted(once, participant, arms, now)
    if slot is None:
        return None
    if slot.holder_id is not None:
        # Only now, and not when the lease ran out: whoever is slow keeps their place until somebody wants it.
        expire(slot.holder_id, now)
    assignment = Assignment(
        participant=participant,
        item_id=slot.item_id,
        slot=slot,
        once=getattr(slot, once),
        visit_number=participant.visit_number,
        order=slot.order,
        reserved_at=now,
    )
    INSERT.run(assignment)
    RESERVE.run(slot=slot.pk, holder=assignment.pk, until=lease_end(participant, now))
    if claim_cursors.is_due(slot.rank):
        claim_cursors.move_on(participant.study_id, slot.arm_id, now)
    return assignment


def _close(slot: Any, now: datetime) -> bool:
    """Close a place whose lease ran out; False where others hold its arm's row just now: the next who comes does it."""
    if not claim_cursors.try_lock(slot.arm_id):
        return False
    expire(slot.holder_id, now)
    Slot.objects.filter(pk=slot.pk).update(state=SlotState.RETIRED, holder=None, leased_until=None)
    in_play.count({slot.arm_id: -1})
    return True


def _find(once: str, participant: Participant, arms: Iterable[int], now: datetime) -> Any:
    """Find a slot in the first arm that has one: the first with an expired lease, else the first open one."""
    for arm in arms:
        values = {"study": participant.study_id, "arm": arm, "participant": participant.pk, "now": now}
        slot = FIRST_OPEN[once].first(**values)
        if slot is None or slot.overdue:
            slot = FIRST_LAPSED[once].first(**values) or slot
        if slot is not None:
            return slot
    return None


def _find_wanted(once: str, participant: Participant, arms: Iterable[int], now: datetime) -> Any:
    """Find a slot that need not be closed in the first arm that has one."""
    for arm in arms:
        slots = _locked(_untouched(once, participant.study_id, arm, participant.pk)).annotate(
            standing=STANDING
        )
        wanted = slots.filter(standing__gt=0, standing__lte=participant.study.redundancy)
        slot = wanted.filter(lapsed_slots(now)).order_by("leased_until").first()
        slot = slot or slots.filter(OPEN).order_by("rank").first()
        if slot is not None:
            return slot
    return None


def _find_anywhere(once: str, participant: Participant, arms: Iterable[int], now: datetime) -> Any:
    """The same without the cursors, before anybody is told that nothing is left: they are shortcuts and no truth."""
    untouched = (_untouched(once, participant.study_id, arm, participant.pk) for arm in arms)
    found = (_first_anywhere(_locked(slots), now) for slots in untouched)
    return next((slot for slot in found if slot is not None), None)


def _first_anywhere(slots: Any, now: datetime) -> Any:
    slot = slots.filter(OPEN).order_by("rank").first()
    if slot is not None:
        if claim_cursors.try_lock(slot.arm_id):
            claim_cursors.move_back(Slot.objects.filter(pk=slot.pk))
        return slot
    return slots.filter(lapsed_slots(now)).annotate(standing=STANDING).order_by("leased_until").first()


def lease_end(participant: Participant, now: datetime) -> datetime:
    return now + timedelta(minutes=participant.study.lease_minutes)


def expire(holder: UUID, now: datetime) -> None:
    """End the assignment that let its place go."""
    running = Assignment.objects.filter(pk=holder, state=AssignmentState.RESERVED)
    running.update(state=AssignmentState.EXPIRED, ended_at=Greatest(F("reserved_at"), Value(now)))


def is_wanted(item: int, study: Study) -> bool:
    """True if somebody else shall judge the item; false once redundancy was lowered or the item withdrawn."""
    standing = Slot.objects.filter(item=item, item__withdrawn_at=None, replaced_by=None)
    return 0 < standing.exclude(state=SlotState.RETIRED).count() <= study.redundancy


def release_slot(assignment: Assignment) -> None:
    """Open the place again, if it is still this assignment's, or closes it if it is wanted no more."""
    if assignment.slot_id is None:
        return
    wanted = is_wanted(assignment.item_id, assignment.participant.study)
    state = SlotState.OPEN if wanted else SlotState.RETIRED
    released = _held(assignment).update(state=state, holder=None, leased_until=None)
    if not released:
        return
    slot = Slot.objects.filter(pk=assignment.slot_id)
    if wanted:
        claim_cursors.move_back(slot)
    else:
        in_play.count({slot.values_list("arm", flat=True).get(): -1})


def extend_lease(assignment: Assignment, now: datetime) -> datetime | None:
    """Activity keeps the place; also one whose lease ran out, as long as nobody else took it."""
    until = lease_end(assignment.participant, now)
    return until if _held(assignment).update(leased_until=until) else None


def _held(assignment: Assignment) -> QuerySet[Slot]:
    """The place, as long as it is this assignment's."""
    return Slot.objects.filter(holder=assignment, state=SlotState.RESERVED)
