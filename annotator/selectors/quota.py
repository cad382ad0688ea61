"""Quotas: the items that one participant judges, and the number shown to them."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from evaluation import design
from evaluation.models import ArmPer, Item, OncePer, Role, Study

# Of an arm with at least so many items per item that one participant does, there are enough for everybody.
PLENTY = 20


def items_to_do(study: Study, arm: int | None = None, *, seen: int = 0) -> int:
    """The number of items that one participant is asked to judge in a visit: the study's, or as many as there are where
    there are fewer, since nobody meets a query (or an item) twice. In that arm, or in the one with most; in all, where
    each item has an arm drawn for it. `seen`: how many queries (or items) they have met before.

    Asked of the database once per process and state of the items: adding some changes the study's hash, and withdrawing
    one its corrections.
    """
    once = "query" if study.once_per == OncePer.QUERY else "pk"
    arms_apart = study.arm_per == ArmPer.PARTICIPANT
    state = (study.study_hash, study.corrections)
    wanted = study.items_per_participant + seen
    return max(0, items_for_one(study.pk, arm, wanted, once, arms_apart, state) - seen)


@lru_cache(maxsize=1_024)
def items_for_one(
    study: int, arm: int | None, wanted: int, once: str, arms_apart: bool, state: tuple[str, int]
) -> int:
    items = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
    items = items if arm is None else items.filter(arm=arm)
    enough = wanted * PLENTY
    # In no order: in that of their ids, the items of an arm can be far apart.
    rows = list(items.order_by().values_list("arm", once)[:enough])
    if len(rows) == enough:
        return wanted
    there = Counter(arm_of for arm_of, _ in {row if arms_apart else (None, row[1]) for row in rows})
    return min(wanted, max(there.values(), default=wanted))


def count_with_checks(items: int, spec: Mapping[str, Any]) -> int:
    """The number that a participant who judges so many items sees: attention checks among them are not told apart."""
    rule = spec["steps"].get("attention")
    return items + (design.n_checks(items, rule.get("checks", 1)) if rule else 0)
