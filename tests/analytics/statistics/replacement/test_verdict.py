from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from analytics.statistics.core import randomization
from analytics.statistics.core.estimates import Estimate, ParameterError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.replacement.verdict import (
    LEAST_QUERIES,
    above_by_score,
    claim_of,
    counted_biases,
    fits_with_people,
    held_back,
    judge_parts,
)
from tests.analytics.statistics.build import spec
from tests.analytics.statistics.replacement.test_alternative_annotator import beside


def parts_of(table, judge, *, epsilon=0.1, category=None, names=("",), query=None):
    fits = fits_with_people(beside(table, judge, query), width=None)
    category = np.zeros(len(fits), dtype=np.int64) if category is None else np.asarray(category)
    return judge_parts(
        fits,
        category,
        names,
        epsilon=epsilon,
        unit="items",
        resample=spec(),
        tests=Randomization(3),
    )


def slow(table, judge, width):
    """Fits of the judge and of people, unit by unit and person by person."""

    def fit(value, others):
        if width is None:
            return np.mean([value == other for other in others])
        return 1 - abs(value - np.mean(others)) / width

    rows = []
    for of_unit, said in zip(table, judge, strict=True):
        given_ = [each for each in of_unit if np.isfinite(each)]
        if len(given_) < 2 or not np.isfinite(said):
            continue
        others = [given_[:at] + given_[at + 1 :] for at in range(len(given_))]
        rows.append(
            (
                np.mean([fit(said, each) for each in others]),
                np.mean([fit(own, each) for own, each in zip(given_, others, strict=True)]),
            )
        )
    return np.array(rows)


def some(seed, n=40, raters=4, labels=3):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, labels, (n, raters)).astype(float)
    table[rng.random(table.shape) < 0.2] = np.nan
    judge = rng.integers(0, labels, n).astype(float)
    judge[rng.random(n) < 0.1] = np.nan
    return table, judge


@pytest.mark.parametrize("width", [None, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_fits_one_by_one(width, seed):
    table, judge = some(seed)
    found = fits_with_people(beside(table, judge), width=width)
    assert np.allclose(np.stack([found.judge, found.person], axis=1), slow(table, judge, width))


def test_a_scale_has_a_width():
    with pytest.raises(ParameterError, match="width"):
        fits_with_people(beside([[1, 2]], [1]), width=0.0)


def test_by_hand():
    found = fits_with_people(beside([[0, 0, 1], [1, 1, 1]], [0, 0]), width=None)
    # Of the first item: against each left out, half, half and all of the others; people fit half, half and none.
    assert found.judge == pytest.approx([2 / 3, 0])
    assert found.person == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize(("n", "ones"), [(30, 3), (80, 10), (200, 150)])
def test_of_two_values_it_is_the_score_test_of_a_share(n, ones):
    """One value more, the lower one, is in the sample; the variance is that of the hypothesis."""
    least = -0.25
    values = np.array([1 + least] * ones + [least] * (n - ones))
    # A mean of zero is a share of `-least` ones.
    z = (ones / (n + 1) + least) / np.sqrt(-least * (1 + least) / (n + 1))
    expected = 1.0 if z <= 0 else norm.sf(z)
    assert above_by_score(values, np.arange(n), least) == pytest.approx(expected, rel=1e-6)


@given(st.lists(st.floats(-0.9, 1.1), min_size=2, max_size=40), st.floats(0, 0.5))
def test_larger_values_are_more_certain(values, more):
    values = np.array(values)
    query = np.arange(len(values))
    p = above_by_score(values, query, -0.9)
    assert 0 <= p <= 1
    assert above_by_score(values + more, query, -0.9) <= p + 1e-9


def test_queries_are_what_counts():
    values = np.tile([0.3, -0.2, 0.4, 0.1], 10)
    alone, together = np.arange(40), np.arange(40) // 2
    assert above_by_score(values, together, -0.9) != above_by_score(values, alone, -0.9)
    order = np.random.default_rng(1).permutation(40)
    assert above_by_score(values[order], alone[order], -0.9) == pytest.approx(
        above_by_score(values, alone, -0.9)
    )


def test_a_judge_like_people_replaces_and_a_coin_does_not():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 150)
    table = np.where(rng.random((150, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    (like,) = parts_of(table, truth)
    assert like.claim == "replaces"
    assert like.difference.value > 0
    (coin,) = parts_of(table, rng.integers(0, 2, 150))
    assert coin.claim == "unsupported"


def test_a_constant_judge_says_nothing_however_well_it_fits():
    """Where nearly all people give one label, so does the judge; it helps nobody."""
    rng = np.random.default_rng(6)
    table = (rng.random((150, 3)) < 0.05).astype(int)
    (constant,) = parts_of(table, np.zeros(150))
    assert constant.p_replaces < 0.001
    assert constant.claim == "unsupported"


def test_parts_are_corrected_for_their_number_and_small_ones_are_none():
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 100)
    table = np.where(rng.random((100, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    category = np.array([0] * 60 + [1] * 40)
    whole, large, other = parts_of(table, truth, category=category, names=("a", "b"))
    (alone,) = parts_of(table, truth)
    assert whole.p_replaces == pytest.approx(min(1, 3 * alone.p_replaces))
    assert [large.part, other.part] == ["a", "b"]
    small = np.array([0] * 80 + [1] * 20)
    whole, _, few = parts_of(table, truth, category=small, names=("a", "b"))
    assert whole.p_replaces == pytest.approx(min(1, 2 * alone.p_replaces))
    assert (few.claim, few.p_helps, few.queries) == (None, None, 20)
    assert few.queries < LEAST_QUERIES


def test_the_stronger_claim_needs_the_weaker():
    assert claim_of(0.2, 0.001) == "unsupported"
    assert claim_of(0.01, 0.2) == "helps"
    assert claim_of(0.01, 0.01) == "replaces"


def test_epsilon_is_a_share():
    with pytest.raises(ParameterError, match="Epsilon"):
        parts_of([[0, 0]], [0], epsilon=1.5)


def estimate(value):
    return Estimate(value, None, None, 50, "items")


def test_only_a_bias_that_is_supported_and_large_counts():
    found = counted_biases(
        [
            ("position", estimate(0.3), randomization.Tested(0.001, 50, "", 0.0)),
            ("length", estimate(0.05), randomization.Tested(0.001, 50, "", 0.0)),
            ("source", estimate(0.5), None),
        ],
        0.1,
    )
    assert [(each.kind, each.counts, each.p_corrected) for each in found] == [
        ("position", True, 0.002),
        ("length", False, 0.002),
    ]
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 150)
    parts = parts_of(np.repeat(truth[:, None], 3, axis=1), truth)
    assert held_back(parts, found[1:]) == parts
    assert held_back(parts, found) == (replace(parts[0], claim="helps"),)
