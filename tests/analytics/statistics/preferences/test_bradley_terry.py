from itertools import combinations

import evalica
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import t

from analytics.statistics.core.estimates import ParameterError
from analytics.statistics.preferences.bradley_terry import bradley_terry
from analytics.statistics.preferences.strengths import fit_strengths
from analytics.statistics.preferences.win_rates import NO_USABLE_JUDGMENT
from tests.analytics.statistics.build import make_items, make_judgments, spec

# Agresti, "Categorical Data Analysis" (2002), Table 10.10: American League, 1987; wins of row over column.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
)
# Strengths against Baltimore, as the R package BradleyTerry2 prints them for these data.
STRENGTHS = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)


def fit(wins):
    pairs = np.array(list(combinations(range(len(wins)), 2)))
    sides = np.stack([wins[pairs[:, 0], pairs[:, 1]], wins[pairs[:, 1], pairs[:, 0]]], axis=1)
    return fit_strengths(pairs, sides[None].astype(float), len(wins))[0]


def study_of(triples, n_queries=10):
    """Items from (first system, second system, label)."""
    items = make_items(
        [f"q{k % n_queries}" for k in range(len(triples))], systems=[triple[:2] for triple in triples]
    )
    return items, make_judgments([[triple[2]] for triple in triples])


def test_published_strengths() -> None:
    theta = fit(WINS)
    assert theta.mean() == pytest.approx(0)
    assert theta - theta[-1] == pytest.approx(STRENGTHS, abs=1e-4)


def test_against_a_general_optimiser() -> None:
    rng = np.random.default_rng(1)
    for n in (3, 5, 8):
        wins = rng.integers(0, 20, (n, n)) + 0.5

        def loss(theta, wins=wins):
            return -(wins * np.log(expit(theta[:, None] - theta[None, :]))).sum() + theta.mean() ** 2

        np.fill_diagonal(wins, 0)
        found = minimize(loss, np.zeros(n), tol=1e-12).x
        assert fit(wins) == pytest.approx(found - found.mean(), abs=1e-4)


def test_against_evalica() -> None:
    games = [(i, j) for i in range(7) for j in range(7) for _ in range(WINS[i, j])]
    result = evalica.bradley_terry(
        [TEAMS[i] for i, _ in games],
        [TEAMS[j] for _, j in games],
        [evalica.Winner.X] * len(games),
        tolerance=1e-10,
    )
    log_scores = np.log(result.scores.loc[list(TEAMS)].to_numpy())
    assert fit(WINS) == pytest.approx(log_scores - log_scores.mean(), abs=1e-3)


def simulated(rng, truth, n):
    """Items of the three pairs in turn, decided by a Bradley-Terry model."""
    pairs = list(combinations(truth, 2))
    drawn = [pairs[k % len(pairs)] for k in range(n)]
    return [(one, two, int(rng.random() > expit(truth[one] - truth[two]))) for one, two in drawn]


def test_a_study_of_three_systems() -> None:
    triples = simulated(np.random.default_rng(2), {"a": 1.0, "b": 0.0, "c": -1.0}, 900)
    (result,) = bradley_terry(*study_of(triples, 300), resample=spec())
    assert [strength.system for strength in result.strengths] == ["a", "b", "c"]
    assert sum(strength.score.value for strength in result.strengths) == pytest.approx(0)
    for strength in result.strengths:
        assert strength.score.low < strength.score.value < strength.score.high
        assert strength.win_probability.value == pytest.approx(expit(strength.score.value))
        assert strength.win_probability.low == pytest.approx(expit(strength.score.low))
        # Each system is in two of the three pairs.
        assert (strength.score.n, strength.score.unit) == (600, "judgments")
        assert "300 queries" in strength.score.method
    assert [strength.rank.value for strength in result.strengths] == [1, 2, 3]
    assert [strength.rank.low for strength in result.strengths] == [1, 2, 3]


def test_intervals_cover_the_strengths() -> None:
    truth = {"a": 1.0, "b": 0.0, "c": -1.0}
    covered = 0
    for seed in range(60):
        triples = simulated(np.random.default_rng(seed), truth, 300)
        (result,) = bradley_terry(*study_of(triples, 150), resample=spec())
        covered += sum(s.score.low < truth[s.system] < s.score.high for s in result.strengths)
    assert 0.9 <= covered / 180 <= 0.99


