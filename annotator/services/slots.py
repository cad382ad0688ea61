"""Places for counting judgments: dealing them at launch, adding, retiring and replacing them."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotator.models import ArmFront, Slot, SlotState
from annotator.services import fronts
from annotator.services.claiming import expire
from evaluation import design
from evaluation.models import Arm, Exclusion, Item, OncePer, Role, Study
from evaluation.models.item import count_responses
from evaluation.selectors import excluded
from evaluation.services.launch import sign_of_life

BATCH = 2_000
# An item about to get places: its id, its query's id, its start order, the number of its responses, the size of its
# stratum, and the key that a participant meets once.
Member = tuple[int, int, int, int, int, str]


@dataclass(frozen=True)
class DealtSlot:
    """A place as changing the redundancy sees it."""

    pk: int
    k: int
    order: str
    state: str
    lapsed: bool
    start: int

    @property
    def is_free(self) -> bool:
        return self.state == SlotState.OPEN or (self.state == SlotState.RESERVED and self.lapsed)

    @property
    def is_second(self) -> bool:
        return self.order != design.presented_order(self.n_responses, self.start)

    @property
    def n_responses(self) -> int:
        return len(self.order.split(",")) if self.order else 0


def deal_slots(study: Study) -> None:
    """Launch hook: gives every main item that has none its places. A launch that was cut short starts anew."""
    if study.launching_since is not None:
        take_back_slots(study)
    deal_missing_slots(study)


def take_back_slots(study: Study) -> None:
    """Unlaunch hook: a refused launch leaves no places behind."""
    Slot.objects.filter(study=study).delete()
    ArmFront.objects.filter(arm__study=study).delete()


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
    by_arm: dict[int, list[Member]] = defaultdict(list)
    strata = _strata(study)
    rows = items.order_by().values_list(
        "key", "query__key", "pk", "query_id", "start_order", "arm_id", "systems_key", "lengths"
    )
    # Sorted here and not by the database, whose collation would decide who gets which rank.
    for key, query_key, pk, query, start, arm, systems, lengths in sorted(rows.iterator()):
        assert start is not None, "orders are assigned before slots are dealt"
        group = query_key if study.once_per == OncePer.QUERY else key
        by_arm[arm].append((pk, query, start, count_responses(lengths), strata[(arm, systems)], group))
    places = list(ks)
    fronts.begin(by_arm)
    for dealt in study.arms.filter(pk__in=by_arm):
        _append_in_arm(study, dealt, by_arm[dealt.pk], places)


def _strata(study: Study) -> Counter[tuple[int, str]]:
    """How many main items share an arm and a set of systems: the balance of their orders depends on it."""
    frozen = Item.objects.filter(study=study, role=Role.MAIN).exclude(start_order=None)
    counted = frozen.order_by().values_list("arm_id", "systems_key").annotate(n=Count("pk"))
    return Counter({(arm, systems): n for arm, systems, n in counted})


def _append_in_arm(study: Study, arm: Arm, members: list[Member], ks: list[int]) -> None:
    *numbers, groups = zip(*members, strict=True)
    columns = [np.array(column, dtype=np.int64) for column in numbers]
    columns.append(np.unique(np.array(groups), return_inverse=True)[1])
    item, query, start, responses, stratum, group = (np.repeat(column, len(ks)) for column in columns)
    k = np.tile(np.array(ks, dtype=np.int64), len(members))
    first = (Slot.objects.filter(study=study, arm=arm).aggregate(top=Max("rank"))["top"] or 0) + 1
    ranks = design.slot_ranks(group, item, k, study.seed, arm.key, first) + first
    for at in range(0, len(item), BATCH):
        part = slice(at, at + BATCH)
        with transaction.atomic():
            Slot.objects.bulk_create(
                Slot(
                    study=study,
                    arm=arm,
                    item_id=int(item_id),
                    query_id=int(query_id),
                    k=int(each_k),
                    order=design.slot_order(int(n), int(each_start), int(each_k), int(among)),
                    rank=int(rank),
                )
                for item_id, query_id, n, each_start, each_k, among, rank in zip(
                    item[part],
                    query[part],
                    responses[part],
                    start[part],
                    k[part],
                    stratum[part],
                    ranks[part],
                    strict=True,
                )
            )
        sign_of_life(study)


def retire_item(item: Item) -> None:
    """Withdrawal hook: its places that nobody is at are closed; a running judgment may finish."""
    _retire(Slot.objects.filter(item=item))


def _retire(slots: QuerySet[Slot]) -> None:
    """Closes those of the places that are open, or held by somebody whose lease ran out."""
    now = timezone.now()
    lapsed = slots.filter(state=SlotState.RESERVED, leased_until__lt=now)
    for slot in lapsed.select_for_update(no_key=True):
        assert slot.holder_id is not None
        expire(slot.holder_id, now)
        slot.state, slot.holder, slot.leased_until = SlotState.RETIRED, None, None
        slot.save(update_fields=["state", "holder", "leased_until"])
    slots.filter(state=SlotState.OPEN).update(state=SlotState.RETIRED)


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
    reopen: list[int] = []
    missing: dict[int, list[int]] = defaultdict(list)
    for item, slots in _slots_by_item(study).items():
        again, new = _lacking(slots, study.redundancy)
        reopen += again
        for k in new:
            missing[k].append(item)
    for at in range(0, len(reopen), settings.ASSAY_BATCH_SIZE):
        chosen = Slot.objects.filter(pk__in=reopen[at : at + settings.ASSAY_BATCH_SIZE])
        chosen.update(state=SlotState.OPEN)
        fronts.move_back(chosen)
    for k, items in sorted(missing.items()):
        for at in range(0, len(items), BATCH):
            _append(study, Item.objects.filter(pk__in=items[at : at + BATCH], withdrawn_at=None), [k])


def _lacking(slots: list[DealtSlot], redundancy: int) -> tuple[list[int], list[int]]:
    """Which of an item's retired places come back, and the k of each new one; always the order there is less of.

    The k of a pair tells its order, so one may be left out; of more responses the orders go round.
    """
    orders = [slot.order for slot in slots if slot.state != SlotState.RETIRED]
    retired = {slot.pk: slot.order for slot in slots if slot.state == SlotState.RETIRED}
    start, top = slots[0].start, slots[-1].k
    again, new = [], []
    while len(orders) < redundancy:
        wanted = _wanted_order(slots[0].n_responses, start, orders, list(retired.values()))
        orders.append(wanted)
        fitting = next((pk for pk, order in retired.items() if order == wanted), None)
        if fitting is not None:
            del retired[fitting]
            again.append(fitting)
        else:
            skips = slots[0].n_responses == 2 and design.presented_order(2, start + top + 1) != wanted
            top += 2 if skips else 1
            new.append(top)
    return again, new


def _wanted_order(n: int, start: int, orders: list[str], retired: list[str]) -> str:
    """Which order one more place should have; of more than two responses, the rarest of those that come back."""
    if n == 2:
        return design.next_order(start, orders)
    return min(retired, key=orders.count) if retired else ""


def _lower(study: Study) -> None:
    retire: list[int] = []
    for slots in _slots_by_item(study).values():
        standing = [slot for slot in slots if slot.state != SlotState.RETIRED]
        while len(standing) > study.redundancy:
            orders = [slot.order for slot in standing]
            free = [slot for slot in standing if slot.is_free]
            if not free:
                break
            # The order of which there are more goes first, then the item's second: what stays is balanced.
            gone = max(free, key=lambda slot: (orders.count(slot.order), slot.is_second, slot.k))
            standing.remove(gone)
            retire.append(gone.pk)
    for at in range(0, len(retire), settings.ASSAY_BATCH_SIZE):
        # Only where still free: a place that was reserved meanwhile is being judged.
        _retire(Slot.objects.filter(pk__in=retire[at : at + settings.ASSAY_BATCH_SIZE]))


def _slots_by_item(study: Study) -> dict[int, list[DealtSlot]]:
    """An item's places that count towards its redundancy, by k; one that was replaced does not."""
    return _dealt(Slot.objects.filter(study=study, item__withdrawn_at=None))


