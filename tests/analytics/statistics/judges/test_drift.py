"""A judge's drift: the agreement of a later pass with the first against the second's."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.randomization import Randomization
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.judges.drift import drift, drift_of_numbers, self_agreement
from benchmarks.drift_errors import numbers_are_said_to_have_drifted

QUICK = ResampleSpec(1, replicates=0)
TESTS = Randomization(1)


def codes(text):
    """Labels as letters: a, b, t, and - for none."""
    return np.array(["abt".find(each) for each in text], dtype=np.int64)


def test_agreement_with_the_first_pass_by_hand():
    found = self_agreement(codes("aabbt-"), codes("aabab-"), np.arange(6), resample=QUICK)
    assert (found.value, found.n, found.left_out) == (0.6, 5, ())
    found = self_agreement(codes("aa-b"), codes("ab-a".replace("a", "-", 1)), np.arange(4), resample=QUICK)
    assert (found.value, found.n, [part.n for part in found.left_out]) == (0.0, 2, [1])


def test_a_drift_by_hand():
    first, second, later = codes("aaaaaaaaaa"), codes("aaaaaaaaab"), codes("abbbbbbbbb")
    found = drift(first, second, later, np.arange(10), resample=QUICK, tests=TESTS)
    # Eight queries changed from agreeing to not, one disagreed both times, one agreed both times.
    assert found.difference.value == pytest.approx(-0.8)
    assert found.test.p_value == pytest.approx(2 / 2**8)
    assert found.test.method.endswith("exact")


def test_a_drift_of_numbers_by_hand():
    none = np.nan
    first, second = np.array([1.0, 2, 3, 4, 5, none]), np.array([1.0, 3, 3, 4, none, 5])
    later = np.array([2.0, 2, 5, 4, 5, 5])
    found = drift_of_numbers(first, second, later, np.arange(6), resample=QUICK, tests=TESTS)
    # Further by 1, nearer by 1, further by 2, and as near; the last two are not in all passes.
    assert (found.difference.value, found.difference.n) == (0.5, 4)
    assert [part.n for part in found.difference.left_out] == [1]
    # Of the eight ways to exchange passes in three queries, the sum is 2 or more in three; twice that.
    assert found.test.p_value == pytest.approx(2 * 3 / 8)
    back = drift_of_numbers(first, later, second, np.arange(6), resample=QUICK, tests=TESTS)
    assert back.difference.value == -0.5


def test_false_claims_of_drifted_numbers_are_as_rare_as_stated():
    rng = np.random.default_rng(11)
    n = 500
    hits = sum(numbers_are_said_to_have_drifted(rng, 20, 2, 0.15, 0.0) for _ in range(n))
    assert hits / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert sum(numbers_are_said_to_have_drifted(rng, 20, 2, 0.15, 0.6) for _ in range(50)) > 40


def test_nothing_is_said_of_passes_without_a_common_item():
    found = drift(codes("aa--"), codes("--aa"), codes("aaaa"), np.arange(4), resample=QUICK, tests=TESTS)
    assert (found.difference.value, found.test) == (None, None)
    assert found.difference.undefined
    with pytest.raises(TidyDataError):
        drift(codes("aa"), codes("a"), codes("aa"), np.arange(2), resample=QUICK, tests=TESTS)


def slow(first, second, later, query):
    """Of labels; -1 is none."""
    used = [n for n in range(len(first)) if min(first[n], second[n], later[n]) >= 0]
    return slow_test({n: int(later[n] == first[n]) - int(second[n] == first[n]) for n in used}, query)


def slow_test(gaps, query):
    """All ways to exchange the second and the later pass, query by query, of what changed in each row."""
    groups = sorted({query[n] for n in gaps})
    sums = [sum(gap for n, gap in gaps.items() if query[n] == each) for each in groups]
    observed = sum(sums)
    all_sums = [
        sum(sign * each for sign, each in zip(signs, sums, strict=True))
        for signs in product((1, -1), repeat=len(sums))
    ]
    # Two-sided as twice the tail on the side that was observed.
    tail = sum(each >= abs(observed) for each in all_sums) / len(all_sums)
    return min(1.0, 2 * tail)


@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(-1, 2), st.integers(0, 6)), min_size=1
    )
)
def test_the_test_exchanges_two_passes_query_by_query(rows):
    first, second, later, query = (np.array(each, dtype=np.int64) for each in zip(*rows, strict=True))
    found = drift(first, second, later, query, resample=QUICK, tests=TESTS)
    if found.test is None:
        assert all(min(row[:3]) < 0 for row in rows)
    else:
        assert found.test.p_value == pytest.approx(slow(first, second, later, query))
        back = drift(first, later, second, query, resample=QUICK, tests=TESTS)
        assert back.difference.value == pytest.approx(-found.difference.value)
        assert back.test.p_value == pytest.approx(found.test.p_value)


numbers = st.one_of(st.integers(1, 5).map(float), st.just(np.nan))


@given(st.lists(st.tuples(numbers, numbers, numbers, st.integers(0, 6)), min_size=1, max_size=30))
def test_of_numbers_it_exchanges_two_passes_too(rows):
    first, second, later, query = (np.array(each) for each in zip(*rows, strict=True))
    gaps = {
        n: abs(row[2] - row[0]) - abs(row[1] - row[0]) for n, row in enumerate(rows) if not np.isnan(sum(row))
    }
    found = drift_of_numbers(first, second, later, query, resample=QUICK, tests=TESTS)
    n_first = sum(not np.isnan(each) for each in first)
    assert (found.difference.n, found.difference.n_left_out) == (len(gaps), n_first - len(gaps))
    if not gaps:
        assert (found.difference.value, found.test) == (None, None)
        return
    assert found.difference.value == pytest.approx(sum(gaps.values()) / len(gaps))
    assert found.test.p_value == pytest.approx(slow_test(gaps, query))
    # Numbers that all move alike are as far apart as before; with the passes exchanged the sign turns.
    moved = drift_of_numbers(first + 1, second + 1, later + 1, query, resample=QUICK, tests=TESTS)
    assert moved == found
    back = drift_of_numbers(first, later, second, query, resample=QUICK, tests=TESTS)
    assert back.difference.value == pytest.approx(-found.difference.value)


def passes(rng, queries, noise, moved):
    """Three passes over two dependent items a query: each answer is noisy, and a share of queries has moved by the
    last."""
    truth = np.repeat(rng.integers(0, 2, queries), 2)
    flips = rng.random((3, 2 * queries)) < np.repeat(rng.beta(1, 1 / noise - 1, queries), 2)
    shift = np.repeat(rng.random(queries) < moved, 2)
    labels = truth ^ flips
    labels[2] ^= shift
    return labels[0], labels[1], labels[2], np.repeat(np.arange(queries), 2)


def test_false_claims_are_as_rare_as_stated_and_a_change_is_found():
    rng = np.random.default_rng(7)
    quick = Randomization(3)

    def claims(moved, studies):
        found = [drift(*passes(rng, 18, 0.15, moved), resample=QUICK, tests=quick) for _ in range(studies)]
        return np.mean([each.test.p_value < 0.05 and each.difference.value < 0 for each in found])

    # One side of a two-sided test at 5 %, and three standard errors of the simulation.
    assert claims(0.0, 600) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 600)
    assert claims(0.9, 100) > 0.6