def test_separable_data_stay_finite() -> None:
    # a beats b beats c without exception, which has no finite maximum without the prior.
    # Only the prior says how far they are apart, so there is no interval, but no doubt about their order.
    triples = [("a", "b", 0), ("b", "c", 0), ("a", "c", 0)] * 400
    (result,) = bradley_terry(*study_of(triples, 100), resample=spec())
    scores = [strength.score.value for strength in result.strengths]
    assert scores == sorted(scores, reverse=True)
    assert 3 < scores[0] < 10
    for strength in result.strengths:
        assert strength.score.low is None
        assert strength.score.undefined.startswith("a never lost to any other system")
    assert [(s.rank.low, s.rank.high) for s in result.strengths] == [(1, 1), (2, 2), (3, 3)]


def test_votes_count() -> None:
    # 15 pairs with 100 votes each that are exactly as probable as the model says give its strengths back.
    truth = dict(zip("abcdef", np.linspace(1.07, -1.07, 6), strict=True))
    pairs = list(combinations(truth, 2))
    chances = [[expit(truth[two] - truth[one])] * 100 for one, two in pairs]
    items = make_items([f"q{k}" for k in range(15)], systems=pairs)
    judgments = make_judgments([[-1] * 100] * 15, numbers=chances)
    (result,) = bradley_terry(items, judgments, resample=spec())
    for strength in result.strengths:
        assert strength.score.value == pytest.approx(truth[strength.system], abs=0.002)
        assert strength.score.n == 500


