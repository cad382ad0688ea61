from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from analytics.statistics.agreement.kappa import FEW_SHARED, TOO_MANY_RATERS
from analytics.statistics.agreement.mean_kappa import ALL_SAME, PAIRS_OF_RATERS, mean_kappas
from analytics.statistics.core.estimates import (
    DuplicateJudgmentError,
    LeftOut,
    ParameterError,
    TidyDataError,
)
from tests.analytics.statistics.build import spec

WEIGHTS = ("nominal", "linear", "quadratic")


def kappas(table, points=None, weights=WEIGHTS, query=None, **options):
    """Of a table by unit and rater of codes, -1 where there is none."""
    table = np.array(table)
    unit, rater = np.nonzero(table >= -1)
    of_unit = np.arange(len(table)) if query is None else np.array(query)
    points = range(int(table.max()) + 1) if points is None else points
    return mean_kappas(
        unit, rater, table[unit, rater], of_unit[unit], points, weights, resample=spec(), **options
    )


def values_of(found):
    return [each.value for each in found.kappas]


def test_published_example():
    # Fleiss, Levin and Paik (2003), Table 18.1: 100 cases in three categories; observed agreement .89, by chance .66,
    # kappa .68.
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    rows = [(i, j) for i in range(3) for j in range(3) for _ in range(table[i][j])]
    found = kappas(rows, weights=("nominal",))
    assert found.agreement.value == pytest.approx(0.89)
    assert found.kappas[0].value == pytest.approx(0.676, abs=5e-4)
    assert found.kappas[0].unit == PAIRS_OF_RATERS


def test_against_scikit_learn_pair_by_pair():
    rng = np.random.default_rng(4)
    true = rng.integers(0, 5, 80)
    table = np.stack([np.where(rng.random(80) < 0.5, true, rng.integers(0, 5, 80)) for _ in range(4)], 1)
    found = kappas(table, points=(1, 2, 3, 4, 5))
    for at, weights in enumerate((None, "linear", "quadratic")):
        each = [
            cohen_kappa_score(table[:, i], table[:, j], labels=range(5), weights=weights)
            for i, j in combinations(range(4), 2)
        ]
        assert [pair.kappas[at].value for pair in found.pairs] == pytest.approx(each)
        assert found.kappas[at].value == pytest.approx(np.mean(each))
        assert found.kappas[at].n == 6
    assert found.kappas[2].low < found.kappas[2].value < found.kappas[2].high


def test_the_interval_is_the_jackknife_of_the_mean():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 3, (40, 3))
    query = np.arange(40) // 2
    found = kappas(table, query=query, weights=("quadratic",)).kappas[0]
    without = np.array(
        [
            kappas(table[query != each], query=query[query != each], points=range(3), weights=("quadratic",))
            .kappas[0]
            .value
            for each in range(20)
        ]
    )
    error = np.sqrt(19 / 20 * ((without - without.mean()) ** 2).sum())
    # On the scale of Fisher's z the half-width is that of t with 19 degrees of freedom.
    half = (np.arctanh(found.high) - np.arctanh(found.low)) / 2
    assert half == pytest.approx(2.093 * error / (1 - found.value**2), rel=1e-3)


@given(st.integers(0, 10_000))
def test_the_order_of_raters_and_the_step_of_the_scale_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 4, (15, 3))
    found = kappas(table, points=(0, 1, 2, 3))
    other = kappas(table[:, ::-1], points=(-2, 1, 4, 7))
    assert values_of(other) == pytest.approx(values_of(found))
    assert all(-1 - 1e-9 <= value <= 1 for value in values_of(found))


def test_steps_that_differ_weigh_by_distance():
    # The two of them differ by the short step only.
    rows = [(0, 1), (1, 0), (2, 2), (2, 2)] * 5
    near, even = kappas(rows, points=(0, 1, 10)), kappas(rows, points=(0, 1, 2))
    assert near.kappas[1].value > even.kappas[1].value
    assert near.kappas[0].value == even.kappas[0].value


def test_what_is_not_compared_is_counted():
    table = np.full((30, 4), -1)
    table[:, 0] = np.arange(30) % 3
    table[:, 1] = np.arange(30) % 2
    table[:9, 2] = 1
    table[:5, 3] = 1
    found = kappas(table, weights=("nominal",), max_raters=3)
    assert found.kappas[0].left_out == (LeftOut(FEW_SHARED, 2), LeftOut(TOO_MANY_RATERS, 3))
    assert [(pair.rater_1, pair.rater_2) for pair in found.pairs] == [(0, 1)]


def test_undefined_says_why():
    same = kappas(np.zeros((12, 2), dtype=int))
    assert same.agreement.value == 1
    assert values_of(same) == [None] * 3
    assert same.kappas[0].left_out == (LeftOut(ALL_SAME, 1),)
    assert "share 10 items" in same.kappas[0].undefined
    assert kappas([[0, 1]]).agreement.undefined


def test_bad_input_is_refused():
    zeros = np.zeros(2, dtype=int)
    with pytest.raises(DuplicateJudgmentError, match="twice"):
        mean_kappas(zeros, zeros, zeros, zeros, (0, 1), WEIGHTS, resample=spec())
    with pytest.raises(TidyDataError, match="every row"):
        mean_kappas(zeros, zeros[:1], zeros, zeros, (0, 1), WEIGHTS, resample=spec())
    with pytest.raises(ParameterError, match="weights"):
        kappas([[0, 1]], weights=())
