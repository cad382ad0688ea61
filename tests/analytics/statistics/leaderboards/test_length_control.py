import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GroupKFold

from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.leaderboards.length_control import (
    ALWAYS_LONGER,
    FEW_FOR_CHANGE,
    FEW_QUERIES,
    NEARLY_ONE_SIDED,
    LengthRows,
    difficulties,
    length_controlled,
)
from analytics.statistics.leaderboards.penalized_logistic import (
    GRID,
    MANY_ROWS,
    _put_together,
    fit_at,
    fit_cross_validated,
)
from tests.analytics.statistics.build import spec

# Length-controlled win rates by alpha_eval 0.6.6 (get_length_controlled_winrate; without regularization to the gamed
# baseline, whose annotations are of its own instructions) on simulated annotations, in percent: number, strength of the
# system, of length and of difficulty; with difficulty, and without.
REFERENCE = {
    0: (805, 0.3, 1.5, 1.0, 57.5393, 58.3398),
    1: (200, -1.0, 0.5, 0.5, 23.8587, 24.0920),
    2: (60, 2.0, 0.0, 0.0, 88.7635, 90.7648),
    4: (400, -0.2, 3.0, 1.0, 49.3450, 50.0000),
    5: (805, 1.0, -1.0, 0.2, 69.9431, 69.9037),
}
# The same by its `length_controlled_v1` with difficulty, and with annotations of two gamed baselines.
REFERENCE_GAMED = {0: 56.9880, 1: 22.1739, 2: 78.4960, 4: 51.3735, 5: 62.7032}


def simulated(seed):
    n, system, length, hard, *_ = REFERENCE[seed]
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(size=n)
    baseline = rng.integers(200, 3000, n)
    own = (baseline * rng.uniform(0.3, 3, n)).astype(int)
    longer = (own - baseline).astype(float)
    chance = 1 / (1 + np.exp(-(system + length * np.tanh(longer / longer.std(ddof=1)) + hard * difficulty)))
    preference = (
        np.where(rng.random(n) < chance, 1, 0) * 0.98 + 0.01 if seed % 2 else (rng.random(n) < chance) * 1.0
    )
    preference = np.clip(preference + rng.normal(size=n) * 0.005, 0, 1)
    return preference, longer, difficulty


def simulated_gamed(seed, difficulty):
    """A verbose and a concise baseline against itself, for which nothing but length and difficulty counts."""
    rng, n = np.random.default_rng(100 + seed), len(difficulty)
    for sign in (1, -1):
        longer = sign * rng.uniform(50, 1500, n).round()
        chance = expit(1.6 * np.tanh(longer / longer.std(ddof=1)) + 0.7 * difficulty)
        yield rows_of((rng.random(n) < chance) * 0.98 + 0.01, longer, difficulty)


def reference_folds(n):
    fold = np.empty(n, dtype=np.int64)
    for at, (_, test) in enumerate(GroupKFold(5).split(np.zeros(n), groups=np.arange(n))):
        fold[test] = at
    return fold


def rows_of(preference, longer, difficulty=None, query=None, fold=None):
    n = len(preference)
    return LengthRows(
        np.asarray(preference, dtype=float),
        np.asarray(longer, dtype=float),
        np.zeros(n) if difficulty is None else difficulty,
        np.arange(n) if query is None else query,
        reference_folds(n) if fold is None else fold,
    )


@pytest.mark.parametrize("seed", REFERENCE)
def test_the_reference_implementation(seed):
    preference, longer, difficulty = simulated(seed)
    *_, with_difficulty, without = REFERENCE[seed]
    found = length_controlled(rows_of(preference, longer, difficulty), resample=spec())
    # The reference's solver stops within a few hundredths of a point.
    assert found.rate.value * 100 == pytest.approx(with_difficulty, abs=0.03)
    alone = length_controlled(rows_of(preference, longer), resample=spec())
    assert alone.rate.value * 100 == pytest.approx(without, abs=0.03)
    assert alone.difficulty is None
    for each in (found, alone):
        assert each.rate.low < each.rate.value < each.rate.high
        assert each.change.value == pytest.approx(each.rate.value - each.plain.value)
        assert each.plain.value == pytest.approx(preference.mean())