def test_the_prior_vanishes_with_votes() -> None:
    # A share of .6 in each of the three pairs' votes, of which the prior's one tie is ever less.
    triples = [("a", "b", 0), ("b", "c", 0), ("a", "c", 2)]
    items, _ = study_of(triples)
    scores = []
    for n in (10, 100, 10_000):
        votes = [[label] * (6 * n // 10) + [1 - label] * (4 * n // 10) for *_, label in triples[:2]] + [
            [2] * n
        ]
        (result,) = bradley_terry(items, make_judgments(votes), resample=spec(0))
        scores.append({s.system: s.score.value for s in result.strengths}["a"])
    plain = fit(np.array([[0, 0.6, 0.5], [0.4, 0, 0.6], [0.5, 0.4, 0]]))[0]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(plain, abs=1e-4)
    assert scores[0] == pytest.approx(plain, abs=0.02)


def test_dependent_votes_of_a_query_are_no_more_evidence_than_one() -> None:
    triples = simulated(np.random.default_rng(3), {"a": 0.5, "b": 0.0, "c": -0.5}, 90)
    items, _ = study_of(triples, 90)
    once, often = (
        bradley_terry(items, make_judgments([[label] * n for *_, label in triples]), resample=spec())[0]
        for n in (1, 50)
    )
    widths = [s.score.high - s.score.low for s in once.strengths]
    assert [s.score.high - s.score.low for s in often.strengths] == pytest.approx(widths, rel=0.1)


def test_errors_are_those_of_leaving_out_each_query() -> None:
    triples = simulated(np.random.default_rng(4), {"a": 0.5, "b": 0.0, "c": -0.5}, 600)
    (result,) = bradley_terry(*study_of(triples, 200), resample=spec(0))
    queries = np.arange(600) % 200
    refitted = []
    for left in range(200):
        kept = [triple for triple, query in zip(triples, queries, strict=True) if query != left]
        wins = np.full((3, 3), 1 / 6)
        for one, two, label in kept:
            pair = ("abc".index(one), "abc".index(two))
            wins[pair if label == 0 else pair[::-1]] += 1
        refitted.append(fit(wins))
    deviations = np.array(refitted) - np.mean(refitted, axis=0)
    errors = np.sqrt(199 / 200 * (deviations**2).sum(axis=0))
    half = {s.system: (s.score.high - s.score.low) / 2 for s in result.strengths}
    expected = dict(zip("abc", t.ppf(0.975, 199) * errors, strict=True))
    assert half == pytest.approx(expected, rel=0.01)


def test_strengths_do_not_depend_on_the_order_of_items() -> None:
    triples = simulated(np.random.default_rng(5), {"a": 0.5, "b": 0.0, "c": -0.5}, 60)
    items, judgments = study_of(triples, 20)
    order = np.random.default_rng(6).permutation(60)
    shuffled = make_items([f"x{k % 20:02}" for k in order], systems=[triples[k][:2] for k in order])
    back = make_judgments([[triples[k][2]] for k in order])
    (one,), (other,) = (
        bradley_terry(*study, resample=spec()) for study in ((items, judgments), (shuffled, back))
    )
    for mine, yours in zip(one.strengths, other.strengths, strict=True):
        assert (yours.score.low, yours.score.high) == pytest.approx((mine.score.low, mine.score.high))
        assert (yours.rank.low, yours.rank.high) == (mine.rank.low, mine.rank.high)


def test_ranks_that_cannot_be_told_apart_overlap() -> None:
    triples = simulated(np.random.default_rng(11), {"a": 2.0, "b": 0.0, "c": 0.0}, 300)
    (result,) = bradley_terry(*study_of(triples, 100), resample=spec(400))
    ranks = {s.system: (s.rank.low, s.rank.high) for s in result.strengths}
    assert ranks == {"a": (1, 1), "b": (2, 3), "c": (2, 3)}
    assert "400 replicates" in result.strengths[0].rank.method


def test_a_tie_is_half_a_win_for_both() -> None:
    halves = [("a", "b", 0), ("a", "b", 1), ("b", "c", 0), ("b", "c", 1), ("a", "c", 0), ("a", "c", 0)]
    ties = [("a", "b", 2), ("a", "b", 2), ("b", "c", 2), ("b", "c", 2), ("a", "c", 0), ("a", "c", 0)]
    (one,), (other,) = (bradley_terry(*study_of(triples), resample=spec(0)) for triples in (halves, ties))
    assert [s.score.value for s in one.strengths] == pytest.approx([s.score.value for s in other.strengths])


@given(
    st.lists(
        st.tuples(st.sampled_from(list(combinations("abcd", 2))), st.integers(0, 2)), min_size=6, max_size=30
    )
)
def test_turning_all_preferences_round_turns_the_scores_round(results) -> None:
    results += [(pair, 2) for pair in combinations("abcd", 2)]
    there, back = (
        {
            strength.system: strength.score.value
            for strength in bradley_terry(
                *study_of([(*pair, turn[label]) for pair, label in results]), resample=spec(0)
            )[0].strengths
        }
        for turn in ((0, 1, 2), (1, 0, 2))
    )
    assert there == pytest.approx({system: -score for system, score in back.items()}, abs=1e-7)


@pytest.mark.parametrize(
    ("triples", "reason"),
    [
        ([("a", "b", 0), ("a", "b", 1)], "more than two systems"),
        ([("a", "b", 0), ("c", "d", 1)], "a and c were never compared"),
        ([("a", "b", 0), ("b", "c", -1)], "more than two systems"),
    ],
)
def test_undefined_says_why(triples, reason) -> None:
    (result,) = bradley_terry(*study_of(triples), resample=spec())
    assert reason in result.undefined
    assert all(strength.score.value is None for strength in result.strengths)


def test_what_is_left_out() -> None:
    triples = [("a", "b", 0), ("b", "c", 0), ("b", "c", -1), ("a", "a", 2)]
    (result,) = bradley_terry(*study_of(triples), resample=spec())
    left_out = result.strengths[0].score.left_out
    assert [part.n for part in left_out] == [1, 1]
    assert left_out[0].reason == NO_USABLE_JUDGMENT
    assert {s.system: s.score.n for s in result.strengths} == {"a": 1, "b": 2, "c": 1}


def test_parameters_are_checked() -> None:
    study = study_of([("a", "b", 0)])
    with pytest.raises(ParameterError, match="positive"):
        bradley_terry(*study, resample=spec(), prior=0)
    with pytest.raises(ParameterError, match="arm and category"):
        bradley_terry(*study, resample=spec(), by=("pair",))
