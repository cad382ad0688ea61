import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.two_votes import two_votes_within
from analytics.statistics.agreement.two_ways import (
    FEW_RATERS,
    two_way_agreement,
    two_way_alpha,
    two_way_tau,
)
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import MISSING
from analytics.statistics.core.values import Values
from analytics.statistics.rankings.concordance import concordance
from analytics.statistics.rankings.ranks import Ranks, mid_ranks
from tests.analytics.statistics.build import spec


def study(seed, items=24, raters=8, lean=1.0):
    """Raters who lean towards a label more or less, and judge about two thirds of the items."""
    rng = np.random.default_rng(seed)
    item, rater = (each.ravel() for each in np.meshgrid(np.arange(items), np.arange(raters), indexing="ij"))
    own = rng.normal(size=raters) * lean
    label = (rng.normal(size=len(item)) + own[rater] + rng.normal(size=items)[item] > 0).astype(np.int64)
    some = rng.random(len(item)) < 0.7
    return label[some], item[some], rater[some], item[some] // 2


def two_ways(label, item, rater, query):
    return two_way_agreement(label, item, rater, query, 3, resample=spec())


@given(st.integers(0, 10_000))
def test_over_queries_they_are_the_usual_figures(seed):
    label, item, rater, query = study(seed)
    found = two_ways(label, item, rater, query)
    counts = count_matrix(item, label, 24, 3)
    of_item = np.arange(24) // 2
    votes = two_votes_within(counts, of_item, resample=spec()).with_ties
    one = found.pairwise.over_queries
    assert (one.value, one.low, one.high, one.n) == pytest.approx(
        (votes.value, votes.low, votes.high, votes.n)
    )
    assert found.alpha.over_queries.value == (
        krippendorff_alpha(counts, of_item, level="nominal", resample=spec()).value
    )


