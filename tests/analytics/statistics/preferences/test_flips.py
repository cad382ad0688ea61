from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.estimates import LeftOut, ParameterError, UnknownNameError
from analytics.statistics.core.randomization import Randomization, sign_flip, two_sample
from analytics.statistics.preferences.flips import (
    ONE_ARM_ONLY,
    UNDECIDED,
    pair_flips,
    query_flips,
    stuart_maxwell,
)
from tests.analytics.statistics.build import context_study, make_items, make_judgments, spec
from tests.fixtures.contexteval import CC, NC, NN, PAIRS, TABLE_6

TESTS = Randomization(5)


@pytest.fixture(scope="module")
def study():
    return context_study()


def two_arms(before, after):
    """A study of one pair whose queries have the given labels in two arms; None where not in the arm."""
    rows = [(f"q{k}", "x", labels) for k, labels in enumerate(before) if labels is not None]
    rows += [(f"q{k}", "y", labels) for k, labels in enumerate(after) if labels is not None]
    items = make_items([row[0] for row in rows], [row[1] for row in rows])
    return items, make_judgments([row[2] for row in rows])


def majority_of(labels):
    (label, n), *_ = Counter(labels).most_common()
    return label if 2 * n > len(labels) else None


def test_the_papers_flips(study) -> None:
    # ContextEval, Table 6: with context in generation and evaluation two of the three pairs turn round.
    flipped = {
        other: {
            frozenset((flip.system_1, flip.system_2))
            for flip in pair_flips(*study, first=NN, second=other, resample=spec(), tests=TESTS)
            if flip.flipped
        }
        for other in (NC, CC)
    }
    assert flipped == {NC: set(), CC: {frozenset(PAIRS[0]), frozenset(PAIRS[2])}}


def test_the_margin_between_arms(study) -> None:
    flips = {
        (flip.system_1, flip.system_2): flip
        for flip in pair_flips(*study, first=NN, second=CC, resample=spec(), tests=TESTS)
    }
    for pair in PAIRS:
        flip = flips[tuple(sorted(pair))]
        sign = 1 if flip.system_1 == pair[0] else -1
        margins = [TABLE_6[arm, pair][0] - TABLE_6[arm, pair][1] for arm in (NN, CC)]
        assert 100 * sign * flip.difference.value == pytest.approx(margins[1] - margins[0], abs=0.03)
        assert flip.difference.low < flip.difference.value < flip.difference.high
        # An interval at 95 % leaves zero out about where the test at 5 % rejects.
        if flip.p_value < 0.03:
            assert flip.difference.low > 0 or flip.difference.high < 0
        if flip.p_value > 0.08:
            assert flip.difference.low < 0 < flip.difference.high


def test_against_a_slow_bootstrap() -> None:
    rng = np.random.default_rng(3)
    before = [rng.choice(3, 3, p=[0.5, 0.3, 0.2]).tolist() for _ in range(60)]
    after = [rng.choice(3, 3, p=[0.3, 0.5, 0.2]).tolist() if k % 5 else None for k in range(60)]
    (flip,) = pair_flips(*two_arms(before, after), first="x", second="y", resample=spec(2000), tests=TESTS)

    def margin(labels):
        votes = Counter(majority_of(of_item) for of_item in labels if of_item)
        return (votes[0] - votes[1]) / (votes[0] + votes[1] + votes[2])

    def change(queries):
        return margin([after[k] for k in queries]) - margin([before[k] for k in queries])

    assert flip.difference.value == pytest.approx(change(range(60)))
    samples = [change(rng.integers(0, 60, 60)) for _ in range(2000)]
    assert (flip.difference.low, flip.difference.high) == pytest.approx(
        tuple(np.quantile(samples, [0.025, 0.975])), abs=0.05
    )


def flip_of(before, after):
    (flip,) = pair_flips(*two_arms(before, after), first="x", second="y", resample=spec(0), tests=TESTS)
    return flip


