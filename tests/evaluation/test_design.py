"""Orders, ranks and check positions: what the design promises, for any study and any seed."""

import random
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotator.models import Assignment, AssignmentState, Slot, SlotState
from annotator.services.slots.claim import claim_slot
from evaluation import design
from evaluation.models import Item
from evaluation.services.studies.creation import PAPER_ARMS
from tests.crowd import come, make_crowd_study
from tests.factories import launch, make_item, make_query, make_study

SEEDS = st.integers(0, 2**53)
STRATA = st.lists(st.sampled_from(["a", "b", "c"]), max_size=60)


@given(strata=STRATA, redundancy=st.integers(1, 6), seed=SEEDS)
def test_orders_are_balanced_in_every_item_and_stratum(strata, redundancy, seed):
    per_stratum = Counter()
    for stratum, start in zip(strata, design.starting_orders(strata, seed), strict=True):
        orders = [design.presented_order(2, int(start) + k) for k in range(redundancy)]
        ahead = orders.count("r1,r2") - orders.count("r2,r1")
        assert abs(ahead) <= 1
        per_stratum[stratum] += ahead
    assert all(abs(ahead) <= 1 for ahead in per_stratum.values())


@given(first=STRATA, later=STRATA, seed=SEEDS)
def test_alternation_goes_on_for_items_added_later(first, later, seed):
    starts = [*design.starting_orders(first, seed), *design.starting_orders(later, seed, Counter(first))]
    for stratum in {*first, *later}:
        mine = [start for each, start in zip([*first, *later], starts, strict=True) if each == stratum]
        assert abs(2 * sum(mine) - len(mine)) <= 1


@given(start=st.integers(0, 1), redundancy=st.integers(1, 9))
def test_next_order_is_the_one_that_dealing_would_give(start, redundancy):
    orders = [design.presented_order(2, start + k) for k in range(redundancy)]
    assert design.next_order(start, orders) == design.presented_order(2, start + redundancy)


def test_orders_are_reproduced_by_the_seed_and_depend_on_it():
    strata = ["a"] * 30 + ["b"] * 30
    same = [design.starting_orders(strata, 7).tolist() for _ in range(2)]
    assert same[0] == same[1]
    assert design.starting_orders(strata, 8).tolist() != same[0]
    assert same[0][:30] != same[0][30:], "each stratum is shuffled on its own"


@given(sizes=st.lists(st.integers(1, 8), min_size=1, max_size=12), redundancy=st.integers(1, 4), seed=SEEDS)
def test_ranks_deal_rounds_from_the_end(sizes, redundancy, seed):
    """A permutation in which a query with more slots left always comes before one with fewer."""
    query, item, k = slots_of(sizes, redundancy)
    ranks = design.slot_ranks(query, item, k, seed)
    assert sorted(ranks.tolist()) == list(range(len(query)))
    left = Counter(query.tolist())
    previous = max(left.values())
    for slot in np.argsort(ranks):
        assert left[query[slot]] == max(left.values()) <= previous
        previous = left[query[slot]]
        left[query[slot]] -= 1


@given(sizes=st.lists(st.integers(1, 8), min_size=1, max_size=12), redundancy=st.integers(1, 4), seed=SEEDS)
def test_a_query_s_items_fill_evenly(sizes, redundancy, seed):
    query, item, k = slots_of(sizes, redundancy)
    filled = defaultdict(Counter)
    for slot in np.argsort(design.slot_ranks(query, item, k, seed)):
        mine = filled[query[slot]]
        mine[item[slot]] += 1
        assert max(mine.values()) - min(mine.get(each, 0) for each in item[query == query[slot]]) <= 1


def test_ranks_are_reproduced_by_the_seed_and_depend_on_it():
    slots = slots_of([5] * 10, 3)
    assert design.slot_ranks(*slots, 7).tolist() == design.slot_ranks(*slots, 7).tolist()
    assert design.slot_ranks(*slots, 7).tolist() != design.slot_ranks(*slots, 8).tolist()
    assert design.slot_ranks(*slots, 7).tolist() != design.slot_ranks(*slots, 7, "another arm").tolist()


@given(sizes=st.lists(st.integers(1, 4), min_size=2, max_size=12), redundancy=st.integers(1, 3), seed=SEEDS)
def test_blocks_are_dealt_one_after_the_other(sizes, redundancy, seed):
    query, item, k = slots_of(sizes, redundancy)
    block = query // 3
    ranks = design.slot_ranks(query, item, k, seed, block=block)
    assert sorted(ranks.tolist()) == list(range(len(query)))
    assert (np.diff(block[np.argsort(ranks)]) >= 0).all()


