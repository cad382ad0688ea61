import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.two_votes import two_votes_within
from analytics.statistics.agreement.two_ways import FEW_RATERS, NO_AGREEMENT, two_way_agreement
from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import MISSING
from tests.analytics.statistics.build import quick, spec


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


@quick
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
    alpha = krippendorff_alpha(counts, of_item, level="nominal", resample=spec())
    assert (found.alpha.over_queries.value, found.alpha.over_queries.low) == pytest.approx(
        (alpha.value, alpha.low)
    )


def test_over_both_leaves_out_raters_one_by_one():
    label, item, rater, query = study(3)
    found = two_ways(label, item, rater, query)

    def value(keep):
        return two_ways(label[keep], item[keep], rater[keep], query[keep]).pairwise.over_queries.value

    def variance(groups):
        values = np.array([value(groups != each) for each in np.unique(groups)])
        return (len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()

    of_queries, of_raters, of_cells = variance(query), variance(rater), variance(query * 100 + rater)
    slow = max(of_queries + of_raters - of_cells, of_queries, of_raters)
    both = found.pairwise.over_both
    p = both.value
    logit = np.log(both.high / (1 - both.high)) - np.log(both.low / (1 - both.low))
    # Student's t with 7 degrees of freedom, on the logit scale.
    assert (logit / 2 / 2.3646 * p * (1 - p)) ** 2 == pytest.approx(slow, rel=1e-3)
    assert found.raters == 8


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
    assert alone.pairwise.over_both.undefined == NO_AGREEMENT
    unlabelled = two_ways(
        np.array([0, MISSING]), np.zeros(2, dtype=int), np.arange(2), np.zeros(2, dtype=int)
    )
    assert unlabelled.pairwise.over_queries.value is None
    with pytest.raises(TidyDataError):
        two_way_agreement(
            np.zeros(2, dtype=int), np.zeros(3, dtype=int), *[np.zeros(2, dtype=int)] * 2, 3, resample=spec()
        )
