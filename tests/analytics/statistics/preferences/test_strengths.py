"""What each query moves strengths by: against a Newton step that is solved whole, and against fits of resamples."""

from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.statistics.core.jackknife import error_of
from analytics.statistics.preferences.strengths import Comparisons, fit_strengths, leave_out_queries

PER_SIDE = 0.01


def compared(k, queries, most, rng, spread=1.0):
    """Comparisons of 1 to `most` pairs a query, by systems that are `spread` apart from first to last."""
    pairs = np.array(list(combinations(range(k), 2)))
    theta = np.linspace(spread / 2, -spread / 2, k)
    wins = np.zeros((queries, len(pairs), 2))
    for query in range(queries):
        for pair in rng.choice(len(pairs), size=rng.integers(1, most + 1), replace=False):
            one, two = theta[pairs[pair]]
            won = rng.binomial(3, 1 / (1 + np.exp(two - one)))
            wins[query, pair] = won, 3 - won
    return Comparisons(
        np.arange(k), pairs, scipy.sparse.csr_array(wins.reshape(queries, -1)), np.zeros(k, dtype=int)
    )


def fitted(data, wins):
    return fit_strengths(data.pairs, wins.reshape(1, -1, 2) + PER_SIDE, len(data.systems))[0]


def slow_moves(data, values):
    """All systems of every query, in matrices."""
    k, moves = len(values), []
    design = np.zeros((len(data.pairs), k))
    design[np.arange(len(data.pairs)), data.pairs[:, 0]] = 1
    design[np.arange(len(data.pairs)), data.pairs[:, 1]] = -1
    chance = 1 / (1 + np.exp(-design @ values))
    wins = data.wins.toarray().reshape(-1, len(data.pairs), 2)
    everything = wins.sum(axis=(0, 2)) + 2 * PER_SIDE
    for of_query in wins:
        judged = of_query.sum(axis=1)
        weight = (everything - judged) * chance * (1 - chance)
        gradient = design.T @ (of_query[:, 0] - judged * chance)
        moves.append(np.linalg.solve(design.T @ (weight[:, None] * design) + 1.0, gradient))
    return np.array(moves)


@given(st.integers(3, 6), st.integers(2, 12), st.integers(1, 3), st.integers(0, 10_000))
def test_a_query_moves_strengths_as_a_step_without_it_does(k, queries, most, seed):
    data = compared(k, queries, most, np.random.default_rng(seed))
    values = fitted(data, data.wins.sum(axis=0))
    moves = leave_out_queries(data, values, PER_SIDE)
    wanted = slow_moves(data, values)
    assert moves.pull @ moves.spread == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    errors = np.sqrt(np.maximum(np.diag(moves.covariance()), 0))
    assert errors == pytest.approx(error_of(wanted), rel=1e-6, abs=1e-6)


def test_resamples_are_off_as_their_fits_are():
    data = compared(6, 400, 3, np.random.default_rng(4))
    values = fitted(data, data.wins.sum(axis=0))
    moved = leave_out_queries(data, values, PER_SIDE).drawn(np.random.default_rng(5), 200)
    rng = np.random.default_rng(5)
    drawn = np.stack([np.bincount(rng.integers(0, 400, size=400), minlength=400) for _ in range(200)])
    refitted = np.stack([fitted(data, each @ data.wins) for each in drawn]) - values
    assert np.corrcoef(moved.ravel(), refitted.ravel())[0, 1] > 0.99
    assert moved.std(axis=0) == pytest.approx(refitted.std(axis=0), rel=0.05)
