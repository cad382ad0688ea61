"""Invariants of slots and assignments."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q

from annotator.models import Assignment, AssignmentState, ClaimCursor, Slot, SlotState
from annotator.selectors.arms import count_in_play
from evaluation import design
from evaluation.models import Study
from evaluation.selectors import queries_of_people


def check_slots(study: Study) -> Iterator[str]:
    """A sentence per thing that does not hold."""
    yield from _check_holders(study)
    yield from _check_places(study)
    yield from _check_sample(study)
    yield from _check_balance(study)
    yield from _check_counts(study)


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


def _check_sample(study: Study) -> Iterator[str]:
    """Where people judge a random part of the queries, no place stands outside it."""
    theirs = queries_of_people(study)
    if theirs is None:
        return
    queries = Slot.objects.filter(study=study).order_by("query__key").values_list("query_id", "query__key")
    for query, key in queries.distinct():
        if query not in theirs:
            yield f"Query {key}: it has places for people, and is not in the random part that they judge."


def _check_counts(study: Study) -> Iterator[str]:
    """Each arm's number of slots in play, in one statement with what is there."""
    mend = f"`manage.py places {study.slug} --recount` counts them anew."
    cursors = ClaimCursor.objects.filter(arm__study=study).order_by("arm__position", "arm")
    rows = cursors.annotate(there=count_in_play(OuterRef("arm"))).exclude(in_play=F("there"))
    for key, counted, there in rows.values_list("arm__key", "in_play", "there"):
        yield f"Arm {key}: {counted:,} of its slots are counted as in play, and {there:,} are. {mend}"
    slots = Slot.objects.filter(arm=OuterRef("pk"))
    lost = study.arms.filter(Exists(slots)).exclude(pk__in=cursors.values("pk"))
    for key in lost.values_list("key", flat=True):
        yield f"Arm {key}: nothing says how many of its slots are in play. {mend}"


def _check_balance(study: Study) -> Iterator[str]:
    """Per item each order, and per stratum each first place, as often as any other but for one; not where places were
    retired. Items of more than two responses that came later go round by themselves: one more for each lot of them."""
    slots = Slot.objects.filter(study=study, replaces=None)
    retired = set(slots.filter(state=SlotState.RETIRED).values_list("item__key", flat=True))
    items: dict[str, Counter[str]] = defaultdict(Counter)
    strata: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    lots: dict[tuple[int, str], set[int | None]] = defaultdict(set)
    untouched: dict[tuple[int, str], bool] = {}
    rows = slots.values_list("item__key", "arm_id", "item__systems_key", "order", "item__revision_number")
    for key, arm, systems, order, lot in rows.iterator():
        items[key][order] += 1
        strata[arm, systems][order] += 1
        lots[arm, systems].add(lot)
        untouched[arm, systems] = untouched.get((arm, systems), True) and key not in retired
    for key, orders in items.items():
        if key not in retired and (difference := _difference(orders, _n_orders(orders))) > 1:
            yield f"Item {key}: its presentation orders differ by {difference}."
    for (arm, systems), orders in strata.items():
        if not untouched[arm, systems]:
            continue
        n = _n_responses(orders)
        firsts: Counter[str] = Counter()
        for order, times in orders.items():
            firsts[order.partition(",")[0]] += times
        bound = 1 if n <= 2 else len(lots[arm, systems])
        if (difference := _difference(firsts, n)) > bound:
            what = "Pair" if n == 2 else "Systems"
            yield f"{what} {systems}: its presentation orders differ by {difference}."


def _n_responses(orders: Counter[str]) -> int:
    return max(len(order.split(",")) if order else 0 for order in orders)


def _n_orders(orders: Counter[str]) -> int:
    return design.n_orders(_n_responses(orders))


def _difference(counted: Counter[str], different: int) -> int:
    """Between the most and the least frequent of so many, of which some may not be there at all."""
    least = min(counted.values()) if len(counted) >= different else 0
    return max(counted.values()) - least