@pytest.mark.parametrize("seed", REFERENCE)
def test_the_reference_implementation_with_gamed_baselines(seed):
    preference, longer, difficulty = simulated(seed)
    rows, gamed = rows_of(preference, longer, difficulty), list(simulated_gamed(seed, difficulty))
    found = length_controlled(rows, gamed=gamed, resample=spec())
    assert found.rate.value * 100 == pytest.approx(REFERENCE_GAMED[seed], abs=0.01)
    assert found.rate.low < found.rate.value < found.rate.high
    alone = length_controlled(rows, resample=spec())
    assert found.plain == alone.plain
    # They are no queries of the system's own.
    other = [replace(each, query=each.query + len(preference)) for each in gamed]
    assert length_controlled(rows, gamed=other, resample=spec()) == alone


@pytest.mark.parametrize("seed", [1, 3])
def test_against_scikit_learn(seed):
    """Every chance twice, as a 1 and as a 0 with weights, and all rows of a chance in one fold."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(150), rng.normal(size=(150, 2))])
    y = expit(x @ [0.5, 1.0, -0.5] + rng.normal(size=150))
    fold = reference_folds(150)
    found = fit_cross_validated(x, y, fold)
    twice, target = np.vstack([x, x]), np.repeat([1, 0], 150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slow = LogisticRegressionCV(
            Cs=[found.inverse_penalty],
            cv=2,
            penalty="l1",
            solver="liblinear",
            fit_intercept=False,
            tol=1e-10,
            max_iter=10_000,
        ).fit(twice, target, sample_weight=np.concatenate([y, 1 - y]))
    assert found.coefficients == pytest.approx(slow.coef_[0], abs=2e-4)
    assert np.isclose(GRID, found.inverse_penalty).any()


@pytest.mark.parametrize("c", [GRID[4], GRID[-1]])
@pytest.mark.parametrize("longer_by", [0, 1000, 2000, 3000])
def test_effects_that_can_hardly_be_told_apart_are_fitted_to_the_end(longer_by, c):
    """Where one side is longer by far, the length is nearly constant; at the end each slope meets the penalty's."""
    rng = np.random.default_rng(longer_by)
    longer = rng.normal(longer_by, 300, 200)
    x = np.column_stack([np.ones(200), np.tanh(longer / longer.std(ddof=1)), rng.normal(size=200)])
    y = (rng.random(200) < 0.7).astype(float)
    rows, _ = _put_together(x, y, np.zeros(200, dtype=int), np.ones(200))
    found = fit_at(rows, c, np.zeros(3))
    slope = c * x.T @ (expit(x @ found) - y)
    free = found != 0
    assert slope[free] == pytest.approx(-np.sign(found[free]), abs=1e-6)
    assert (np.abs(slope[~free]) <= 1).all()


def test_equal_lengths_change_nothing():
    preference = np.array([1.0, 0, 1, 1, 0, 1, 0.5, 1, 1, 0, 1, 1] * 4)
    found = length_controlled(rows_of(preference, np.full(48, 7.0) * 0), resample=spec())
    # The penalty pulls the system's coefficient towards none by a hair.
    assert found.rate.value == pytest.approx(found.plain.value, abs=0.01)
    assert found.length is None
    # A difference that is always the same can't be told from the system.
    assert length_controlled(rows_of(preference, np.full(48, 300.0)), resample=spec()) == found


def test_a_preference_for_length_alone_is_taken_out():
    rng = np.random.default_rng(4)
    longer = rng.normal(400, 300, 2000)
    # Nothing but length matters, and most of this system's responses are the longer ones.
    preference = (rng.random(2000) < expit(2 * np.tanh(longer / longer.std(ddof=1)))).astype(float)
    found = length_controlled(rows_of(preference, longer), resample=spec())
    assert found.plain.value > 0.7
    assert found.rate.low < 0.5 < found.rate.high
    assert found.change.high < 0
    assert found.length == pytest.approx(2, abs=0.3)


