"""Claiming: one short transaction that takes one place and proves that it did."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Greatest

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState
from annotator.selectors import SAMPLE_ID, available, once_field, seen_keys
from evaluation.models import Arm, Study
from evaluation.prepared import Prepared, PreparedInsert, PreparedUpdate, Sample


def _first_free(once: str) -> Callable[..., QuerySet[Slot]]:
    def build(study: int, arm: int, participant: int, now: datetime) -> QuerySet[Slot]:
        return (
            available(study, now)
            .filter(arm=arm)
            .exclude(**{f"{once}__in": seen_keys(participant)})
            .select_for_update(skip_locked=True, no_key=True)
            .order_by("rank")
            .only("item", "query", "order", "holder")
        )

    return build


# By the column that the study's once-per rule counts.
FIRST_FREE = {
    once: Prepared(
        _first_free(once),
        study=Sample.of(Study, "id", SAMPLE_ID),
        arm=Sample.of(Arm, "id", SAMPLE_ID + 1),
        participant=Sample.of(Participant, "id", SAMPLE_ID + 2),
        now=Sample.of(Slot, "leased_until", datetime(1, 1, 2, tzinfo=UTC)),
    )
    for once in ("query_id", "item_id")
}
INSERT = PreparedInsert(Assignment)
RESERVE = PreparedUpdate(
    lambda slot, holder, until: (
        Slot.objects.filter(pk=slot),
        {"state": SlotState.RESERVED, "holder": holder, "leased_until": until},
    ),
    slot=Sample.of(Slot, "id", SAMPLE_ID),
    holder=Sample.of(Slot, "holder", UUID(int=SAMPLE_ID)),
    until=Sample.of(Slot, "leased_until", datetime(1, 1, 2, tzinfo=UTC)),
)


def claim_slot(participant: Participant, now: datetime) -> Assignment | None:
    """Reserves the first available place for a participant whose row the caller has locked.

    Places that others are just claiming are passed over (`skip_locked`), so nobody waits; on SQLite the
    transaction itself is exclusive and the same code is exact.
    """
    once = once_field(participant.revision.spec)
    slot = FIRST_FREE[once].first(
        study=participant.study_id, arm=participant.arm_id, participant=participant.pk, now=now
    )
    if slot is None:
        return None
    if slot.holder_id is not None:
        expire(slot.holder_id, now)
        if not is_wanted(slot.item_id, participant.study):
            Slot.objects.filter(pk=slot.pk).update(state=SlotState.RETIRED, holder=None, leased_until=None)
            return claim_slot(participant, now)
    assignment = Assignment(
        participant=participant,
        item_id=slot.item_id,
        slot=slot,
        once=getattr(slot, once),
        order=slot.order,
        reserved_at=now,
    )
    INSERT.run(assignment)
    RESERVE.run(slot=slot.pk, holder=assignment.pk, until=lease_end(participant, now))
    return assignment


def lease_end(participant: Participant, now: datetime) -> datetime:
    return now + timedelta(minutes=participant.study.lease_minutes)


def expire(holder: UUID, now: datetime) -> None:
    """Ends the assignment that let its place go."""
    running = Assignment.objects.filter(pk=holder, state=AssignmentState.RESERVED)
    running.update(state=AssignmentState.EXPIRED, ended_at=Greatest(F("reserved_at"), Value(now)))


def is_wanted(item: int, study: Study) -> bool:
    """Whether somebody else shall judge it; not if redundancy was lowered or the item withdrawn meanwhile."""
    standing = Slot.objects.filter(item=item, item__withdrawn_at=None, replaced_by=None)
    return 0 < standing.exclude(state=SlotState.RETIRED).count() <= study.redundancy


def release_slot(assignment: Assignment) -> None:
    """Opens the place again, if it is still this assignment's, or closes it if it is wanted no more."""
    if assignment.slot_id is None:
        return
    wanted = is_wanted(assignment.item_id, assignment.participant.study)
    state = SlotState.OPEN if wanted else SlotState.RETIRED
    _held(assignment).update(state=state, holder=None, leased_until=None)


def extend_lease(assignment: Assignment, now: datetime) -> datetime | None:
    """Activity keeps the place; also one whose lease ran out, as long as nobody else took it."""
    until = lease_end(assignment.participant, now)
    return until if _held(assignment).update(leased_until=until) else None


def _held(assignment: Assignment) -> QuerySet[Slot]:
    """The place, as long as it is this assignment's."""
    return Slot.objects.filter(holder=assignment, state=SlotState.RESERVED)