def _slots_of(item: int) -> list[DealtSlot]:
    return _dealt(Slot.objects.filter(item=item)).get(item, [])


def _dealt(slots: QuerySet[Slot]) -> dict[int, list[DealtSlot]]:
    now = timezone.now()
    by_item: dict[int, list[DealtSlot]] = defaultdict(list)
    slots = slots.filter(replaced_by=None).order_by("item", "k")
    rows = slots.values_list("item", "pk", "k", "order", "state", "leased_until", "item__start_order")
    for item, pk, k, order, state, leased_until, start in rows.iterator():
        assert start is not None
        lapsed = leased_until is not None and leased_until < now
        by_item[item].append(DealtSlot(pk, k, order, state, lapsed, start))
    return by_item


# From a place to the judgment that fills it.
JUDGMENT = "holder__judgment__"


def replace_excluded(study: Study) -> int:
    """Adds a place with the same order for every filled one whose judgment is excluded; returns how many are open.

    Where enough others judge the item, because its redundancy was lowered, the new place is closed from the start.
    """
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        filled = Slot.objects.filter(study=study, state=SlotState.FILLED, item__withdrawn_at=None)
        lost = list(filled.filter(excluded(study, JUDGMENT), replaced_by=None))
        return sum(_replace(slot, study.redundancy) for slot in lost)


