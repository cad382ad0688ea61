from itertools import combinations, product

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from analytics.display.numbers import p_value
from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.randomization import Randomization, holm, sign_flip, two_sample

# Heights of crossed less self-fertilized maize, in eighths of an inch (Darwin 1876, table XCVII), which Fisher (The
# Design of Experiments, 1935, section 21) tested so: 863 of 32,768 sums are not below 314.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
SPEC = Randomization(5)
values = st.lists(st.sampled_from([-1, -0.5, 0, 1 / 3, 0.5, 2 / 3, 1]), min_size=1, max_size=9)
unlike = st.lists(st.floats(-5, 5).map(lambda value: round(value, 3)), min_size=1, max_size=9)


def flip(numbers, spec=SPEC):
    return sign_flip(np.array(numbers, dtype=float), np.arange(len(numbers)), spec)


def every_sum(numbers):
    return [sum(sign * each for sign, each in zip(signs, numbers, strict=True))
            for signs in product((1, -1), repeat=len(numbers))]  # fmt: skip


def welch(one, other):
    if np.ptp([*one, *other]) == 0 or abs(np.mean(one) - np.mean(other)) < 1e-9:
        return 0.0
    error = sum(np.var(each, ddof=1) / len(each) if len(each) > 1 else 0.0 for each in (one, other))
    return abs(np.mean(one) - np.mean(other)) / np.sqrt(error) if error > 1e-12 else np.inf


def every_split(one, other):
    pooled = [*one, *other]
    for chosen in combinations(range(len(pooled)), len(one)):
        rest = [pooled[at] for at in range(len(pooled)) if at not in chosen]
        yield [pooled[at] for at in chosen], rest


def test_fishers_test_of_darwins_maize() -> None:
    found = flip(DARWIN)
    assert found.one_sided(1) == pytest.approx(863 / 2**15)
    assert found.p_value == pytest.approx(2 * 863 / 2**15)
    assert found.one_sided(-1) > 0.97
    assert (found.n, found.method) == (15, "sign-flip over queries, exact")


@given(st.one_of(values, unlike))
def test_sign_flips_against_all_of_them(numbers) -> None:
    total, sums = sum(numbers), np.array(every_sum(numbers))
    found = flip(numbers)
    assert found.p_value == pytest.approx(np.mean(np.abs(sums) >= abs(total) - 1e-7))
    if total > 1e-7:
        assert found.one_sided(1) == pytest.approx(np.mean(sums >= total - 1e-7))
        assert found.one_sided(-1) == pytest.approx(np.mean(sums <= total + 1e-7))


@given(values, st.sampled_from([0.01, 0.05, 0.2]))
def test_a_level_is_held_over_all_signs(numbers, level) -> None:
    rejected = [
        flip([sign * each for sign, each in zip(signs, numbers, strict=True)]).one_sided(1) <= level
        for signs in product((1, -1), repeat=len(numbers))
    ]
    assert np.mean(rejected) <= level


def test_rows_of_a_query_keep_one_sign() -> None:
    rows, query = np.array([1.0, -0.25, 0.5, 0.5]), np.array([7, 7, 2, 3])
    assert sign_flip(rows, query, SPEC) == flip([0.75, 0.5, 0.5])


def test_the_order_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    numbers, query = rng.normal(0.1, 1, 300), rng.integers(0, 90, 300)
    order = rng.permutation(300)
    names = rng.permutation(90)
    assert sign_flip(numbers, query, SPEC) == sign_flip(numbers[order], names[query[order]], SPEC)
    assert two_sample(numbers[:40], numbers[40:90], SPEC) == two_sample(
        numbers[:40][::-1], numbers[40:90][::-1], SPEC
    )


def test_queries_that_all_say_the_same_have_a_p() -> None:
    assert flip([1] * 10).p_value == pytest.approx(2 / 2**10)
    assert flip([1] * 5_000).p_value == pytest.approx(0, abs=1e-300)
    assert flip([0] * 10).p_value == 1
    assert flip([]).p_value == 1


@pytest.mark.parametrize("kinds", [4, 400])
def test_draws_come_close_to_the_normal_limit(kinds) -> None:
    """By patterns where queries are alike, one by one where each is a kind of its own."""
    rng = np.random.default_rng(kinds)
    size = np.abs(rng.normal(0, 1, kinds))
    numbers = rng.choice(size, 2_000) * rng.choice([1, -1], 2_000, p=[0.52, 0.48])
    found = flip(numbers, Randomization(1, level=0.001))
    expected = 2 * scipy.stats.norm.sf(abs(numbers.sum()) / np.sqrt((numbers**2).sum()))
    assert 0.001 < expected < 0.9
    assert found.p_value == pytest.approx(expected, rel=0.2)
    assert found.method.endswith("draws")


def test_a_small_level_has_draws_enough_to_be_reached() -> None:
    numbers = np.random.default_rng(8).uniform(0.5, 1, 60)
    assert flip(numbers, Randomization(1, level=0.05)).p_value == pytest.approx(2 / 10_001)
    assert flip(numbers, Randomization(1, level=0.05 / 108)).p_value < 0.05 / 108 / 40


