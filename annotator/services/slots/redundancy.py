"""Redundancy, the number of people who judge each item: raising and lowering it while a study is under way."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from annotator.models import Slot, SlotState
from annotator.services.slots import claim_cursors, in_play
from annotator.services.slots.deal import BATCH, append, retire
from annotator.services.slots.item_slots import ItemSlot, slots_by_item
from evaluation import design
from evaluation.models import Item, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action


def change_redundancy(study: Study, redundancy: int, *, by: Any = None, reason: str = "") -> str:
    """Raise (retired places come back, then new ones are added) or lower (open places are retired); the sentence of the
    history.

    Refused of a launched study with a stopping rule: which of its queries are complete is part of the rule.
    """
    if redundancy < 1:
        raise Refused("Every item needs at least one judgment.")
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.is_frozen and locked.stopping and redundancy != locked.redundancy:
            raise Refused(
                f"The study has a stopping rule, registered with {locked.redundancy} judgments per item, by which its "
                "queries are complete. They can't be changed any more."
            )
        before, locked.redundancy = locked.redundancy, redundancy
        locked.save(update_fields=["redundancy"])
        study.redundancy = redundancy
        if locked.is_frozen and redundancy > before:
            _raise(study)
        elif locked.is_frozen and redundancy < before:
            _lower(study)
        said = f"Judgments per item: {redundancy} instead of {before}."
        if redundancy != before:
            log_action(study=study, by=by, message=said, reason=reason)
    return said


def bring_back_slots(item: Item) -> None:
    """Hook of an item whose withdrawal is undone: as many places stand again as it needs."""
    _complete(item.study, {item.pk: slots_by_item(item.study).get(item.pk, [])})


def _raise(study: Study) -> None:
    _complete(study, slots_by_item(study))


def _complete(study: Study, slots_of: Mapping[int, list[ItemSlot]]) -> None:
    """Bring each of these items to the study's redundancy; what never had a place, such as practice, gets none."""
    reopen: dict[int, list[int]] = defaultdict(list)
    missing: dict[int, list[int]] = defaultdict(list)
    for item, slots in slots_of.items():
        if not slots:
            continue
        again, new = _lacking(slots, study.redundancy)
        reopen[slots[0].arm] += again
        for k in new:
            missing[k].append(item)
    # The arms' rows are left for the end: who gives a place back waits for them.
    came: Counter[int] = Counter()
    for arm, chosen in _in_batches(reopen):
        came[arm] += chosen.filter(state=SlotState.RETIRED).update(state=SlotState.OPEN)
    for k, items in sorted(missing.items()):
        for at in range(0, len(items), BATCH):
            added = Item.objects.filter(pk__in=items[at : at + BATCH], withdrawn_at=None)
            append(study, added, [k], came.update)
    in_play.count(came)
    for _, chosen in _in_batches(reopen):
        claim_cursors.move_back(chosen)


def _in_batches(by_arm: Mapping[int, list[int]]) -> Iterator[tuple[int, QuerySet[Slot]]]:
    """Arms with their slots, so many at a time as the database takes in one statement."""
    for arm, chosen in sorted(by_arm.items()):
        for at in range(0, len(chosen), settings.ASSAY_BATCH_SIZE):
            yield arm, Slot.objects.filter(pk__in=chosen[at : at + settings.ASSAY_BATCH_SIZE])


def _lacking(slots: list[ItemSlot], redundancy: int) -> tuple[list[int], list[int]]:
    """Choose the retired slots of an item that come back, and the k of each new one; always the order there is less of.

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
    """Choose the order of one more slot; with more than two responses, the rarest of those that come back."""
    if n == 2:
        return design.next_order(start, orders)
    return min(retired, key=orders.count) if retired else ""


def _lower(study: Study) -> None:
    closed: dict[int, list[int]] = defaultdict(list)
    for slots in slots_by_item(study).values():
        standing = [slot for slot in slots if slot.state != SlotState.RETIRED]
        while len(standing) > study.redundancy:
            orders = [slot.order for slot in standing]
            free = [slot for slot in standing if slot.is_free]
            if not free:
                break
            # The order of which there are more goes first, then the item's second: what stays is balanced.
            gone = max(free, key=lambda slot: (orders.count(slot.order), slot.is_second, slot.k))
            standing.remove(gone)
            closed[gone.arm].append(gone.pk)
    # Only where still free: a place that was reserved meanwhile is being judged.
    gone_by_arm: Counter[int] = Counter()
    for arm, chosen in _in_batches(closed):
        gone_by_arm[arm] -= retire(chosen)
    in_play.count(gone_by_arm)