def sums_of(numbers):
    return np.array(
        [np.dot(signs, numbers) for signs in product((1, -1), repeat=len(numbers))] if numbers else [0]
    )


def one_sided(labels, side):
    """The chance that majorities with signs drawn at random favour the side (1: system 1) as much."""
    votes = [
        {0: 1, 1: -1, 2: 0}[label] for label in map(majority_of, filter(None, labels)) if label is not None
    ]
    return np.mean(side * sums_of(votes) >= side * sum(votes))


def times_of(pairs):
    """Twice, unless queries that both arms have a majority of lean the same way in them."""
    votes = [[{0: 1, 1: -1, 2: 0}.get(majority_of(labels)) for labels in pair if labels] for pair in pairs]
    shared = np.array([vote for vote in votes if len(vote) == 2 and None not in vote], dtype=float)
    if len(shared) < 2:
        return 1
    before, after = (shared - shared.mean(axis=0)).T
    return 2 if before @ after < 0 or not before.any() or not after.any() else 1


@given(
    st.lists(st.tuples(*[st.lists(st.integers(0, 2), min_size=1, max_size=3)] * 2), min_size=1, max_size=8)
)
def test_a_flip_is_two_preferences_each_beyond_chance(pairs) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    flip = flip_of(before, after)
    if flip.flip_test is None:
        assert flip.difference.value is None
        return
    expected = min(max(one_sided(before, side), one_sided(after, -side)) for side in (1, -1))
    assert flip.flip_test.p_value == pytest.approx(min(1, times_of(pairs) * expected))
    if not flip.flipped:
        # One of the two sums is not on its side, however either system is taken for the first arm's.
        assert flip.flip_test.p_value >= 0.5
    assert flip_of(after, before).flip_test.p_value == flip.flip_test.p_value


def test_a_certain_flip_has_a_p() -> None:
    # Ten queries of three raters each, all for b in one arm and for a in the other.
    flip = flip_of([[1, 1, 1]] * 10, [[0, 0, 0]] * 10)
    assert (flip.flipped, flip.first_preferred, flip.second_preferred) == (True, "b", "a")
    assert (flip.flip_test.p_value, flip.flip_test.n) == (2 / 2**10, 10)
    assert flip.p_value == flip.margin_test.p_value == 2 / 2**10


def test_a_margin_that_grows_is_no_flip() -> None:
    flip = flip_of([[0]] * 7 + [[1]] * 5, [[0]] * 12)
    assert not flip.flipped
    assert flip.flip_test.p_value == 1
    assert flip.margin_test.p_value == 2 / 2**5


def test_the_margin_is_tested_on_shared_queries_and_otherwise_between_queries() -> None:
    before = [[0], [0], [1], [1], [1], [1], None, None]
    shared = flip_of(before, [[0], [0], [0], [0], [0], None, [1], [1]])
    assert shared.margin_test == sign_flip(np.array([0.0, 0, 2, 2, 2]), np.arange(5), TESTS).two_sided
    apart = flip_of([[0]] * 2 + [[1]] * 4 + [None] * 5, [None] * 5 + [[0]] * 6)
    assert apart.margin_test == two_sample(np.array([1.0, 1, -1, -1, -1, -1]), np.ones(6), TESTS)


def test_a_margin_whose_queries_point_elsewhere_is_no_change() -> None:
    """By items system 1 gains, by queries it loses: a query with many items outweighs the others in the margin."""
    queries = ["q0"] * 9 + ["q1", "q2", "q3"]
    items = make_items(queries * 2, ["x"] * 12 + ["y"] * 12)
    labels = [[1]] * 9 + [[0]] * 3 + [[0]] * 9 + [[1]] * 3
    (flip,) = pair_flips(items, make_judgments(labels), first="x", second="y", resample=spec(0), tests=TESTS)
    assert flip.difference.value > 0
    assert flip.margin_test.p_value == 1