def test_queries_enter_in_an_order_of_their_keys_alone():
    keys = [f"q{n}" for n in range(20)]
    in_order = [keys[place] for place in design.looks_order(keys, 7)]
    fewer = [key for key in reversed(keys) if key != "q3"]
    assert [fewer[place] for place in design.looks_order(fewer, 7)] == [
        key for key in in_order if key != "q3"
    ]
    assert in_order != [keys[place] for place in design.looks_order(keys, 8)]


def slots_of(sizes, redundancy):
    """Queries with so many items each, as the arrays that ranking takes."""
    query = np.repeat(np.arange(len(sizes)), np.array(sizes) * redundancy)
    item = np.repeat(np.arange(sum(sizes)), redundancy)
    return query, item, np.tile(np.arange(redundancy), sum(sizes))


@pytest.mark.parametrize("at_once", [1, 10, 50])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hardly_a_slot_is_left_over(seed, at_once):
    """50 queries x 10 items x 3, participants with 30 items each, one after the other or interleaved."""
    assert left_over(seed, at_once, ranked=True) <= 5


def test_slots_in_file_order_would_strand_participants():
    """Without ranks, many slots remain whose query everybody left has seen."""
    assert left_over(1, 1, ranked=False) > 100


def left_over(seed, at_once, *, ranked):
    query, item, k = slots_of([10] * 50, 3)
    ranks = design.slot_ranks(query, item, k, seed) if ranked else np.arange(len(query))
    open_slots = [int(query[slot]) for slot in np.argsort(ranks)]
    rng = np.random.default_rng(seed)
    seen = [set() for _ in range(50)]
    for first in range(0, 50, at_once):
        turns = np.repeat(np.arange(first, first + at_once), 30)
        for person in rng.permutation(turns):
            at = next((at for at, each in enumerate(open_slots) if each not in seen[person]), None)
            if at is not None:
                seen[person].add(open_slots.pop(at))
    return len(open_slots)


@given(seed=SEEDS, participant=st.integers(1, 10**6), items=st.integers(1, 80), checks=st.integers(0, 12))
def test_checks_come_neither_first_nor_last(seed, participant, items, checks):
    positions = design.check_positions(seed, participant, items, checks)
    assert len(positions) == min(checks, items - 1)
    assert len(set(positions)) == len(positions), "never two on end"
    assert all(1 <= position <= items - 1 for position in positions)
    assert positions == design.check_positions(seed, participant, items, checks)


def test_checks_come_at_another_place_for_another_participant():
    places = {tuple(design.check_positions(1, participant, 30, 2)) for participant in range(40)}
    assert len(places) > 20