@given(st.integers(0, 1000))
def test_the_two_sides_add_up_to_one(seed):
    rng = np.random.default_rng(seed)
    longer, preference = rng.normal(size=40) * 100, rng.integers(0, 3, 40) / 2
    one = length_controlled(rows_of(preference, longer), resample=spec())
    other = length_controlled(rows_of(1 - preference, -longer), resample=spec())
    assert one.rate.value + other.rate.value == pytest.approx(1, abs=1e-6)
    assert one.length == pytest.approx(other.length, abs=1e-4)
    order = rng.permutation(40)
    fold = reference_folds(40)
    again = length_controlled(
        rows_of(preference[order], longer[order], None, order, fold[order]), resample=spec()
    )
    assert again.rate.value == pytest.approx(one.rate.value, abs=1e-6)


@pytest.mark.parametrize("with_gamed", [False, True])
def test_leaving_out_queries_one_by_one_gives_the_same_error(with_gamed):
    preference, longer, difficulty = simulated(1)
    query = np.repeat(np.arange(50), 4)
    fold = query % 5
    gamed = [replace(each, query=query) for each in simulated_gamed(1, difficulty)] if with_gamed else []
    rows = rows_of(preference, longer, difficulty, query, fold)
    found = length_controlled(rows, gamed=gamed, resample=spec())
    x = np.concatenate(
        [
            np.column_stack([np.full(200, own), np.tanh(each.longer / each.longer.std(ddof=1)), difficulty])
            for each, own in ((rows, 1), *((each, 0) for each in gamed))
        ]
    )
    y = np.concatenate([each.preference for each in (rows, *gamed)])
    of_query, weight = np.tile(query, 1 + len(gamed)), np.repeat([1, *[0.1] * len(gamed)], 200)
    at_zero = x[:200] * [1, 0, 1]
    slow = []
    for each in range(50):
        rest = of_query != each
        kept, _ = _put_together(x[rest], y[rest], of_query[rest], weight[rest])
        slow.append(expit(at_zero[query != each] @ fit_at(kept, GRID[-1], np.zeros(3))).mean())
    error = np.sqrt(49 / 50 * ((np.array(slow) - np.mean(slow)) ** 2).sum())
    rate = found.rate
    half = (logit(rate.high) - logit(rate.low)) / 2 * rate.value * (1 - rate.value)
    assert half / 2.0096 == pytest.approx(error, rel=0.05)


def test_items_without_a_preference_are_predicted_but_not_fitted():
    preference, longer, difficulty = simulated(1)
    some = preference.copy()
    some[:50] = np.nan
    found = length_controlled(rows_of(some, longer, difficulty), resample=spec())
    assert (found.rate.n, found.rate.n_left_out) == (150, 50)
    assert found.plain.value == pytest.approx(np.nanmean(some))


def test_too_little_to_fit():
    found = length_controlled(rows_of([1.0] * 9, range(9)), resample=spec())
    assert (found.rate.value, found.rate.undefined, found.penalty) == (None, FEW_QUERIES, 0.0)
    with pytest.raises(TidyDataError):
        LengthRows(np.zeros(3), np.zeros(3), np.zeros(3), np.arange(3), np.zeros(2, dtype=int))


def test_rounding_many_rows_moves_the_rate_by_next_to_nothing():
    rng = np.random.default_rng(6)
    n = MANY_ROWS + 1000
    longer, difficulty = rng.normal(size=n) * 200, rng.normal(size=n)
    chance = expit(0.4 + np.tanh(longer / longer.std(ddof=1)) + 0.5 * difficulty)
    preference, fold = (rng.random(n) < chance).astype(float), np.arange(n) % 5
    found = length_controlled(rows_of(preference, longer, difficulty, fold=fold), resample=spec())
    half = np.arange(n) < n - 1500
    fewer = length_controlled(
        rows_of(preference[half], longer[half], difficulty[half], fold=fold[half]), resample=spec()
    )
    assert found.rate.value == pytest.approx(fewer.rate.value, abs=0.005)
    assert found.rate.value == pytest.approx(expit(0.4 + 0.5 * difficulty).mean(), abs=0.01)


