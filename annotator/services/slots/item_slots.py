"""An item's places as changing its redundancy and replacing its judgments see them."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from annotator.models import Slot, SlotState
from evaluation import design
from evaluation.models import Study


@dataclass(frozen=True)
class ItemSlot:
    """A place as changing the redundancy sees it."""

    pk: int
    arm: int
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


def slots_by_item(study: Study) -> dict[int, list[ItemSlot]]:
    """An item's places that count towards its redundancy, by k; one that was replaced does not."""
    return _dealt(Slot.objects.filter(study=study, item__withdrawn_at=None))


def slots_of(item: int) -> list[ItemSlot]:
    return _dealt(Slot.objects.filter(item=item)).get(item, [])


def _dealt(slots: QuerySet[Slot]) -> dict[int, list[ItemSlot]]:
    now = timezone.now()
    by_item: dict[int, list[ItemSlot]] = defaultdict(list)
    slots = slots.filter(replaced_by=None).order_by("item", "k")
    rows = slots.values_list("item", "pk", "arm", "k", "order", "state", "leased_until", "item__start_order")
    for item, pk, arm, k, order, state, leased_until, start in rows.iterator():
        assert start is not None
        lapsed_slots = leased_until is not None and leased_until < now
        by_item[item].append(ItemSlot(pk, arm, k, order, state, lapsed_slots, start))
    return by_item