def test_equal_rates_prefer_nobody() -> None:
    (flip,) = pair_flips(
        *two_arms([[0], [1]], [[1], [1]]), first="x", second="y", resample=spec(), tests=TESTS
    )
    assert (flip.first_preferred, flip.second_preferred, flip.flipped) == (None, "b", False)


def test_an_arm_without_majorities_has_no_margin() -> None:
    (flip,) = pair_flips(
        *two_arms([[0, 1], [0, 1]], [[1], [1]]), first="x", second="y", resample=spec(), tests=TESTS
    )
    assert flip.difference.value is None
    assert flip.p_value is flip.flip_test is flip.margin_test is None
    assert flip.difference.n_left_out == 2


def test_arms_are_checked(study) -> None:
    with pytest.raises(UnknownNameError, match="no arm named"):
        pair_flips(*study, first=NN, second="Both", resample=spec(), tests=TESTS)
    with pytest.raises(ParameterError, match="different arms"):
        query_flips(*study, first=NN, second=NN, resample=spec())


def test_query_flips_by_hand() -> None:
    before = [[0, 0], [0, 0], [1, 1], [2, 2], [0, 1], [0, 0]]
    after = [[0, 0], [1, 1], [0, 0], [2, 2], [1, 1], None]
    (flips,) = query_flips(*two_arms(before, after), first="x", second="y", resample=spec())
    assert flips.transitions == ((1, 1, 0), (1, 0, 0), (0, 0, 1))
    assert flips.flipped.value == 0.5
    assert flips.flipped.n == 4
    assert flips.flipped.left_out == (LeftOut(ONE_ARM_ONLY, 1), LeftOut(UNDECIDED, 1))


@given(
    st.lists(st.tuples(*[st.lists(st.integers(0, 2), min_size=1, max_size=3)] * 2), min_size=1, max_size=12)
)
def test_query_flips_against_a_slow_count_and_turned_round(pairs) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    study = two_arms(before, after)
    (there,) = query_flips(*study, first="x", second="y", resample=spec(0))
    (back,) = query_flips(*study, first="y", second="x", resample=spec(0))
    decided = [
        (majority_of(one), majority_of(other))
        for one, other in pairs
        if majority_of(one) is not None and majority_of(other) is not None
    ]
    assert np.array(there.transitions).T.tolist() == np.array(back.transitions).tolist()
    assert there.flipped.n == len(decided) == np.sum(there.transitions)
    if decided:
        assert there.flipped.value == pytest.approx(np.mean([one != other for one, other in decided]))
    assert (there.p_value is None) == bool(there.test_undefined)
    if there.p_value is not None:
        assert there.p_value == pytest.approx(back.p_value)


def test_the_classic_table_of_stuart() -> None:
    # Stuart, "A test for homogeneity of the marginal distributions" (1955): unaided vision of the right
    # and the left eye of 7477 women; 11.96 with 3 degrees of freedom.
    table = np.array([[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]])
    statistic, degrees, p_value = stuart_maxwell(table)
    assert statistic == pytest.approx(11.957, abs=1e-3)
    assert degrees == 3
    assert p_value == pytest.approx(0.0075, abs=1e-4)


def test_two_labels_are_mcnemars_test() -> None:
    # Ties occur in neither arm: what is left is McNemar's (b - c)^2 / (b + c).
    statistic, degrees, _ = stuart_maxwell(np.array([[10, 15, 0], [5, 20, 0], [0, 0, 0]]))
    assert (statistic, degrees) == (pytest.approx(5.0), 1)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.diag([5, 3, 2]), "Too few"),
        ([[5, 1, 0], [0, 3, 0], [0, 0, 4]], "Too few"),
        ([[5, 0, 0], [0, 0, 0], [0, 0, 0]], "two labels"),
        (np.zeros((3, 3)), "two labels"),
    ],
)
def test_a_test_that_cannot_be_computed(table, reason) -> None:
    outcome = stuart_maxwell(np.asarray(table))
    assert isinstance(outcome, str)
    assert reason in outcome