# --- more than two responses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 21))
def test_rows_are_orders_in_which_everything_is_even(n):
    """Each response in each place equally often, and each behind each other one equally often."""
    rows = design.presentation_rows(n)
    assert all(sorted(row) == list(range(n)) for row in rows)
    assert len(set(rows)) == len(rows) == design.n_orders(n)
    places = Counter((place, each) for row in rows for place, each in enumerate(row))
    assert set(places.values()) == {len(rows) // n}
    behind = Counter(pair for row in rows for pair in pairwise(row))
    assert len(behind) == n * (n - 1)
    assert set(behind.values()) <= {len(rows) // n}


@pytest.mark.parametrize("n", range(1, 21))
def test_first_places_go_round_the_rows(n):
    """So any rows in turn have them evenly."""
    firsts = [row[0] for row in design.presentation_rows(n)]
    assert firsts == [place % n for place in range(len(firsts))]


@given(n=st.integers(2, 8), members=st.integers(1, 40), redundancy=st.integers(1, 10), seed=SEEDS)
def test_first_places_are_even_in_a_stratum_of_any_size(n, members, redundancy, seed):
    starts = design.starting_orders(["a"] * members, seed, rows={"a": design.n_orders(n)})
    firsts = Counter({f"r{number}": 0 for number in range(1, n + 1)})
    for start in starts.tolist():
        orders = [design.slot_order(n, start, k, members) for k in range(redundancy)]
        assert all(
            sorted(order.split(",")) == [f"r{number}" for number in range(1, n + 1)] for order in orders
        )
        different = orders[: design.n_orders(n)]
        assert len(set(different)) == len(different), "an item's orders differ as long as there are others"
        firsts.update(order.split(",")[0] for order in orders)
    assert max(firsts.values()) - min(firsts.values()) <= 1


@given(start=st.integers(0, 9), k=st.integers(0, 9), members=st.integers(1, 40))
def test_where_there_is_nothing_to_order_there_is_one_order(start, k, members):
    assert design.slot_order(0, start, k, members) == ""
    assert design.slot_order(1, start, k, members) == "r1"
    assert [design.n_orders(n) for n in (0, 1, 2, 3, 4, 5)] == [1, 1, 2, 6, 4, 10]


@given(members=st.integers(1, 40), start=st.integers(0, 1), k=st.integers(0, 9))
def test_a_pair_alternates_whatever_its_stratum(members, start, k):
    assert design.slot_order(2, start, k, members) == design.presented_order(2, start + k)


# --- the same, dealt by a launch ------------------------------------------------------------------------------


def dealt(study):
    """The design fixed at launch, by the keys in an export."""
    return {
        (key, k): (order, rank)
        for key, k, order, rank in Slot.objects.filter(study=study).values_list(
            "item__key", "k", "order", "rank"
        )
    }


def test_the_same_study_is_dealt_the_same_whatever_its_ids(owner):
    """Keys that collations sort differently, written in another order, get the same orders and ranks."""
    keys = ["a", "B", "_c", "Ä", "b", "É", "z-1", "z 1", "10", "9"]
    studies = [with_keys(owner, "one", keys), with_keys(owner, "two", reversed(keys))]
    assert dealt(studies[0]) == dealt(studies[1])
    assert len({order for order, _ in dealt(studies[0]).values()}) == 2


def with_keys(owner, slug, keys):
    study = make_study(slug, owner=owner, queries=0, arms=PAPER_ARMS[:1], training=False, checks=0)
    systems = list(study.systems.all())
    for key in keys:
        query, context = make_query(study, key)
        make_item(study, query, context, study.arms.get(), systems, key=key)
    return launch(study)


def test_a_study_that_may_stop_fills_its_first_queries_first(owner):
    study = make_study("may-stop", owner=owner, queries=30, arms=PAPER_ARMS[:1], training=False, checks=0)
    study.stopping, study.items_per_participant = {"figure": "win_rate"}, 2
    study.save()
    launch(study)
    by_rank = list(Slot.objects.filter(study=study).order_by("rank").values_list("query__key", flat=True))
    keys = sorted(set(by_rank))
    in_order = [keys[place] for place in design.looks_order(keys, study.seed)]
    # Three times what one participant meets.
    assert set(by_rank[: 6 * study.redundancy]) == set(in_order[:6])
    assert len(by_rank) == 30 * study.redundancy


def test_another_seed_deals_other_orders_and_ranks(owner):
    one = make_crowd_study("one", owner=owner, queries=12, arms=PAPER_ARMS[:1], seed=1)
    two = make_crowd_study("two", owner=owner, queries=12, arms=PAPER_ARMS[:1], seed=2)
    assert dealt(one).keys() == dealt(two).keys()
    assert dealt(one) != dealt(two)
    starts = Item.objects.order_by("key").values_list("start_order", flat=True)
    assert list(starts.filter(study=one)) != list(starts.filter(study=two))


@pytest.mark.usefixtures("in_transaction")
def test_hardly_a_place_is_left_over_by_claiming(owner):
    """1,500 places and fifty participants with 30 items each, ten at a time."""
    study = make_crowd_study(
        "remainder", owner=owner, queries=50, arms=PAPER_ARMS[:1], systems=("a", "b", "c", "d", "e"),
        items_per_query=10, items_per_participant=30,
    )  # fmt: skip
    assert Slot.objects.count() == 1_500
    rng = random.Random(1)
    for group in range(5):
        people = [come(study, f"{group}-{number}") for number in range(10)]
        turns = people * 30
        rng.shuffle(turns)
        for person in turns:
            fill_and_claim(person)
    assert Slot.objects.exclude(state=SlotState.FILLED).count() <= 5


def fill_and_claim(participant):
    """The effect of a submit on slots, without the judgment."""
    held = Assignment.objects.filter(participant=participant, state=AssignmentState.RESERVED)
    done = Slot.objects.filter(holder__in=held).update(state=SlotState.FILLED, leased_until=None)
    held.update(state=AssignmentState.SUBMITTED)
    if done and Assignment.objects.filter(participant=participant).count() < 30:
        claim_slot(participant, timezone.now())
