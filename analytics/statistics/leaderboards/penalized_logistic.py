"""Logistic regression with an L1 penalty whose strength is chosen by cross-validation.

The model of scikit-learn's LogisticRegressionCV with `penalty="l1"` and without an intercept, for targets that are
chances: the sum of absolute coefficients plus C times the log loss. Its grid of C is the same.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.resampling import sum_by
from analytics.statistics.core.tidy import Bools, Floats, Ints

GRID = np.logspace(-4, 4, 10)
# Above so many rows, features are rounded to such a part before equal rows are put together.
MANY_ROWS, ROUNDED_TO = 20_000, 1 / 16
# The last step is so small that another machine's rounding does not show in a report. What the loss has less or more
# than this is its own rounding.
MOST_STEPS, LAST_STEP, ROUNDING = 200, 1e-11, 1e-13
# Chances that the log loss of a fold takes for 0 and 1.
EDGE = 1e-15


@dataclass(frozen=True, eq=False)
class PenalizedFit:
    """Coefficients (k,), and C, the inverse of the penalty's strength; `loosest` (k,) are those at the largest C of the
    grid, where next to nothing is drawn to zero."""

    coefficients: Floats
    inverse_penalty: float
    loosest: Floats


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that differ: features (m, k), the weight of the rows that each stands for (m,), and their weighted sum of
    targets (m,)."""

    x: Floats
    n: Floats
    y: Floats


def fit_cross_validated(x: Floats, y: Floats, fold: Ints, weight: Floats | None = None) -> PenalizedFit:
    """The fit of chances `y` (n,) on `x` (n, k), with the C of the least log loss, averaged over folds (n,).

    `weight` (n,) is that of each row in all sums, 1 by default.

    Every fold counts the same, whatever its size. With one fold only C is the largest of the grid.
    """
    rows, of_fold = _put_together(x, y, fold, np.ones(len(x)) if weight is None else weight)
    folds = np.unique(of_fold)
    loss = np.zeros(len(GRID))
    for each in folds if len(folds) > 1 else ():
        inside, outside = _where(rows, of_fold == each), _where(rows, of_fold != each)
        coefficients = np.zeros(x.shape[1])
        for at, c in enumerate(GRID):
            coefficients = fit_at(outside, c, coefficients)
            loss[at] += _log_loss(inside, coefficients)
    c = float(GRID[int(np.argmin(loss))]) if len(folds) > 1 else float(GRID[-1])
    start = np.zeros(x.shape[1])
    return PenalizedFit(fit_at(rows, c, start), c, fit_at(rows, float(GRID[-1]), start))


def fit_at(rows: _Rows, c: float, start: Floats) -> Floats:
    """Coefficients (k,) at one C, by Newton steps on the quadratic model with the penalty (proximal Newton)."""
    import scipy

    w = start.copy()
    value = _objective(rows, c, w)
    for _ in range(MOST_STEPS):
        chance = scipy.special.expit(rows.x @ w)
        gradient = c * (rows.x.T @ (rows.n * chance - rows.y))
        curve = c * (rows.x.T * (rows.n * chance * (1 - chance))) @ rows.x
        step = _penalized_step(w, gradient, curve + 1e-12 * (1 + np.trace(curve)) * np.eye(len(w)))
        size = 1.0
        most = value + ROUNDING * abs(value)
        while (found := _objective(rows, c, w + size * step)) > most and size > 1e-8:
            size /= 2
        if found > most:
            break
        # Where two effects can hardly be told apart, steps by rounding alone stay larger than the last.
        is_last = found >= value or size * np.abs(step).max(initial=0) <= LAST_STEP * (
            1 + np.abs(w).max(initial=0)
        )
        w, value = w + size * step, found
        if is_last:
            break
    return w


def _penalized_step(w: Floats, gradient: Floats, curve: Floats) -> Floats:
    """The step that minimizes gradient and curvature plus the absolute coefficients.

    For given signs of the coefficients it solves linear equations; of up to three coefficients all signs are tried.
    """
    signs = np.array(list(itertools.product((0.0, 1.0, -1.0), repeat=len(w))))
    free = signs != 0
    # What is not free goes to zero.
    equations = np.where(free[:, :, None] & free[:, None, :], curve, np.eye(len(w)))
    right = np.where(free, (~free * w) @ curve - gradient - signs, -w)
    steps = np.linalg.solve(equations, right[:, :, None])[:, :, 0]
    value = steps @ gradient + ((steps @ curve) * steps).sum(axis=1) / 2 + np.abs(w + steps).sum(axis=1)
    return np.asarray(steps[int(np.argmin(value))])


def _objective(rows: _Rows, c: float, w: Floats) -> float:
    z = rows.x @ w
    return float(np.abs(w).sum() + c * (rows.n @ np.logaddexp(0, z) - rows.y @ z))


def _log_loss(rows: _Rows, w: Floats) -> float:
    import scipy

    chance = np.clip(scipy.special.expit(rows.x @ w), EDGE, 1 - EDGE)
    total = rows.y @ np.log(chance) + (rows.n - rows.y) @ np.log(1 - chance)
    return float(-total / rows.n.sum())


def _put_together(x: Floats, y: Floats, fold: Ints, weight: Floats) -> tuple[_Rows, Ints]:
    """Equal rows of a fold as one, which changes no sum; the fold of each."""
    if len(x) > MANY_ROWS:
        x = np.round(x / ROUNDED_TO) * ROUNDED_TO
    cell = fold.astype(np.int64)
    for column in x.T:
        _, code = np.unique(column, return_inverse=True)
        _, cell = np.unique(cell * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    n = int(cell.max()) + 1
    first = np.empty(n, dtype=np.int64)
    first[cell] = np.arange(len(cell))
    return _Rows(x[first], sum_by(cell, weight, n), sum_by(cell, weight * y, n)), fold[first]


def _where(rows: _Rows, mask: Bools) -> _Rows:
    return _Rows(rows.x[mask], rows.n[mask], rows.y[mask])
