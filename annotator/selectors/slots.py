"""Places to be had, by one participant or by the next."""

from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotator.models import Assignment, ClaimCursor, Participant, Slot, SlotState
from evaluation.database.compiled_queries import CompiledSelect, field_of
from evaluation.models import Arm, Status, Study

# Of slots. A partial index is used where its condition is seen to hold, so each state is asked for by itself.
OPEN = Q(state=SlotState.OPEN)


def available_slots(study: Study | int, now: datetime) -> QuerySet[Slot]:
    """Places that can be claimed: open, or reserved with a lease that ran out."""
    return Slot.objects.filter(OPEN | lapsed_slots(now), study=study)


def lapsed_slots(now: datetime) -> Q:
    return Q(state=SlotState.RESERVED, leased_until__lt=now)


def has_places(study: Study) -> bool:
    """True if anything is available; looks where claiming looks."""
    now = timezone.now()
    return CURSOR.first(study=study.pk, now=now) is not None or available_slots(study, now).exists()


def arms_with_places(study: Study, now: datetime) -> list[int]:
    """The arms that have anything available."""
    found = _looked_up(study.pk, now).order_by("arm").values_list("arm", flat=True)
    return list(found) or list(
        available_slots(study, now).order_by("arm").values_list("arm", flat=True).distinct()
    )


def slot_counts(study: Study) -> list[tuple[Arm, str, dict[str, int]]]:
    """Slots by state, per arm and presented order; those that were replaced are not among them."""
    rows = (
        Slot.objects.filter(study=study, replaced_by=None)
        .order_by("arm__position", "arm", "order")
        .values_list("arm", "order", "state")
        .annotate(n=Count("pk"))
    )
    arms = {arm.pk: arm for arm in study.arms.all()}
    lines: dict[tuple[int, str], dict[str, int]] = {}
    for arm, order, state, n in rows:
        lines.setdefault((arm, order), {})[state] = n
    return [(arms[arm], order, counts) for (arm, order), counts in lines.items()]


def count_lapsed(study: Study) -> int:
    """Reserved slots that are free again, as their lease ran out."""
    return Slot.objects.filter(lapsed_slots(timezone.now()), study=study).count()


def closed_early(study: Study) -> list[str]:
    """Sentences for the report's methods where a study was closed before all of its places were filled."""
    counted = counted_early(study)
    if not counted:
        return []
    rule = (
        "It had a stopping rule, registered at launch; whether it was met stands under Stopping early."
        if study.stopping
        else "It had no stopping rule."
    )
    return [f"{counted} {rule}"]


def counted_early(study: Study) -> str:
    """The number of judgments out of those planned, where a study was closed early; empty where it was not."""
    if study.status != Status.CLOSED:
        return ""
    of_study = Slot.objects.filter(study=study)
    places = of_study.exclude(state=SlotState.RETIRED)
    filled = places.filter(state=SlotState.FILLED).count()
    # Not those of items that were withdrawn, nor replacements of judgments that count again.
    called_off = of_study.filter(
        state=SlotState.RETIRED, item__withdrawn_at=None, replaces=None, replaced_by=None
    ).count()
    planned = places.count() + called_off
    # Without any, nobody came to it: its judgments were imported.
    if filled in (0, planned):
        return ""
    lowered = f", {called_off:,} of them called off by asking for fewer per item" if called_off else ""
    return f"The study was closed early, with {filled:,} of {planned:,} planned judgments{lowered}."


def _looked_up(study: int, now: datetime) -> QuerySet[ClaimCursor]:
    """Cursors of the arms in which claiming finds something where it looks first.

    One row of each is asked for, in the order of its index: whether any exists, PostgreSQL may find out by reading all.
    """
    slots = Slot.objects.filter(study=study, arm=OuterRef("arm"))
    is_open = slots.filter(OPEN, rank__gte=OuterRef("first_open")).order_by("rank")
    has_lapsed = slots.filter(lapsed_slots(now), leased_until__gte=OuterRef("earliest_lease")).order_by(
        "leased_until"
    )
    found = Q(first__isnull=False) | Q(first_lapsed__isnull=False)
    cursors = ClaimCursor.objects.filter(arm__study=study)
    return cursors.alias(
        first=Subquery(is_open.values("rank")[:1]),
        first_lapsed=Subquery(has_lapsed.values("leased_until")[:1]),
    ).filter(found)


CURSOR = CompiledSelect(
    _looked_up,
    study=field_of(Study, "id"),
    now=field_of(Slot, "leased_until"),
)


def next_release(participant: Participant, now: datetime) -> datetime | None:
    """The time at which a slot that others hold, and this participant could take, becomes free first, or None."""
    seen = seen_keys(participant)
    held = Slot.objects.filter(study=participant.study_id).exclude(
        **{f"{once_field(participant.revision.spec)}__in": seen}
    )
    if participant.arm_id is not None:
        held = held.filter(arm=participant.arm_id)
    if held.filter(OPEN).exists():
        return now
    leases = held.filter(state=SlotState.RESERVED).order_by("leased_until")
    first = leases.values_list("leased_until", flat=True).first()
    return None if first is None else max(first, now)


def once_field(spec: dict[str, Any]) -> str:
    """The slot's column that the study's once-per rule counts."""
    return "query_id" if spec["once_per"] == "query" else "item_id"


def seen_keys(participant: Participant | int) -> QuerySet[Assignment, int | None]:
    """The queries (or items) that the participant has met, as a subquery."""
    met = Assignment.objects.filter(participant=participant, once__isnull=False, slot__isnull=False)
    return met.values_list("once", flat=True)