def variance(values):
    return (len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()


def slow_variance(value, query, rater):
    """Of a figure of the rows that are kept: queries, raters and their cells are left out one by one."""
    of_queries, of_raters, of_cells = (
        variance(np.array([value(groups != each) for each in np.unique(groups)]))
        for groups in (query, rater, query * 100 + rater)
    )
    return max(of_queries + of_raters - of_cells, of_queries, of_raters)


def test_over_both_leaves_out_raters_one_by_one():
    label, item, rater, query = study(3)
    found = two_ways(label, item, rater, query)

    def value(keep):
        return two_ways(label[keep], item[keep], rater[keep], query[keep]).pairwise.over_queries.value

    slow = slow_variance(value, query, rater)
    both = found.pairwise.over_both
    p = both.value
    logit = np.log(both.high / (1 - both.high)) - np.log(both.low / (1 - both.low))
    # Student's t with 7 degrees of freedom, on the logit scale.
    assert (logit / 2 / 2.3646 * p * (1 - p)) ** 2 == pytest.approx(slow, rel=1e-3)
    assert found.raters == 8


def ratings(seed, continuous=False, items=24, raters=8):
    """What raters say of two parts of an item each, most of them."""
    rng = np.random.default_rng(seed)
    unit, rater = (each.ravel() for each in np.meshgrid(np.arange(items), np.arange(raters), indexing="ij"))
    seen = rng.normal(size=items)[unit] + rng.normal(size=raters)[rater] + rng.normal(size=len(unit))
    value = np.round(3 + seen, 2) if continuous else np.clip(np.round(3 + seen), 1, 5)
    some = rng.random(len(unit)) < 0.7
    unit, rater, value = unit[some], rater[some], value[some]
    part = unit % 2
    return Values(
        unit=unit, query=unit // 4, system=part, part=part, item=unit // 2, rater=rater, value=value
    )


@pytest.mark.parametrize(
    ("level", "points", "continuous"),
    [
        ("nominal", (1.0, 2.0, 3.0, 4.0, 5.0), False),
        ("ordinal", (1.0, 2.0, 3.0, 4.0, 5.0), False),
        ("ordinal", (1.0, 2.0, 4.0, 5.0), False),
        ("interval", (0.0, 10.0), True),
        ("interval", None, True),
    ],
)
def test_alpha_at_each_level(level, points, continuous):
    values = ratings(4, continuous)

    def value(keep):
        return alpha_of_values(values.where(keep), level=level, points=points, resample=spec()).value

    found = two_way_alpha(values, level=level, points=points, resample=spec(), unit="responses")
    # One number has one interval, wherever it stands.
    assert found.over_queries == alpha_of_values(
        values, level=level, points=points, resample=spec(), unit="responses"
    )
    both = found.over_both
    assert (both.value, both.n, both.left_out) == (
        found.over_queries.value, found.over_queries.n, found.over_queries.left_out
    )  # fmt: skip
    # Student's t with 5 degrees of freedom, as there are six queries, on Fisher's z.
    error = (np.arctanh(both.high) - np.arctanh(both.low)) / 2 / 2.5706 * (1 - both.value**2)
    assert error**2 == pytest.approx(slow_variance(value, values.query, values.rater), rel=1e-3)


def test_alpha_above_the_queries_that_are_left_out_one_by_one():
    values = ratings(2, items=4 * 1200)
    terms = {"level": "ordinal", "points": (1.0, 2.0, 3.0, 4.0, 5.0), "resample": spec()}
    found = two_way_alpha(values, **terms)
    assert "groups" in found.over_queries.method
    assert found.over_queries == alpha_of_values(values, **terms)
    assert found.over_both.low < found.over_queries.low < found.over_queries.high < found.over_both.high


def rankings(seed, items=18, raters=6, responses=3):
    """Rankings with equals, some of raters who tell no response from another; the last item has two responses."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        worth = rng.normal(size=responses if item < items - 1 else 2)
        for rater in np.flatnonzero(rng.random(raters) < 0.8):
            score = np.round(worth + rng.normal(size=len(worth)) * (0.4 + 0.3 * rater))
            rank = mid_ranks(score, np.zeros(len(score), dtype=np.int64))
            rows += [(item * raters + rater, item, rater, at, place) for at, place in enumerate(rank)]
    judgment, item, rater, response, rank = np.array(rows).T
    whole = {"judgment": judgment, "item": item, "rater": rater, "response": response, "system": response}
    whole = {name: column.astype(np.int64) for name, column in whole.items()}
    return Ranks(**whole, query=whole["item"] // 3, rank=rank, place=np.full(len(rank), -1))


@pytest.mark.parametrize("seed", range(5))
def test_tau_of_rankings(seed):
    ranks = rankings(seed)

    def value(keep):
        return concordance(ranks.where(keep), resample=spec()).tau.value

    found = two_way_tau(ranks, resample=spec())
    assert found.over_queries == concordance(ranks, resample=spec()).tau
    both = found.over_both
    error = (both.high - both.low) / 2 / 2.5706
    assert error**2 == pytest.approx(slow_variance(value, ranks.query, ranks.rater), rel=1e-3)


def test_rankings_that_nobody_shares():
    ranks = rankings(1)
    alone = ranks.where(ranks.rater == 0)
    found = two_way_tau(alone, resample=spec())
    assert found.over_both == found.over_queries == concordance(alone, resample=spec()).tau


def test_raters_who_differ_widen_the_interval():
    label, item, rater, query = study(5, items=200, raters=8, lean=2.0)
    found = two_ways(label, item, rater, query).pairwise
    assert found.over_both.high - found.over_both.low > 2 * (found.over_queries.high - found.over_queries.low)
    assert "queries and 8 raters" in found.over_both.method


def test_few_raters_and_nothing_to_compare():
    label, item, rater, query = study(1, raters=3)
    few = two_ways(label, item, rater, query).pairwise.over_both
    assert (few.low, few.undefined) == (None, FEW_RATERS)
    alone = two_ways(np.zeros(3, dtype=int), np.arange(3), np.arange(3), np.arange(3))
    assert alone.pairwise.over_both.undefined == "There are only items with fewer than two votes."
    unlabelled = two_ways(
        np.array([0, MISSING]), np.zeros(2, dtype=int), np.arange(2), np.zeros(2, dtype=int)
    )
    assert unlabelled.pairwise.over_queries.value is None
    with pytest.raises(TidyDataError):
        two_way_agreement(
            np.zeros(2, dtype=int), np.zeros(3, dtype=int), *[np.zeros(2, dtype=int)] * 2, 3, resample=spec()
        )
