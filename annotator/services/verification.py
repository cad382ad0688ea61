"""What must always hold of slots and assignments."""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Count, F, Q

from annotator.models import Assignment, AssignmentState, Slot, SlotState
from evaluation.models import Study


def check_slots(study: Study) -> Iterator[str]:
    """A sentence per thing that does not hold."""
    yield from _check_holders(study)
    yield from _check_places(study)
    yield from _check_balance(study)


def _check_holders(study: Study) -> Iterator[str]:
    held = Slot.objects.filter(study=study, holder__isnull=False).select_related("holder__judgment", "item")
    for slot in held.iterator():
        assignment = slot.holder
        assert assignment is not None
        if assignment.slot_id != slot.pk:
            yield f"Slot {slot}: its holder is an assignment of another slot."
        elif slot.state == SlotState.RESERVED and assignment.state != AssignmentState.RESERVED:
            yield f"Slot {slot}: reserved by an assignment that is {assignment.state}."
        elif slot.state == SlotState.FILLED:
            judgment = assignment.judgment
            if judgment is None or assignment.surplus or judgment.surplus:
                yield f"Slot {slot}: filled without a counting judgment."
            elif judgment.shown != slot.order:
                yield f"Slot {slot}: the judgment was shown {judgment.shown!r} instead of {slot.order!r}."
    lost = Assignment.objects.filter(slot__study=study, state=AssignmentState.RESERVED).exclude(
        slot__holder=F("pk")
    )
    for assignment in lost.iterator():
        yield f"Assignment {assignment.pk}: reserved, but its slot is not held by it."


def _check_places(study: Study) -> Iterator[str]:
    standing = ~Q(slots__state=SlotState.RETIRED) & Q(slots__replaced_by=None)
    items = study.items.annotate(
        places=Count("slots", filter=standing),
        # What was held when the redundancy was lowered may be finished, and what was judged stays.
        waiting=Count("slots", filter=standing & Q(slots__state=SlotState.OPEN)),
    )
    for item in items.filter(places__gt=study.redundancy, waiting__gt=0).iterator():
        yield f"Item {item.key}: {item.places} places where the redundancy is {study.redundancy}."


def _check_balance(study: Study) -> Iterator[str]:
    """Both orders equally often, where no place was retired: per item and per stratum they differ by at most one."""
    slots = Slot.objects.filter(study=study, replaces=None)
    items: dict[str, int] = defaultdict(int)
    strata: dict[tuple[int, str], int] = defaultdict(int)
    rows = slots.values_list("item__key", "arm_id", "item__systems_key", "order")
    for key, arm, systems, order in rows.iterator():
        step = 1 if order.startswith("r1") else -1
        items[key] += step
        strata[arm, systems] += step
    retired = slots.filter(state=SlotState.RETIRED).values_list("item__key", "arm_id", "item__systems_key")
    for key, arm, systems in retired.iterator():
        items[key] = strata[arm, systems] = 0
    for key, difference in items.items():
        if abs(difference) > 1:
            yield f"Item {key}: its presentation orders differ by {abs(difference)}."
    for (_, systems), difference in strata.items():
        if abs(difference) > 1:
            yield f"Pair {systems}: its presentation orders differ by {abs(difference)}."