def test_difficulties_come_from_the_other_systems():
    rng = np.random.default_rng(8)
    queries, systems = 200, 6
    easy = rng.normal(size=queries)
    query, system = np.repeat(np.arange(queries), systems), np.tile(np.arange(systems), queries)
    strength = np.linspace(-1, 1, systems)[system]
    preference = (rng.random(len(query)) < expit(strength + 1.5 * easy[query])).astype(float)
    longer, fold = rng.normal(size=len(query)) * 100, query % 5
    found = difficulties(system, preference, longer, query, fold)
    assert np.corrcoef(found, easy[query])[0, 1] > 0.6
    # A system's own preferences tell nothing of the difficulty that is used for it.
    turned = np.where(system == 2, 1 - preference, preference)
    again = difficulties(system, turned, longer, query, fold)
    assert again[system == 2] == pytest.approx(found[system == 2])
    assert difficulties(system * 0, preference, longer, query, fold) == pytest.approx(0, abs=1e-9)


def test_the_change_has_an_interval_from_thirty_queries_on():
    preference, longer, _ = simulated(2)
    few = length_controlled(rows_of(preference[:29], longer[:29]), resample=spec())
    assert (few.change.low, few.change.undefined) == (None, FEW_FOR_CHANGE)
    assert few.rate.low is not None
    enough = length_controlled(rows_of(preference[:30], longer[:30]), resample=spec())
    assert enough.change.low <= enough.change.value <= enough.change.high


def one_sided(n_lost):
    """40 queries of one item, so many of them lost."""
    n = 40
    won = np.ones(n)
    won[3 : 3 + n_lost] = 0
    return LengthRows(won, np.linspace(-300, 500, n), np.zeros(n), np.arange(n), np.arange(n) % 5)


@pytest.mark.parametrize("n_lost", [0, 1, 4])
def test_where_fewer_than_five_queries_go_the_other_way_there_is_no_interval(n_lost):
    found = length_controlled(one_sided(n_lost), resample=spec())
    assert found.plain.value == 1 - n_lost / 40
    assert found.plain.low is not None
    for each in (found.rate, found.change):
        assert each.value is not None
        assert (each.low, each.high, each.method, each.undefined) == (None, None, "", NEARLY_ONE_SIDED)


def test_where_one_side_is_always_longer_there_is_no_interval():
    rows = replace(one_sided(10), longer=np.linspace(1, 500, 40))
    found = length_controlled(rows, resample=spec())
    for each in (found.rate, found.change):
        assert each.value is not None
        assert (each.low, each.undefined) == (None, ALWAYS_LONGER)
    # One response as long as the other's is enough.
    some = length_controlled(replace(rows, longer=np.linspace(0, 500, 40)), resample=spec())
    assert some.rate.low < some.rate.value < some.rate.high


def test_five_queries_are_enough_and_ties_go_the_other_way():
    assert length_controlled(one_sided(5), resample=spec()).rate.low is not None
    rows = one_sided(0)
    tied = replace(rows, preference=np.where(np.arange(40) < 5, 0.5, 1.0))
    assert length_controlled(tied, resample=spec()).rate.low is not None


def test_where_length_decides_the_change_stays_inside_what_rates_can_differ_by():
    longer = np.random.default_rng(2).normal(0, 300, 60)
    rows = LengthRows((longer > 0) * 1.0, longer, np.zeros(60), np.arange(60), np.arange(60) % 5)
    found = length_controlled(rows, resample=spec())
    assert -1 <= found.change.low <= found.change.value <= found.change.high <= 1
