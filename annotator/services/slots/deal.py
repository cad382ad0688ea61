"""Places for counting judgments: dealing them at launch, adding and retiring them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from annotator.models import ClaimCursor, Slot, SlotState
from annotator.services.slots import claim_cursors, in_play
from annotator.services.slots.claim import expire
from evaluation import design
from evaluation.models import Arm, Item, OncePer, Role, Study
from evaluation.models.item import count_responses
from evaluation.selectors import queries_of_people
from evaluation.services.studies.launch import heartbeat

BATCH = 2_000
# A study that may stop early is dealt by blocks of so many times the queries that one participant meets: enough for
# whoever comes, and few enough that the first are soon complete.
QUERIES_AT_ONCE = 3
# Takes arms to how many places came to each.
Tally = Callable[[Mapping[int, int]], None]
# An item about to get places: its id, its query's id, its start order, the number of its responses, the size of its
# stratum, and the key that a participant meets once.
Member = tuple[int, int, int, int, int, str]


def deal_slots(study: Study) -> None:
    """Launch hook: gives every main item that people judge its places, if it has none.

    A launch that was cut short starts again.
    """
    if study.launching_since is not None:
        take_back_slots(study)
    deal_missing_slots(study)


def take_back_slots(study: Study) -> None:
    """Unlaunch hook: a refused launch leaves no places behind."""
    Slot.objects.filter(study=study).delete()
    ClaimCursor.objects.filter(arm__study=study).delete()


def deal_missing_slots(study: Study) -> None:
    """Places for the frozen main items that have none yet, ranked behind those that exist."""
    append(study, _without_slots(study), range(study.redundancy), in_play.count)


def deal_added_slots(study: Study) -> None:
    """Hook of items that come in while the study runs, in one transaction: arms are counted after the last slot."""
    moved: Counter[int] = Counter()
    append(study, _without_slots(study), range(study.redundancy), moved.update)
    in_play.count(moved)


def _without_slots(study: Study) -> QuerySet[Item]:
    return (
        Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
        .exclude(start_order=None)
        .exclude(Exists(Slot.objects.filter(item=OuterRef("pk"))))
    )


def append(study: Study, items: QuerySet[Item], ks: Iterable[int], tally: Tally) -> None:
    """Add places k for each item, rank by rank within its arm; tell `tally` after every batch, in its transaction."""
    by_arm: dict[int, list[Member]] = defaultdict(list)
    query_keys: dict[int, str] = {}
    theirs = queries_of_people(study)
    strata = _strata(study, theirs)
    rows = items.order_by().values_list(
        "key", "query__key", "pk", "query_id", "start_order", "arm_id", "systems_key", "lengths"
    )
    # Sorted here and not by the database, whose collation would decide who gets which rank.
    for key, query_key, pk, query, start, arm, systems, lengths in sorted(rows.iterator()):
        if theirs is not None and query not in theirs:
            continue
        assert start is not None, "orders are assigned before slots are dealt"
        group = query_key if study.once_per == OncePer.QUERY else key
        by_arm[arm].append((pk, query, start, count_responses(lengths), strata[(arm, systems)], group))
        query_keys[query] = query_key
    places, blocks = list(ks), _blocks(study, query_keys)
    claim_cursors.begin(by_arm)
    for dealt in study.arms.filter(pk__in=by_arm):
        _append_in_arm(study, dealt, by_arm[dealt.pk], places, tally, blocks)


def _blocks(study: Study, query_keys: Mapping[int, str]) -> dict[int, int] | None:
    """The block of each query, by its id, in the order in which queries enter a figure that decides when to stop."""
    if not study.stopping:
        return None
    ids, size = list(query_keys), max(QUERIES_AT_ONCE * study.items_per_participant, 1)
    order = design.looks_order([query_keys[each] for each in ids], study.seed)
    return {ids[place]: at // size for at, place in enumerate(order)}


def _strata(study: Study, theirs: frozenset[int] | None) -> Counter[tuple[int, str]]:
    """The number of people's items that share an arm and a set of systems: the balance of their orders depends on
    it."""
    frozen = Item.objects.filter(study=study, role=Role.MAIN).exclude(start_order=None).order_by()
    if theirs is None:
        counted = frozen.values_list("arm_id", "systems_key").annotate(n=Count("pk"))
        return Counter({(arm, systems): n for arm, systems, n in counted})
    rows = frozen.values_list("arm_id", "systems_key", "query_id").iterator()
    return Counter((arm, systems) for arm, systems, query in rows if query in theirs)


def _append_in_arm(
    study: Study,
    arm: Arm,
    members: list[Member],
    ks: list[int],
    tally: Tally,
    blocks: Mapping[int, int] | None,
) -> None:
    *numbers, groups = zip(*members, strict=True)
    columns = [np.array(column, dtype=np.int64) for column in numbers]
    columns.append(np.unique(np.array(groups), return_inverse=True)[1])
    item, query, start, responses, stratum, group = (np.repeat(column, len(ks)) for column in columns)
    k = np.tile(np.array(ks, dtype=np.int64), len(members))
    first = (Slot.objects.filter(study=study, arm=arm).aggregate(top=Max("rank"))["top"] or 0) + 1
    block = None if blocks is None else np.array([blocks[each] for each in query.tolist()], dtype=np.int64)
    ranks = design.slot_ranks(group, item, k, study.seed, arm.key, first, block=block) + first
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
            tally({arm.pk: len(item[part])})
        heartbeat(study)


def retire_item(item: Item) -> None:
    """Withdrawal hook: its places that nobody is at are closed; a running judgment may finish."""
    in_play.count({item.arm_id: -retire(Slot.objects.filter(item=item))})


def retire(slots: QuerySet[Slot]) -> int:
    """Close those of the places that are open, or held by somebody whose lease ran out; how many, for the caller to
    count when no more of them are to be locked.

    One that is submitted or taken over at this moment is being judged, and not waited for: whoever does that may be
    about to wait for the study. Taking over looks whether the place is wanted still.
    """
    now, closed = timezone.now(), 0
    lapsed_slots = slots.filter(state=SlotState.RESERVED, leased_until__lt=now)
    for slot in lapsed_slots.select_for_update(skip_locked=True, no_key=True):
        assert slot.holder_id is not None
        expire(slot.holder_id, now)
        slot.state, slot.holder, slot.leased_until = SlotState.RETIRED, None, None
        slot.save(update_fields=["state", "holder", "leased_until"])
        closed += 1
    return closed + slots.filter(state=SlotState.OPEN).update(state=SlotState.RETIRED)