def test_drawing_ends_where_a_p_is_large() -> None:
    numbers = np.random.default_rng(8).normal(0, 1, 60)
    found = flip(numbers, Randomization(1, level=1e-6))
    assert found.p_value > 0.05
    assert int(found.method.split()[-2].replace(",", "")) < 20_000


@given(
    st.one_of(values, unlike).filter(lambda each: len(each) < 5),
    st.one_of(values, unlike).map(lambda each: each[:5]),
)
def test_permutations_against_all_of_them(one, other) -> None:
    observed = welch(one, other)
    extreme = [welch(*split) >= observed * (1 - 1e-7) for split in every_split(one, other)]
    found = two_sample(np.array(one), np.array(other), SPEC)
    assert found.p_value == pytest.approx(np.mean(extreme), abs=1e-9)
    assert found.n == len(one) + len(other)
    assert two_sample(np.array(other), np.array(one), SPEC).p_value == pytest.approx(found.p_value)


def test_permutations_come_close_to_welchs_test() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.normal(0, 1, 300), rng.normal(0.3, 2, 120)
    found = two_sample(one, other, Randomization(1))
    assert found.p_value == pytest.approx(scipy.stats.ttest_ind(one, other, equal_var=False).pvalue, rel=0.2)
    assert found.method.endswith("draws")


def test_two_samples_without_spread() -> None:
    assert two_sample(np.ones(12), np.zeros(10), SPEC).p_value == pytest.approx(
        1 / scipy.special.comb(22, 10)
    )
    assert two_sample(np.ones(12), np.ones(10), SPEC).p_value == 1


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_against_its_definition(p_values) -> None:
    """A hypothesis falls at a level if it and all below it do, each at the level over those not yet fallen."""
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.3):
        fallen = set()
        for at in sorted(range(len(p_values)), key=lambda at: p_values[at]):
            if p_values[at] * (len(p_values) - len(fallen)) > level:
                break
            fallen.add(at)
        assert {at for at, p in enumerate(corrected) if p <= level} == fallen


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=10))
def test_holm_with_least_p_values_against_its_definition(pairs) -> None:
    """A hypothesis falls at a level if its p-value, times those not yet fallen that could have had it, is below."""
    tests = [(max(one, other), min(one, other)) for one, other in pairs]
    corrected = holm([p for p, _ in tests], [least for _, least in tests])
    without = holm([p for p, _ in tests])
    assert all(p <= each <= most for (p, _), each, most in zip(tests, corrected, without, strict=True))
    left, raised = sorted(range(len(tests)), key=lambda at: tests[at][0]), 0.0
    while left:
        p = tests[left[0]][0]
        raised = max(raised, min(1.0, p * sum(tests[at][1] <= p * (1 + 1e-9) for at in left)))
        assert corrected[left.pop(0)] == pytest.approx(raised)


def test_the_least_p_value_is_reached_where_all_queries_agree() -> None:
    for n in (5, 25):
        found = sign_flip(np.ones(n), np.arange(n), SPEC).two_sided
        assert found.least == 2 / 2**n
    assert sign_flip(np.ones(5), np.arange(5), SPEC).two_sided.p_value == 2 / 2**5
    # Queries that differ by nothing can't be told apart from chance.
    assert sign_flip(np.array([1.0, 0, 0, 1]), np.arange(4), SPEC).two_sided.least == 0.5
    apart = two_sample(np.ones(4), np.zeros(4), SPEC)
    assert apart.p_value == apart.least == pytest.approx(2 / scipy.special.comb(8, 4))


def test_holm_against_statsmodels() -> None:
    p_values = [0.2, 0.011, 0.001, 0.011, 0.9, 0.02]
    assert holm(p_values) == pytest.approx(tuple(multipletests(p_values, method="holm")[1]))


def test_holms_own_steps() -> None:
    # Four p-values times 4, 3, 2 and 1, none below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_input_is_checked() -> None:
    with pytest.raises(ParameterError, match="level"):
        Randomization(1, level=0)
    with pytest.raises(TidyDataError, match="query for each"):
        sign_flip(np.ones(3), np.arange(2), SPEC)
    with pytest.raises(TidyDataError, match="Two samples"):
        two_sample(np.ones(3), np.ones(0), SPEC)
    with pytest.raises(ParameterError, match="1 \\(above zero\\)"):
        flip([1]).one_sided(0)


@pytest.mark.parametrize(
    ("p", "method", "said"),
    [
        (0.9812, "sign-flip over queries, 1,019 draws", "p ≈ 1.0"),
        (0.4, "sign-flip over queries, exact", "p = 0.400"),
        (0.0431, "sign-flip over queries, 10,000 draws", "p = 0.043"),
        (0.0004, "sign-flip over queries, exact", "p < 0.001"),
    ],
)
def test_a_p_is_printed_as_it_is_known(p, method, said) -> None:
    assert p_value(p, method).replace("\N{NO-BREAK SPACE}", " ") == said
