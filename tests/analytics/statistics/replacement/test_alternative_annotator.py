import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

from analytics.statistics.core.estimates import LeftOut, ParameterError, TidyDataError
from analytics.statistics.replacement.alternative_annotator import (
    ALONE,
    NO_JUDGE,
    SharedAnswers,
    alternative_annotator,
    benjamini_yekutieli,
)
from tests.analytics.statistics.build import spec


def beside(table, judge, query=None):
    """From a table (units, raters) of answers, nan for none."""
    table, judge = np.asarray(table, dtype=float), np.asarray(judge, dtype=float)
    unit, rater = np.nonzero(np.isfinite(table))
    query = np.arange(len(judge)) if query is None else np.asarray(query)
    return SharedAnswers(unit, rater, table[unit, rater], judge, query)


def found(table, judge, query=None, *, epsilon=0.1, numbers=False):
    return alternative_annotator(
        beside(table, judge, query), epsilon=epsilon, numbers=numbers, unit="items", resample=spec()
    )


def slow(table, judge, epsilon, *, numbers):
    """The test annotator by annotator and item by item: (n, rho f, rho h, p) of each with 30 items."""

    def score(value, others):
        if numbers:
            return -round(float(np.sqrt(np.mean([(value - other) ** 2 for other in others]))), 9)
        return float(np.mean([value == other for other in others]))

    rows = {}
    for left_out in range(table.shape[1]):
        judge_wins, own_wins = [], []
        for of_unit, said in zip(table, judge, strict=True):
            others = [each for rater, each in enumerate(of_unit) if rater != left_out and np.isfinite(each)]
            if not np.isfinite(said) or not np.isfinite(of_unit[left_out]) or not others:
                continue
            one, other = score(said, others), score(of_unit[left_out], others)
            judge_wins.append(one >= other)
            own_wins.append(other >= one)
        if len(judge_wins) >= 30:
            behind = np.array(own_wins, dtype=float) - np.array(judge_wins, dtype=float)
            p = ttest_1samp(behind, epsilon, alternative="less").pvalue
            rows[left_out] = len(judge_wins), np.mean(judge_wins), np.mean(own_wins), p
    return rows


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_against_the_test_item_by_item(numbers, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 70)
    table = np.where(rng.random((70, 6)) < 0.6, truth[:, None], rng.integers(0, 4, (70, 6))).astype(float)
    table[rng.random(table.shape) < np.linspace(0.1, 0.6, 6)] = np.nan
    judge = np.where(rng.random(70) < 0.7, truth, rng.integers(0, 4, 70)).astype(float)
    judge[rng.random(70) < 0.05] = np.nan
    result, expected = (
        found(table, judge, numbers=numbers, epsilon=0.15),
        slow(table, judge, 0.15, numbers=numbers),
    )
    assert [each.rater for each in result.annotators] == list(expected)
    for each, (n, rho_f, rho_h, p) in zip(result.annotators, expected.values(), strict=True):
        assert (each.n, each.judge, each.own) == (n, pytest.approx(rho_f), pytest.approx(rho_h))
        assert each.p_value == pytest.approx(p)
    adjusted = false_discovery_control([p for *_, p in expected.values()], method="by")
    assert [each.p_adjusted for each in result.annotators] == pytest.approx(adjusted.tolist())
    assert result.winning_rate == pytest.approx(np.mean(adjusted <= 0.05))
    assert result.passes == (result.winning_rate >= 0.5)
    assert result.advantage.value == pytest.approx(np.mean([rho_f for _, rho_f, _, _ in expected.values()]))


def test_by_hand():
    """Of three people two always agree, and the judge says what they say."""
    table = np.tile([0, 0, 1], (30, 1))
    result = found(table, np.zeros(30))
    # Without one of the two, the others differ: judge and annotator fit one of them each.
    assert [(each.judge, each.own) for each in result.annotators] == [(1, 1), (1, 1), (1, 0)]
    assert [each.p_value for each in result.annotators] == [0, 0, 0]
    assert (result.winning_rate, result.passes, result.advantage.value) == (1, True, 1)
    # Where it says what the third says, it fits the others as well as whoever is left out does.
    assert [(each.judge, each.own) for each in found(table, np.ones(30)).annotators] == [(1, 1)] * 3


def test_the_interval_of_the_advantage_leaves_out_queries():
    rng = np.random.default_rng(5)
    table, judge, query = rng.integers(0, 3, (90, 3)), rng.integers(0, 3, 90), np.repeat(np.arange(30), 3)
    result = found(table, judge, query).advantage
    means = []
    for each in range(30):
        kept = query != each
        rows = slow(table[kept].astype(float), judge[kept], 0.1, numbers=False)
        means.append(np.mean([rho for _, rho, _, _ in rows.values()]))
    error = np.sqrt(29 / 30 * ((means - np.mean(means)) ** 2).sum())
    logit_half = (np.log(result.high / (1 - result.high)) - np.log(result.low / (1 - result.low))) / 2
    assert logit_half == pytest.approx(2.0452296 * error / (result.value * (1 - result.value)), rel=1e-6)


def test_below_three_people_with_thirty_items_there_is_no_test():
    table = np.zeros((30, 3))
    table[0, 2] = np.nan
    result = found(table, np.zeros(30))
    assert (result.winning_rate, result.passes, result.annotators) == (None, None, ())
    assert result.advantage.undefined == "The test needs at least 3 people with 30 items each; there are 2."
    assert result.advantage.left_out == (LeftOut("answers of people with fewer than 30 items", 29),)


def test_answers_that_have_nothing_beside_them():
    table = np.zeros((33, 3))
    table[0, 1:] = np.nan
    judge = np.zeros(33)
    judge[1] = np.nan
    result = found(table, judge)
    assert result.advantage.left_out == (LeftOut(NO_JUDGE, 3), LeftOut(ALONE, 1))
    assert [each.n for each in result.annotators] == [31, 31, 31]


def test_published_p_values():
    # Benjamini and Hochberg (1995), section 4: fifteen p-values of a trial. Theirs as scipy's documentation prints them
    # are Benjamini and Yekutieli's (2001), but for a factor of 1 + 1/2 + ... + 1/15.
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p_values += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    independent = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.06385714, 0.06385714, 0.0645, 0.0765, 0.486]
    independent += [0.58118182, 0.714875, 0.75323077, 0.81321429, 1.0]
    factor = sum(1 / k for k in range(1, 16))
    assert benjamini_yekutieli(p_values) == pytest.approx([min(1, factor * p) for p in independent], abs=5e-8)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_p_values_are_adjusted_as_scipy_does(p_values):
    assert benjamini_yekutieli(p_values) == pytest.approx(false_discovery_control(p_values, method="by"))


@given(st.integers(0, 2**16), st.floats(0, 1))
def test_a_larger_epsilon_never_costs_a_win(seed, epsilon):
    rng = np.random.default_rng(seed)
    table, judge = rng.integers(0, 2, (35, 4)), rng.integers(0, 2, 35)
    assert found(table, judge, epsilon=0.0).winning_rate <= found(table, judge, epsilon=epsilon).winning_rate


def test_bad_input():
    with pytest.raises(ParameterError, match="Epsilon lies from 0 to 1"):
        found([[0]], [0], epsilon=1.5)
    with pytest.raises(TidyDataError, match="each unit a query"):
        beside([[0]], [0], [0, 1])
