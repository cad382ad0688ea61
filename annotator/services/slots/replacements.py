"""Places for judgments that are excluded and shall be made again, and what becomes of them when that is undone."""

from collections import Counter
from typing import Any

from django.db import transaction
from django.db.models import Max, Q

from annotator.models import Slot, SlotState
from annotator.services.slots import in_play
from annotator.services.slots.deal import retire
from annotator.services.slots.item_slots import ItemSlot, slots_of
from evaluation.counting import counted
from evaluation.models import Exclusion, Study
from evaluation.selectors import excluded_q
from evaluation.services.history import log_action

# From a place to the judgment that fills it.
JUDGMENT = "holder__judgment__"


def replace_excluded(study: Study, *, by: Any = None, reason: str = "") -> int:
    """Add a place with the same order for every filled one whose judgment is excluded; return how many are open.

    Where enough others judge the item, because its redundancy was lowered, the new place is closed from the start.
    """
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        filled = Slot.objects.filter(study=study, state=SlotState.FILLED, item__withdrawn_at=None)
        lost = list(filled.filter(excluded_q(study, JUDGMENT), replaced_by=None))
        opened = Counter(slot.arm_id for slot in lost if _replace(slot, study.redundancy))
        in_play.count(opened)
        n = opened.total()
        if n:
            said = f"Opened {counted(n, 'slot')} for excluded judgments."
            log_action(study=study, by=by, message=said, reason=reason)
        return n


def _replace(slot: Slot, redundancy: int) -> bool:
    """True if the new place is open."""
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
    """Take back the places that replace what counts again, unless somebody is at one or has judged there."""
    restored = (
        Q(holder__judgment__rater=exclusion.rater_id)
        if exclusion.judgment_id is None
        else Q(holder__judgment=exclusion.judgment_id)
    )
    replaced = Slot.objects.filter(restored, study=exclusion.study_id, state=SlotState.FILLED)
    # Both a judgment and its rater may have been excluded; then one undoing is not enough.
    again = replaced.exclude(excluded_q(exclusion.study, JUDGMENT)).exclude(replaced_by=None)
    moved: Counter[int] = Counter()
    for slot in list(again.select_related("replaced_by")):
        _take_back(slot, slot.replaced_by, exclusion.study, moved)
    in_play.count(moved)


def _take_back(slot: Slot, replacement: Slot, study: Study, moved: Counter[int]) -> None:
    """Close a place of the item that is not wanted now that this one counts: its replacement, or one like it.

    Where somebody is at the replacement already, it can do for another place that nobody is at.
    """
    standing = [each for each in slots_of(slot.item_id) if each.state != SlotState.RETIRED]
    free = [each for each in standing if each.is_free] if len(standing) >= study.redundancy else []
    free.sort(key=lambda each: (each.pk != replacement.pk, each.order != slot.order, -each.k))
    # Somebody may take one of them at this moment.
    closed = next((each.pk for each in free if _closes(each, moved)), None)
    if closed is None and replacement.state != SlotState.RETIRED:
        return  # a surplus
    instead = Slot.objects.values_list("replaces", flat=True).get(pk=closed) if closed else None
    Slot.objects.filter(pk__in=[replacement.pk, closed]).update(replaces=None)
    if closed not in (None, replacement.pk):
        Slot.objects.filter(pk=replacement.pk).update(replaces=instead)


def _closes(place: ItemSlot, moved: Counter[int]) -> bool:
    """Close the place unless somebody is at it, and say whether it is closed."""
    chosen = Slot.objects.filter(pk=place.pk)
    moved[place.arm] -= retire(chosen)
    return chosen.filter(state=SlotState.RETIRED).exists()
