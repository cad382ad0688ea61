"""p-values of all pairs of systems against the number of queries, which say how many tell systems apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Floats, Ints

# Numbers of queries that are tried below that of the data, and how many samples are drawn of each.
SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
DRAWS = 50
# Of many systems fewer samples are drawn: the mean and the quantiles are over so many pairs.
LEAST_DRAWS = 5
TESTS = 100_000
LEVEL = 0.05
QUANTILES = (0.8, 0.9)
# Differences whose variance is below this part of their square differ by rounding only.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SizePoint:
    """Of `n` queries: mean and quantiles over pairs of systems of the p-value, and the share of pairs below 0.05.

    A pair's p-value is its mean over the samples drawn; of all queries there is one sample. `pairs` are those with at
    least two queries of both in some sample.
    """

    n: int
    draws: int
    pairs: int
    mean: float
    quantile_80: float
    quantile_90: float
    told_apart: float


@dataclass(frozen=True)
class SampleSizes:
    """p against n over pairs of `systems`; `enough` is the least tried number of queries from which on the 80th, and
    the 90th, quantile is below 0.05, None where it is at none."""

    systems: int
    queries: int
    points: tuple[SizePoint, ...]
    enough_80: int | None
    enough_90: int | None


def p_against_n(scores: Floats, *, resample: ResampleSpec, groups: Ints | None = None) -> SampleSizes | None:
    """p-values of paired t-tests between all pairs of systems, of samples of their queries (HREF, Figure 6).

    scores (q, s) are means of each system's scores on each query, nan without any. Samples are drawn without
    replacement (the paper does not say how its are drawn), and a pair's p-value is averaged over the samples before
    quantiles over pairs are taken. Pairs of systems of different `groups` (s,), which were never compared, are left
    out: their scores are against other opponents. None with fewer than three systems or ten queries, or no pair.
    """
    if scores.size:
        known_systems = np.isfinite(scores).any(axis=0)
        scores, groups = scores[:, known_systems], None if groups is None else groups[known_systems]
    if scores.ndim != 2 or scores.shape[1] < 3 or len(scores) < SIZES[0]:
        return None
    one, other = np.triu_indices(scores.shape[1], 1)
    compared = np.full(len(one), True) if groups is None else groups[one] == groups[other]
    rng = resample.rng("p against n")
    points = []
    for size in [*(size for size in SIZES if size < len(scores)), len(scores)]:
        samples = [scores] if size == len(scores) else _samples(scores, size, rng)
        found = np.stack([paired_p_values(sample) for sample in samples])
        known = np.isfinite(found) & compared
        pairs = known.any(axis=0)
        if not pairs.any():
            continue
        p = np.nansum(found[:, pairs], axis=0) / known[:, pairs].sum(axis=0)
        q80, q90 = np.quantile(p, QUANTILES, method="inverted_cdf")
        points.append(
            SizePoint(
                size,
                len(found),
                int(pairs.sum()),
                float(p.mean()),
                float(q80),
                float(q90),
                float((p < LEVEL).mean()),
            )
        )
    if not points:
        return None
    return SampleSizes(
        scores.shape[1],
        len(scores),
        tuple(points),
        _enough([(point.n, point.quantile_80) for point in points]),
        _enough([(point.n, point.quantile_90) for point in points]),
    )


def paired_p_values(scores: Floats) -> Floats:
    """Two-sided p-values (s * (s - 1) / 2,) of paired t-tests between the columns of `scores` (n, s), pairs in the
    order of `numpy.triu_indices`; nan with fewer than two rows of both.

    Differences that are all zero have p = 1, others that are all the same p = 0, to which the test tends.
    """
    import scipy

    known = np.isfinite(scores)
    value, mask = np.where(known, scores, 0.0), known.astype(np.float64)
    square = value**2
    n = mask.T @ mask
    total = value.T @ mask - mask.T @ value
    squares = square.T @ mask + mask.T @ square - 2 * value.T @ value
    upper = np.triu_indices(scores.shape[1], 1)
    n, total, squares = n[upper], total[upper], squares[upper]
    enough = n > 1
    size = np.where(enough, n, 2.0)
    mean = total / size
    spread = squares - size * mean**2
    spread = np.where(spread <= ROUNDING * np.maximum(squares, 1.0), 0.0, spread)
    error = np.sqrt(spread / (size * (size - 1)))
    t = np.full(len(n), np.inf)
    np.divide(np.abs(mean), error, out=t, where=error > 0)
    t[np.abs(mean) <= ROUNDING] = 0.0
    return np.where(enough, 2 * scipy.special.stdtr(size - 1, -t), np.nan)


def _samples(scores: Floats, size: int, rng: np.random.Generator) -> list[Floats]:
    systems = scores.shape[1]
    draws = min(DRAWS, max(LEAST_DRAWS, TESTS // (systems * (systems - 1) // 2)))
    return [scores[rng.choice(len(scores), size, replace=False)] for _ in range(draws)]


def _enough(points: list[tuple[int, float]]) -> int | None:
    """The least number from which on all are below the level."""
    found = None
    for n, p in reversed(points):
        if p >= LEVEL:
            break
        found = n
    return found
