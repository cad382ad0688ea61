import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, TidyDataError
from analytics.statistics.variance.between_groups import NO_SYSTEM, ONE_VALUE, between_groups

# The weights of dried plants of a control and two treatments (Dobson 1983, Table 7.1; R's PlantGrowth).
PLANTS = [
    [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
]


def analysed(groups, **options):
    value = np.concatenate([np.asarray(group, dtype=float) for group in groups])
    system = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return between_groups(value, system, **options)


def test_the_published_plants():
    found = analysed(PLANTS)
    assert (found.df_between, found.df_within) == (2, 27)
    assert found.f == pytest.approx(4.846, abs=5e-4)
    assert found.p_value == pytest.approx(0.01591, abs=5e-6)
    # As TukeyHSD of R's documentation prints them.
    told = [(each.difference, each.low, each.high, each.p_value) for each in found.pairs]
    assert told == [
        pytest.approx((-0.371, -1.0622161, 0.3202161, 0.3908711), abs=1e-5),
        pytest.approx((0.494, -0.1972161, 1.1852161, 0.1979960), abs=1e-5),
        pytest.approx((0.865, 0.1737839, 1.5562161, 0.0120064), abs=1e-5),
    ]


def test_against_scipy_with_unequal_groups():
    rng = np.random.default_rng(2)
    groups = [rng.normal(shift, 1, n) for shift, n in ((0, 8), (0.5, 20), (1, 13), (0.2, 30))]
    found = analysed(groups, level=0.9)
    expected = scipy.stats.f_oneway(*groups)
    assert (found.f, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    tukey = scipy.stats.tukey_hsd(*groups)
    limits = tukey.confidence_interval(0.9)
    for each in found.pairs:
        at = each.system_2, each.system_1
        assert each.difference == pytest.approx(tukey.statistic[at])
        assert each.p_value == pytest.approx(tukey.pvalue[at], abs=1e-7)
        assert (each.low, each.high) == pytest.approx((limits.low[at], limits.high[at]), abs=1e-5)


@given(st.integers(0, 10_000), st.floats(-100, 100), st.floats(0.1, 10))
def test_shift_and_scale_do_not_matter(seed, shift, stretch):
    groups = np.random.default_rng(seed).normal(size=(3, 6))
    found, other = analysed(groups), analysed(groups * stretch + shift)
    assert other.f == pytest.approx(found.f, rel=1e-5)
    assert other.eta_squared == pytest.approx(found.eta_squared, rel=1e-5)
    assert 0 <= found.eta_squared <= 1
    assert other.pairs[0].difference == pytest.approx(stretch * found.pairs[0].difference, abs=1e-6)


def test_what_can_not_be_used_is_counted():
    value = np.array([1.0, 2.0, 3.0, 5.0, 9.0, 4.0])
    found = between_groups(value, np.array([0, 0, 2, 2, 3, -1]))
    assert (found.systems, found.counts, found.n) == ((0, 2), (2, 2), 4)
    assert found.left_out == (
        LeftOut(NO_SYSTEM.format(unit="ratings"), 1),
        LeftOut(ONE_VALUE.format(unit="ratings"), 1),
    )


def test_undefined_says_why():
    assert "two systems" in analysed([[1, 2, 3]]).undefined
    same = analysed([[2, 2], [3, 3]])
    assert (same.f, same.means) == (None, (2, 3))
    assert "no variance" in same.undefined
    assert analysed([[2, 2], [2, 2]]).undefined
    assert between_groups(np.zeros(0), np.zeros(0, dtype=int)).undefined
    with pytest.raises(TidyDataError, match="each value"):
        between_groups(np.zeros(2), np.zeros(3, dtype=int))
