"""Places for counting judgments: dealing them at launch, adding, retiring and replacing them."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Slot, SlotState
from evaluation import design
from evaluation.models import Exclusion, Item, OncePer, Role, Study

BATCH = 2_000


def deal_slots(study: Study) -> None:
    """Launch hook: gives every main item that has none its places. A launch that was cut short starts anew."""
    if study.launching_since is not None:
        Slot.objects.filter(study=study).delete()
    deal_missing_slots(study)


def take_back_slots(study: Study) -> None:
    """Unlaunch hook: a refused launch leaves no places behind."""
    Slot.objects.filter(study=study).delete()


def deal_missing_slots(study: Study) -> None:
    """Places for the frozen main items that have none yet, ranked behind those that exist."""
    items = (
        Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
        .exclude(start_order=None)
        .exclude(Exists(Slot.objects.filter(item=OuterRef("pk"))))
    )
    _append(study, items, range(study.redundancy))


def _append(study: Study, items: QuerySet[Item], ks: Iterable[int]) -> None:
    """Adds places k for each item, rank by rank within its arm."""
    by_arm: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    rows = items.order_by("key").values_list("pk", "query_id", "start_order", "arm_id")
    for pk, query, start, arm in rows.iterator():
        assert start is not None, "orders are assigned before slots are dealt"
        by_arm[arm].append((pk, query, start))
    places = list(ks)
    for arm, members in by_arm.items():
        _append_in_arm(study, arm, members, places)


def _append_in_arm(study: Study, arm: int, members: list[tuple[int, int, int]], ks: list[int]) -> None:
    item, query, start = (
        np.repeat(np.array(column, dtype=np.int64), len(ks)) for column in zip(*members, strict=True)
    )
    k = np.tile(np.array(ks, dtype=np.int64), len(members))
    group = query if study.once_per == OncePer.QUERY else item
    first = (Slot.objects.filter(study=study, arm=arm).aggregate(top=Max("rank"))["top"] or 0) + 1
    ranks = design.slot_ranks(group, item, k, study.seed, arm, first) + first
    for at in range(0, len(item), BATCH):
        part = slice(at, at + BATCH)
        with transaction.atomic():
            Slot.objects.bulk_create(
                Slot(
                    study=study,
                    arm_id=arm,
                    item_id=int(item_id),
                    query_id=int(query_id),
                    k=int(each_k),
                    order=design.pair_order(int(each_start), int(each_k)),
                    rank=int(rank),
                )
                for item_id, query_id, each_start, each_k, rank in zip(
                    item[part], query[part], start[part], k[part], ranks[part], strict=True
                )
            )


def retire_item(item: Item) -> None:
    """Withdrawal hook: its places that nobody is at are closed; a running judgment may finish."""
    now = timezone.now()
    expired = Slot.objects.filter(item=item, state=SlotState.RESERVED, leased_until__lt=now)
    for slot in expired.select_for_update(no_key=True):
        abandoned = Assignment.objects.filter(pk__in=[slot.holder_id], state=AssignmentState.RESERVED)
        slot.state, slot.holder, slot.leased_until = SlotState.RETIRED, None, None
        slot.save(update_fields=["state", "holder", "leased_until"])
        abandoned.update(state=AssignmentState.EXPIRED, ended_at=now)
    Slot.objects.filter(item=item, state=SlotState.OPEN).update(state=SlotState.RETIRED)


def change_redundancy(study: Study, redundancy: int) -> None:
    """Raises (retired places come back, then new ones are added) or lowers (open places are retired)."""
    if redundancy < 1:
        raise ValueError("Every item needs at least one judgment.")
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        before, locked.redundancy = locked.redundancy, redundancy
        locked.save(update_fields=["redundancy"])
        study.redundancy = redundancy
        if not locked.is_frozen:
            return
        if redundancy > before:
            _raise(study)
        elif redundancy < before:
            _lower(study)


def _raise(study: Study) -> None:
    missing: dict[int, list[int]] = defaultdict(list)
    for item, slots in _slots_by_item(study).items():
        lacking = study.redundancy - sum(1 for slot in slots if slot.state != SlotState.RETIRED)
        retired = [slot.pk for slot in slots if slot.state == SlotState.RETIRED][: max(0, lacking)]
        Slot.objects.filter(pk__in=retired).update(state=SlotState.OPEN)
        next_k = max((slot.k for slot in slots), default=-1) + 1
        for offset in range(max(0, lacking - len(retired))):
            missing[next_k + offset].append(item)
    for k, items in sorted(missing.items()):
        for at in range(0, len(items), BATCH):
            _append(study, Item.objects.filter(pk__in=items[at : at + BATCH], withdrawn_at=None), [k])


def _lower(study: Study) -> None:
    retire: list[int] = []
    for slots in _slots_by_item(study).values():
        standing = [slot for slot in slots if slot.state != SlotState.RETIRED]
        while len(standing) > study.redundancy:
            orders = [slot.order for slot in standing]
            open_ones = [slot for slot in standing if slot.state == SlotState.OPEN]
            if not open_ones:
                break
            # The order of which there are more goes first, then the latest place: what stays is balanced.
            gone = max(open_ones, key=lambda slot: (orders.count(slot.order), slot.k))
            standing.remove(gone)
            retire.append(gone.pk)
    for at in range(0, len(retire), settings.ASSAY_BATCH_SIZE):
        chosen = Slot.objects.filter(pk__in=retire[at : at + settings.ASSAY_BATCH_SIZE])
        # Only where still open: a place that was reserved meanwhile is being judged.
        chosen.filter(state=SlotState.OPEN).update(state=SlotState.RETIRED)


def _slots_by_item(study: Study) -> dict[int, list[Slot]]:
    """An item's places that count towards its redundancy; one that was replaced does not."""
    by_item: dict[int, list[Slot]] = defaultdict(list)
    slots = Slot.objects.filter(study=study, replaced_by=None, item__withdrawn_at=None)
    for slot in slots.order_by("item_id", "k").iterator():
        by_item[slot.item_id].append(slot)
    return by_item


def replace_excluded(study: Study) -> int:
    """Adds a place with the same order for every filled one whose judgment is excluded; returns how many."""
    standing = Exclusion.objects.filter(study=study, undone_at=None)
    excluded = Q(holder__judgment__in=standing.filter(judgment__isnull=False).values("judgment")) | Q(
        holder__judgment__rater__in=standing.filter(rater__isnull=False).values("rater")
    )
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        lost = list(Slot.objects.filter(excluded, study=study, state=SlotState.FILLED, replaced_by=None))
        for slot in lost:
            _replace(slot)
    return len(lost)


def _replace(slot: Slot) -> None:
    tops = Slot.objects.filter(item=slot.item_id).aggregate(k=Max("k"))
    rank = Slot.objects.filter(study=slot.study_id, arm=slot.arm_id).aggregate(top=Max("rank"))["top"]
    Slot.objects.create(
        study_id=slot.study_id,
        arm_id=slot.arm_id,
        item_id=slot.item_id,
        query_id=slot.query_id,
        k=tops["k"] + 1,
        order=slot.order,
        rank=rank + 1,
        replaces=slot,
    )
