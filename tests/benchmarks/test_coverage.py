"""Intervals hold the truth as often as they say: three cells of the coverage benchmark; and its table is up to date."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage import ALL_DESIGNS, Block, cover
from benchmarks.two_studies import false_claims

STATISTICS = Path(__file__).parents[2] / "docs" / "statistics.md"


@pytest.mark.parametrize(
    ("block", "queries", "figures"),
    [
        # Nine items of a query depend; fifteen queries are few.
        (Block("agreement", 0.5, 9), 30, ("alpha, nominal", "kappa of two raters", "agreement, with ties")),
        (Block("strengths", 1.0, 1), 15, ("Bradley-Terry, best system", "chance to beat the average")),
        (Block("powered", 1.0, 1), 30, ("mean rating with a judge", "win rate with a fitted judge")),
        # Queries are as hard in one study as in the other.
        (
            Block("two studies", 0.95, 3),
            15,
            ("two studies: expected win rates", "two studies: alpha, nominal", "two studies: means"),
        ),
    ],
)
def test_intervals_cover_as_often_as_they_say(block, queries, figures) -> None:
    found = {each.figure: each for each in cover(block, [queries], simulations=300, seed=2)}
    for figure in figures:
        assert found[figure].intervals >= 290
        # 95 %, give or take two and a half standard errors of 300 simulations.
        assert 0.92 <= found[figure].coverage <= 0.98


def test_an_interval_that_covers_less_has_a_footnote() -> None:
    """Nearly all labels are one and the same: with few queries the footnote is right, with many it isn't there."""
    figures = ("alpha, nominal, uneven", "kappa of two raters, uneven")
    found = {
        (each.figure, each.queries): each
        for each in cover(Block("uneven labels", 0.8, 1), [15, 100], simulations=300, seed=2)
    }
    for figure in figures:
        few, many = found[figure, 15], found[figure, 100]
        assert few.noted > 5 * few.intervals
        assert few.noted_held / few.noted < 0.92
        assert many.noted == 0
        assert 0.92 <= many.coverage <= 0.98


@pytest.mark.audit
def test_studies_without_a_difference_are_rarely_said_to_differ() -> None:
    """At 5 %, the largest share over six kinds of studies: by chance up to four standard errors above."""
    assert max(false_claims(20, simulations=150, seed=3).values()) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 150)


def test_the_table_has_every_figure() -> None:
    text = STATISTICS.read_text()
    for design in ALL_DESIGNS:
        for figure in design.figures(np.random.default_rng(0), 10, 1, design.values[0]):
            assert f"| {figure} |" in text