def _replace(slot: Slot, redundancy: int) -> bool:
    """Whether the new place is open."""
    others = Slot.objects.filter(item=slot.item_id, replaced_by=None).exclude(pk=slot.pk)
    wanted = others.exclude(state=SlotState.RETIRED).count() < redundancy
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
        state=SlotState.OPEN if wanted else SlotState.RETIRED,
        replaces=slot,
    )
    return wanted


def take_back_replacements(exclusion: Exclusion) -> None:
    """Undoing hook: what counts again needs nobody to judge it anew, unless somebody is at it or has done so."""
    undone = (
        Q(holder__judgment__rater=exclusion.rater_id)
        if exclusion.judgment_id is None
        else Q(holder__judgment=exclusion.judgment_id)
    )
    replaced = Slot.objects.filter(undone, study=exclusion.study_id, state=SlotState.FILLED)
    # Both a judgment and its rater may have been excluded; then one undoing is not enough.
    again = replaced.exclude(excluded(exclusion.study, JUDGMENT)).exclude(replaced_by=None)
    for slot in list(again.select_related("replaced_by")):
        _take_back(slot, slot.replaced_by, exclusion.study)


def _take_back(slot: Slot, replacement: Slot, study: Study) -> None:
    """Closes a place of the item that is not wanted now that this one counts: its replacement, or one like it.

    Where somebody is at the replacement already, it can do for another place that nobody is at.
    """
    standing = [each for each in _slots_of(slot.item_id) if each.state != SlotState.RETIRED]
    free = [each for each in standing if each.is_free] if len(standing) >= study.redundancy else []
    free.sort(key=lambda each: (each.pk != replacement.pk, each.order != slot.order, -each.k))
    # Somebody may take one of them at this moment.
    closed = next((each.pk for each in free if _closes(each.pk)), None)
    if closed is None and replacement.state != SlotState.RETIRED:
        return  # a surplus
    instead = Slot.objects.values_list("replaces", flat=True).get(pk=closed) if closed else None
    Slot.objects.filter(pk__in=[replacement.pk, closed]).update(replaces=None)
    if closed not in (None, replacement.pk):
        Slot.objects.filter(pk=replacement.pk).update(replaces=instead)


def _closes(pk: int) -> bool:
    """Closes the place unless somebody is at it, and says whether it is closed."""
    _retire(Slot.objects.filter(pk=pk))
    return Slot.objects.filter(pk=pk, state=SlotState.RETIRED).exists()
