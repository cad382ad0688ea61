from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.analytics.estimates import LeftOut, ParameterError, UnknownNameError
from evaluation.analytics.flips import ONE_ARM_ONLY, UNDECIDED, pair_flips, query_flips, stuart_maxwell
from tests.analytics.build import context_study, make_items, make_judgments, quick, spec
from tests.fixtures.contexteval import CC, NC, NN, PAIRS, TABLE_6


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
            for flip in pair_flips(*study, first=NN, second=other, resample=spec())
            if flip.flipped
        }
        for other in (NC, CC)
    }
    assert flipped == {NC: set(), CC: {frozenset(PAIRS[0]), frozenset(PAIRS[2])}}


def test_the_margin_between_arms(study) -> None:
    flips = {
        (flip.system_1, flip.system_2): flip
        for flip in pair_flips(*study, first=NN, second=CC, resample=spec())
    }
    for pair in PAIRS:
        flip = flips[tuple(sorted(pair))]
        sign = 1 if flip.system_1 == pair[0] else -1
        margins = [TABLE_6[arm, pair][0] - TABLE_6[arm, pair][1] for arm in (NN, CC)]
        assert 100 * sign * flip.difference.value == pytest.approx(margins[1] - margins[0], abs=0.03)
        assert flip.difference.low < flip.difference.value < flip.difference.high
        # An interval at 95 % leaves zero out exactly where the test at 5 % rejects, give or take a replicate.
        if flip.p_value < 0.03:
            assert flip.difference.low > 0 or flip.difference.high < 0
        if flip.p_value > 0.07:
            assert flip.difference.low < 0 < flip.difference.high


def test_against_a_slow_bootstrap() -> None:
    rng = np.random.default_rng(3)
    before = [rng.choice(3, 3, p=[0.5, 0.3, 0.2]).tolist() for _ in range(60)]
    after = [rng.choice(3, 3, p=[0.3, 0.5, 0.2]).tolist() if k % 5 else None for k in range(60)]
    (flip,) = pair_flips(*two_arms(before, after), first="x", second="y", resample=spec(2000))

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
    tails = min(np.mean(np.array(samples) <= 0), np.mean(np.array(samples) >= 0))
    assert flip.p_value == pytest.approx(2 * tails, abs=0.03)


def test_equal_rates_prefer_nobody() -> None:
    (flip,) = pair_flips(*two_arms([[0], [1]], [[1], [1]]), first="x", second="y", resample=spec())
    assert (flip.first_preferred, flip.second_preferred, flip.flipped) == (None, "b", False)


def test_an_arm_without_majorities_has_no_margin() -> None:
    (flip,) = pair_flips(*two_arms([[0, 1], [0, 1]], [[1], [1]]), first="x", second="y", resample=spec())
    assert flip.difference.value is None
    assert flip.p_value is None
    assert flip.difference.n_left_out == 2


def test_arms_are_checked(study) -> None:
    with pytest.raises(UnknownNameError, match="no arm named"):
        pair_flips(*study, first=NN, second="Both", resample=spec())
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


@quick
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
