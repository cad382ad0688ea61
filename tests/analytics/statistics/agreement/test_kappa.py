import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from analytics.statistics.agreement.kappa import FEW_SHARED, TOO_MANY_RATERS
from analytics.statistics.agreement.kappa import cohen_kappa as kappa_over_queries
from analytics.statistics.agreement.kappa import pairwise_kappa as kappas_over_queries
from analytics.statistics.core.estimates import (
    DuplicateJudgmentError,
    LeftOut,
    ParameterError,
    TidyDataError,
)
from tests.analytics.statistics.build import make_judgments, spec
from tests.published import published_data


def cohen_kappa(one, other, **options):
    """Every item is of a query of its own."""
    return kappa_over_queries(one, other, np.arange(len(one)), **options)


def pairwise_kappa(judgments, **options):
    return kappas_over_queries(judgments, np.arange(int(judgments.item.max()) + 1), **options)


def labels_of(table):
    cells = [
        (row, column)
        for row, column in product(range(len(table)), repeat=2)
        for _ in range(table[row][column])
    ]
    return (np.array(column) for column in zip(*cells, strict=True))


def test_published_example() -> None:
    # Artstein and Poesio, "Inter-Coder Agreement for Computational Linguistics" (2008), Table 1 and
    # section 2.3: 100 items, kappa (.7 - .54) / (1 - .54) = .348.
    one, other = labels_of([[20, 20], [10, 50]])
    estimate = cohen_kappa(one, other, n_labels=2, resample=spec())
    assert estimate.value == pytest.approx(0.348, abs=5e-4)
    assert estimate.n == 100
    assert estimate.low < estimate.value < estimate.high
    assert "100 queries" in estimate.method


def test_published_weights() -> None:
    # Two dermatologists on 88 patients, from the documentation of SAS's PROC FREQ ("Agreement Study"): kappa .3449, and
    # .5082 where the weights are linear.
    one, other = labels_of([[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]])
    nominal, linear = (
        cohen_kappa(one, other, n_labels=4, weights=weights, resample=spec()).value
        for weights in ("nominal", "linear")
    )
    assert (nominal, linear) == (pytest.approx(0.3449, abs=5e-5), pytest.approx(0.5082, abs=5e-5))


def test_pandalm() -> None:
    # The data's authors give 0.85, 0.88 and 0.86 (WeOpenML/PandaLM, README).
    rows = json.loads(published_data("pandalm/testset-v1.json").read_text())
    judgments = make_judgments([[row[f"annotator{k}"] for k in (1, 2, 3)] for row in rows])
    result = pairwise_kappa(judgments, resample=spec())
    values = {(pair.rater_1, pair.rater_2): round(pair.kappa.value, 2) for pair in result.pairs}
    assert values == {
        ("rater-0", "rater-1"): 0.85,
        ("rater-0", "rater-2"): 0.88,
        ("rater-1", "rater-2"): 0.86,
    }
    assert all(pair.kappa.n == 999 for pair in result.pairs)
    assert result.left_out == ()


@pytest.mark.parametrize(
    ("weights", "wt"), [("nominal", None), ("linear", "linear"), ("quadratic", "quadratic")]
)
def test_against_statsmodels(weights, wt) -> None:
    rng = np.random.default_rng(3)
    one = rng.integers(0, 4, 300)
    other = np.where(rng.random(300) < 0.5, one, rng.integers(0, 4, 300))
    table = np.zeros((4, 4))
    np.add.at(table, (one, other), 1)
    estimate = cohen_kappa(one, other, n_labels=4, resample=spec(1000), weights=weights)
    reference = cohens_kappa(table, wt=wt)
    assert estimate.value == pytest.approx(reference.kappa)
    # The jackknife's interval is about that of the large-sample formula.
    assert (estimate.low, estimate.high) == pytest.approx(
        (reference.kappa_low, reference.kappa_upp), abs=0.02
    )


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=30),
    st.permutations(range(3)),
)
def test_what_kappa_does_not_depend_on(pairs, order) -> None:
    one, other = np.array(pairs).T
    estimate = cohen_kappa(one, other, n_labels=3, resample=spec(0))
    assume(estimate.value is not None)
    assert -1 - 1e-12 <= estimate.value <= 1
    assert cohen_kappa(other, one, n_labels=3, resample=spec(0)).value == pytest.approx(estimate.value)
    renamed = np.array([*order, -1])
    again = cohen_kappa(renamed[one], renamed[other], n_labels=3, resample=spec(0))
    assert again.value == pytest.approx(estimate.value)


def test_undefined_says_why() -> None:
    same = np.zeros(5, dtype=int)
    assert "the same label throughout" in cohen_kappa(same, same, n_labels=3, resample=spec()).undefined
    nothing = cohen_kappa(same, same - 1, n_labels=3, resample=spec())
    assert "no item in common" in nothing.undefined
    assert nothing.n_left_out == 5


def test_pairs_that_are_not_compared_are_counted() -> None:
    # Raters 0 and 1 share twelve items, rater 2 is on three of them; a fourth rater is on one.
    labels = [[0, 1, 2, 0]] + [[0, 0, 1]] * 2 + [[k % 2, k % 3] for k in range(9)]
    judgments = make_judgments(labels)
    result = pairwise_kappa(judgments, resample=spec(), max_raters=3)
    assert [(pair.rater_1, pair.rater_2) for pair in result.pairs] == [("rater-0", "rater-1")]
    assert result.left_out == (LeftOut(FEW_SHARED, 2), LeftOut(TOO_MANY_RATERS, 3))


def test_a_rater_judges_an_item_once() -> None:
    judgments = make_judgments([[0, 1], [1, 1]])
    with pytest.raises(DuplicateJudgmentError):
        pairwise_kappa(replace(judgments, item=np.zeros(4, dtype=int)), resample=spec())


def test_parameters_are_checked() -> None:
    with pytest.raises(TidyDataError, match="between 0 and 1"):
        cohen_kappa(np.array([0, 2]), np.array([0, 1]), n_labels=2, resample=spec())
    with pytest.raises(TidyDataError, match="every item"):
        cohen_kappa(np.array([0, 2]), np.array([0]), n_labels=2, resample=spec())
    with pytest.raises(TidyDataError, match="every item"):
        kappa_over_queries(np.array([0, 1]), np.array([0, 1]), np.array([0]), n_labels=2, resample=spec())
    with pytest.raises(ParameterError, match="cubic"):
        cohen_kappa(np.array([0]), np.array([0]), n_labels=2, resample=spec(), weights="cubic")


def test_the_items_of_a_query_do_not_narrow_the_interval() -> None:
    rng = np.random.default_rng(6)
    one = rng.integers(0, 3, 40)
    other = np.where(rng.random(40) < 0.6, one, rng.integers(0, 3, 40))
    once = cohen_kappa(one, other, n_labels=3, resample=spec())
    query = np.repeat(np.arange(40), 9)
    ninefold = kappa_over_queries(np.repeat(one, 9), np.repeat(other, 9), query, n_labels=3, resample=spec())
    assert (ninefold.low, ninefold.high) == pytest.approx((once.low, once.high))
    judgments = make_judgments(
        [list(pair) for pair in zip(np.repeat(one, 9), np.repeat(other, 9), strict=True)]
    )
    (pair,) = kappas_over_queries(judgments, query, resample=spec()).pairs
    assert (pair.kappa.low, pair.kappa.high) == pytest.approx((once.low, once.high))
