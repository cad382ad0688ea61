"""Precision of designs: against studies drawn vote by vote, textbook power, and the report's own test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.randomization import Randomization, sign_flip
from analytics.statistics.planning.assumptions import (
    RatingAssumptions,
    VoteAssumptions,
    ratings_of_pilot,
    votes_of_pilot,
)
from analytics.statistics.planning.precision import MOST_ITEMS, Model, Wanted, grid, least_items, precision

CLOSE = VoteAssumptions(win_rate=0.58, ties=0.15, two_votes=0.55)


def drawn_votes(assumed: VoteAssumptions, items: int, raters: int, rng: np.random.Generator) -> np.ndarray:
    """Item by item: its own chances, then its votes."""
    concentration = (1 - assumed.likeness) / assumed.likeness
    chances = rng.dirichlet(assumed.shares * concentration, size=items)
    return rng.multinomial(raters, chances)


@st.composite
def vote_assumptions(draw: st.DrawFn) -> VoteAssumptions:
    ties = draw(st.floats(0, 0.9))
    win_rate = draw(st.floats(ties / 2, 1 - ties / 2))
    least = VoteAssumptions(win_rate, ties, 1).least_two_votes
    return VoteAssumptions(win_rate, ties, draw(st.floats(min(least, 1), 1)))


@given(vote_assumptions(), st.integers(1, 9))
def test_votes_have_the_assumed_shares_and_agreement(assumed: VoteAssumptions, raters: int) -> None:
    counts, chances = assumed.votes(raters)
    assert (counts.sum(axis=1) == raters).all()
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    assert chances @ counts / raters == pytest.approx(assumed.shares, abs=1e-5)
    if raters > 1:
        alike = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
        assert chances @ alike == pytest.approx(assumed.two_votes, abs=1e-5)


def test_a_pilot_gives_back_what_it_was_drawn_from() -> None:
    found = votes_of_pilot(drawn_votes(CLOSE, 20_000, 3, np.random.default_rng(1)))
    assert found.win_rate == pytest.approx(0.58, abs=0.01)
    assert found.ties == pytest.approx(0.15, abs=0.01)
    assert found.two_votes == pytest.approx(0.55, abs=0.01)


def test_a_pilot_of_ratings_gives_back_what_it_was_drawn_from() -> None:
    rng = np.random.default_rng(1)
    shared, own = rng.normal(0, 1, (5_000, 1)), rng.normal(0.3, 0.8, (5_000, 1))
    first = shared + own + rng.normal(0, 0.9, (5_000, 3))
    second = shared + rng.normal(0, 0.9, (5_000, 3))
    second[:1_000, 2] = np.nan
    second[1_000:1_100] = np.nan
    found = ratings_of_pilot(first, second)
    assert found.difference == pytest.approx(0.3, abs=0.04)
    assert found.between_items == pytest.approx(0.8, abs=0.04)
    assert found.within_items == pytest.approx(0.9, abs=0.02)


def test_studies_drawn_vote_by_vote() -> None:
    rng, halves, seen = np.random.default_rng(3), [], 0
    for _ in range(1_500):
        votes = drawn_votes(CLOSE, 80, 3, rng)
        values = (votes[:, 0] + votes[:, 2] / 2) / 3
        mean, error = values.mean(), values.std(ddof=1) / 80**0.5
        reach = 1.9905 * error / (mean * (1 - mean))
        low, high = (1 / (1 + (1 - mean) / mean * np.exp(-side * reach)) for side in (-1, 1))
        halves.append((high - low) / 2)
        seen += bool(low > 0.5 or high < 0.5)
    found = precision(Model("win_rate", CLOSE), 80, 3, seed=1)
    assert found.half_width == pytest.approx(np.median(halves), rel=0.01)
    assert found.half_width_90 == pytest.approx(np.quantile(halves, 0.9), rel=0.01)
    assert found.seen == pytest.approx(seen / 1_500, abs=0.04)


def test_what_is_seen_is_what_the_reports_test_sees() -> None:
    rng, significant = np.random.default_rng(5), 0
    for _ in range(300):
        votes = drawn_votes(CLOSE, 60, 3, rng)
        values = (votes[:, 0] + votes[:, 2] / 2) / 3 - 0.5
        significant += sign_flip(values, np.arange(60), Randomization(1)).p_value <= 0.05
    assert precision(Model("win_rate", CLOSE), 60, 3, seed=1).seen == pytest.approx(
        significant / 300, abs=0.08
    )


def test_the_difference_of_ratings_has_textbook_power() -> None:
    assumed = RatingAssumptions(difference=0.4, between_items=0.8, within_items=1.0)
    spread = (0.8**2 + 2 / 2) ** 0.5
    found = precision(Model("difference", assumed), 50, 2, seed=2, studies=20_000)
    assert found.seen == pytest.approx(TTestPower().power(0.4 / spread, 50, 0.05), abs=0.01)


@given(vote_assumptions(), st.integers(1, 5), st.integers(30, 300))
def test_more_items_and_raters_are_no_less_precise(assumed: VoteAssumptions, raters: int, items: int) -> None:
    model = Model("win_rate", assumed)
    once, items_twice = (precision(model, n, raters, seed=1) for n in (items, 4 * items))
    raters_twice = precision(model, items, 4 * raters, seed=1)
    assert items_twice.half_width <= once.half_width + 0.01
    assert raters_twice.half_width <= once.half_width + 0.01


@pytest.mark.parametrize(
    "wanted",
    [Wanted(half_width=0.03), Wanted(seen=0.8), Wanted(half_width=0.3)],
)
def test_the_fewest_items_that_meet_the_aim(wanted: Wanted) -> None:
    model = Model("win_rate", CLOSE)
    found = least_items(model, 3, wanted, seed=1)
    assert found is not None
    assert wanted.is_met(found)
    if found.items > 10:
        assert not wanted.is_met(precision(model, int(found.items * 0.94), 3, seed=1))


def test_an_aim_that_no_study_meets() -> None:
    nothing = VoteAssumptions(0.5, 0, 0.6)
    assert least_items(Model("win_rate", nothing), 3, Wanted(seen=0.8), seed=1) is None
    assert least_items(Model("win_rate", CLOSE), 3, Wanted(half_width=0.0001), seed=1) is None


def test_agreement_of_raters() -> None:
    found = precision(Model("agreement", CLOSE), 100, 3, seed=1)
    assert found.seen is None
    assert 0.02 < found.half_width < 0.06


def test_the_grid_has_every_design() -> None:
    found = grid(Model("win_rate", CLOSE), (50, 100), (1, 3), seed=1)
    assert [(each.items, each.raters) for each in found] == [(50, 1), (50, 3), (100, 1), (100, 3)]
    assert found[0] == precision(Model("win_rate", CLOSE), 50, 1, seed=1)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.9, 0.3, 0.9), "between 15.0% and 85.0%"),
        ((0.5, 1.0, 0.5), "less than 1"),
        ((0.5, 0.0, 0.4), "50.0% of items by chance alone"),
    ],
)
def test_assumptions_that_no_votes_have(values: tuple[float, float, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        VoteAssumptions(*values)


@pytest.mark.parametrize(
    ("items", "raters", "said"),
    [
        (5, 3, "10 to 100,000 items"),
        (MOST_ITEMS + 1, 3, "items"),
        (50, 0, "1 to 50 raters"),
        (50, 51, "raters"),
    ],
)
def test_designs_out_of_reach(items: int, raters: int, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        precision(Model("win_rate", CLOSE), items, raters, seed=1)


def test_one_rater_has_no_agreement() -> None:
    with pytest.raises(ParameterError, match="two raters"):
        precision(Model("agreement", CLOSE), 50, 1, seed=1)


@pytest.mark.parametrize("wanted", [{}, {"half_width": 0.1, "seen": 0.8}, {"half_width": 0}, {"seen": 1}])
def test_an_aim_is_one_thing(wanted: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        Wanted(**wanted)


def test_pilots_that_say_too_little() -> None:
    with pytest.raises(TidyDataError, match="two raters"):
        votes_of_pilot(np.array([[1, 0, 0], [0, 1, 0]]))
    rated = np.array([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(TidyDataError, match="two raters"):
        ratings_of_pilot(rated, rated)
    with pytest.raises(TidyDataError, match="two items"):
        ratings_of_pilot(rated[:1], rated[:1])
    same = np.ones((3, 2))
    with pytest.raises(TidyDataError, match="do not vary"):
        ratings_of_pilot(same, same)
    with pytest.raises(ParameterError, match="Standard deviations"):
        RatingAssumptions(0.1, 0, 0)


def test_a_pilot_at_the_edge_is_not_refused_for_rounding() -> None:
    found = votes_of_pilot(np.array([[0, 0, 2], [1, 0, 1], [0, 0, 1]]))
    assert found.win_rate == pytest.approx(7 / 12)
