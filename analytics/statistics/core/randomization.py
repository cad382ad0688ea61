"""Tests by randomization over queries: they ask for no variance, and so always give a p-value.

`sign_flip` tests one number per query against zero: under the hypothesis each could as well have had the other sign.
`two_sample` tests whether two sets of queries have the same mean: each query could as well be in the other set.
Queries with equal numbers are interchangeable, so all outcomes are counted wherever there are few of them, and always
with up to 20 queries; otherwise outcomes are drawn. Neither depends on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

import numpy as np

from analytics.statistics.core.estimates import ParameterError, TidyDataError
from analytics.statistics.core.jackknife import CHUNK_BYTES
from analytics.statistics.core.resampling import divide, sums_by_query
from analytics.statistics.core.tidy import Bools, Floats, Ints, countable
from evaluation.design import derived_seed

# All outcomes are counted up to so many queries, and of more queries up to so many outcomes: counting them takes about
# as long as drawing does.
FEW_QUERIES, MOST_OUTCOMES = 20, 2**14
# Drawing ends when so many draws are as extreme as what was observed: a p-value that large is known well enough.
ENOUGH_HITS = 500
# So many draws at least, and so many times as many as a p-value at the level needs to be reached at all.
LEAST_DRAWS, DRAWS_AT_LEVEL = 10_000, 100
FIRST_CHUNK = 1_024
# Sums closer together than this part of what they sum up differ by rounding only.
ROUNDING = 1e-9
DECIMALS = 12


@dataclass(frozen=True)
class Randomization:
    """Terms of drawing outcomes where they can't be counted: seed, and the least level that a p is held against.

    With m tests in a family the level is alpha / m. Every test draws from a generator of its own, so that its p-value
    does not depend on which others were made.
    """

    seed: int
    level: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ParameterError("The level of a test must lie between 0 and 1.")

    def of(self, *cell: object) -> Randomization:
        """The same for the test of one cell of a figure, such as a pair of systems in two arms."""
        return replace(self, seed=derived_seed(self.seed, *cell))

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def draws(self) -> int:
        """The largest number of draws."""
        return max(LEAST_DRAWS, ceil(DRAWS_AT_LEVEL / self.level))


@dataclass(frozen=True)
class Tested:
    """A two-sided p-value, over how many queries, how it was found, and the least that the test could have had.

    Few queries, or few that differ from zero, can't give a small p-value, whatever is true.
    """

    p_value: float
    n: int
    method: str
    least: float


@dataclass(frozen=True)
class CorrectedTest(Tested):
    """A test as a report has it; `p_corrected` is None where it is in no family, and `undefined` says why."""

    p_corrected: float | None = None
    tests: int = 0
    undefined: str = ""


@dataclass(frozen=True)
class SignFlip:
    """The chance `tail` of a sum at least as far from zero, on the side that was observed, that of the same sum,
    `equal`, and that of the sum farthest from zero, `least`; `side` is -1, 0 or 1."""

    side: int
    tail: float
    equal: float
    least: float
    n: int
    method: str

    def one_sided(self, side: int) -> float:
        """The p-value of a sum on that side (1 or -1), of which the observed one is one; on the other side than
        observed it is more than one half."""
        if side not in (-1, 1):
            raise ParameterError("A one-sided test is of 1 (above zero) or of -1 (below).")
        return self.tail if self.side in (side, 0) else min(1.0, 1 - self.tail + self.equal)

    @property
    def p_value(self) -> float:
        """Two-sided."""
        return min(1.0, 2 * self.tail)

    @property
    def two_sided(self) -> Tested:
        return Tested(self.p_value, self.n, self.method, min(1.0, 2 * self.least))


def sign_flip(values: Floats, query: Ints, spec: Randomization) -> SignFlip:
    """Sign-flip test of the sum of `values` (m,), whose rows of one `query` (m,) keep a common sign.

    Give differences from the hypothesis: scores less one half, or a query's mean in one arm less that in the other. The
    sum weighs queries as the mean of all rows does; for a mean over queries give one row each. Outcomes are signs that
    are drawn independently for every query (Fisher 1935, section 21); a drawn p-value is that of Besag and Clifford
    (1991), which is not below its level more often than it says. Raises TidyDataError where the shapes differ.
    """
    if values.shape != query.shape or values.ndim != 1:
        raise TidyDataError("A sign-flip test needs a query for each value.")
    sums = np.round(sums_by_query(values, countable(query)), DECIMALS)
    n = len(sums)
    size, times = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    room = ROUNDING * max(float(size @ times), 1e-300)
    observed = float(np.abs(sums.sum()))
    side = 0 if observed <= room else int(np.sign(sums.sum()))
    if _few_outcomes(times):
        outcomes, chance = _all_sums(size, times)
        tail, how = float(chance[outcomes >= observed - room].sum()), "exact"
        equal = float(chance[np.abs(outcomes - observed) <= room].sum())
    else:
        same, of = 1, 1  # the observed one is one of the draws

        def extreme(rng: np.random.Generator, count: int) -> Bools:
            nonlocal same, of
            drawn = _drawn_sums(size, times, rng, count)
            same, of = same + int(np.count_nonzero(np.abs(drawn - observed) <= room)), of + count
            return np.asarray(drawn >= observed - room)

        tail, how = _drawn_tail(extreme, int(times.sum()), spec)
        equal = same / of
    least = 0.5 ** int(times.sum())
    return SignFlip(side, min(1.0, tail), equal, least, n, f"sign-flip over queries, {how}")


def two_sample(one: Floats, other: Floats, spec: Randomization) -> Tested:
    """Permutation test of the difference of the means of `one` (n,) and `other` (m,), one value per query.

    The statistic is Welch's t, so that the test holds its level for large samples of different spread too (Janssen
    1997). Two-sided. Raises TidyDataError where either of the two is empty.
    """
    pooled = np.round(np.concatenate([one, other]), DECIMALS)
    n, n_one = len(pooled), len(one)
    if not n_one or n_one == n:
        raise TidyDataError("Two samples are needed, each with a query at least.")
    value, times = np.unique(pooled, return_counts=True)
    value = value - pooled.mean()
    totals = np.array([n, times @ value, times @ value**2], dtype=np.float64)

    def extreme(size_sum_square: Floats) -> Bools:
        return np.asarray(_welch(size_sum_square, totals) >= observed * (1 - ROUNDING))

    place = np.searchsorted(np.unique(pooled), np.round(one, DECIMALS))
    mine = value[place]
    observed = float(_welch(np.array([[n_one, mine.sum(), (mine**2).sum()]]), totals)[0])
    if _few_outcomes(times):
        outcomes, chance = _all_shares(value, times, n_one)
        tail, how = float(chance[extreme(outcomes)].sum()), "exact"
        farthest = _welch(outcomes, totals)
        least = float(chance[farthest >= farthest.max() * (1 - ROUNDING)].sum())
    else:
        # Of so many queries it is below any level.
        least = 0.0
        tail, how = _drawn_tail(
            lambda rng, count: extreme(_drawn_shares(value, times, n_one, rng, count)), len(value), spec
        )
    return Tested(min(1.0, tail), n, f"permutation of queries, {how}", min(1.0, least))


def holm(p_values: Sequence[float], least: Sequence[float] = ()) -> tuple[float, ...]:
    """The p-values of a family after Holm's correction (Holm 1979), in the order given.

    With the `least` p-value that each test could have had, a p-value is not corrected for tests that could not have had
    one as small: of these none can be a false conclusion at its level (Tarone 1990; Westfall and Wolfinger 1997).
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    times = np.arange(len(p), 0, -1)
    if len(least):
        low, reached = np.asarray(least, dtype=np.float64)[order], p[order] * (1 + ROUNDING)
        times = np.array(
            [np.count_nonzero(low[at:] <= each) for at, each in enumerate(reached)], dtype=np.int64
        )
    raised = np.maximum.accumulate(p[order] * times)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(raised, 1.0)
    return tuple(corrected.tolist())


def _few_outcomes(times: Ints) -> bool:
    return bool(times.sum() <= FEW_QUERIES or np.log2(times + 1.0).sum() <= np.log2(MOST_OUTCOMES))


def _all_sums(size: Floats, times: Ints) -> tuple[Floats, Floats]:
    """Every sum that signs can give to `times` numbers of each `size`, and its chance."""
    sums, chance = np.zeros(1), np.ones(1)
    for each, n in zip(size, times, strict=True):
        positive = np.arange(n + 1)
        sums = np.add.outer(sums, each * (2 * positive - n)).ravel()
        chance = np.multiply.outer(chance, _binomial(int(n))).ravel()
    return sums, chance


@lru_cache(maxsize=256)
def _binomial(n: int) -> Floats:
    """Chances (n + 1,) of each number of positive signs."""
    import scipy

    return np.asarray(scipy.stats.binom.pmf(np.arange(n + 1), n, 0.5))


def _drawn_sums(size: Floats, times: Ints, rng: np.random.Generator, count: int) -> Floats:
    """So many sums with signs drawn at random."""
    n = int(times.sum())
    # A binomial number costs about as much as the signs of this many queries one by one (measured).
    if 16 * len(size) <= n:
        positive = rng.binomial(times, 0.5, size=(count, len(times)))
        return np.asarray((2 * positive - times) @ size)
    each = np.repeat(size, times)
    bits = np.unpackbits(
        np.frombuffer(rng.bytes(count * ceil(n / 8)), dtype=np.uint8).reshape(count, -1), axis=1
    )
    return np.asarray(2 * (bits[:, :n] @ each) - each.sum())


def _all_shares(value: Floats, times: Ints, n_one: int) -> tuple[Floats, Floats]:
    """Size, sum and sum of squares (k, 3) of every first sample that `n_one` queries can make, and its chance (k,)."""
    found, log_ways = np.zeros((1, 3)), np.zeros(1)
    for each, n in zip(value, times, strict=True):
        taken = np.arange(n + 1)
        step = np.stack([taken, taken * each, taken * each**2], axis=1)
        found = (found[:, None, :] + step[None]).reshape(-1, 3)
        log_ways = np.add.outer(log_ways, _log_choose(int(n), taken)).ravel()
        possible = found[:, 0] <= n_one
        found, log_ways = found[possible], log_ways[possible]
    whole = found[:, 0] == n_one
    chance = np.exp(log_ways[whole] - _log_choose(int(times.sum()), np.array(n_one)))
    return found[whole], chance


def _log_choose(n: int, k: Ints) -> Floats:
    import scipy

    log = scipy.special.gammaln
    return np.asarray(log(n + 1) - log(k + 1) - log(n - k + 1))


def _drawn_shares(value: Floats, times: Ints, n_one: int, rng: np.random.Generator, count: int) -> Floats:
    taken = rng.multivariate_hypergeometric(times, n_one, size=count, method="marginals")
    return np.stack([np.full(count, n_one), taken @ value, taken @ value**2], axis=1)


def _welch(one: Floats, totals: Floats) -> Floats:
    """|t| (k,) of samples with size, sum and sum of squares (k, 3), against the rest of all `totals` (3,)."""
    parts = []
    for n, total, square in (one.T, totals[:, None] - one.T):
        mean = total / n
        spread = np.maximum(square - n * mean**2, 0.0)
        spread[spread <= ROUNDING * totals[2]] = 0.0
        parts.append((mean, divide(spread, n * (n - 1))))
    (mean_one, error_one), (mean_other, error_other) = parts
    gap = np.abs(mean_one - mean_other)
    gap[gap <= ROUNDING * np.sqrt(totals[2])] = 0.0
    # A sample of one has no spread of its own.
    error = np.sqrt(np.nan_to_num(error_one) + np.nan_to_num(error_other))
    t = np.full(len(gap), np.inf)
    np.divide(gap, error, out=t, where=error > 0)
    t[gap == 0] = 0.0
    return t


def _drawn_tail(
    extreme: Callable[[np.random.Generator, int], Bools], width: int, spec: Randomization
) -> tuple[float, str]:
    """The p-value from draws of `width` numbers, each extreme or not, and how many it took."""
    rng, hits, drawn = spec.rng, 0, 0
    for count in _chunks(spec.draws, CHUNK_BYTES // (8 * width)):
        places = np.flatnonzero(extreme(rng, count))
        if hits + len(places) >= ENOUGH_HITS:
            drawn += int(places[ENOUGH_HITS - hits - 1]) + 1
            return ENOUGH_HITS / drawn, f"{drawn:,} draws"
        hits, drawn = hits + len(places), drawn + count
    return (hits + 1) / (drawn + 1), f"{drawn:,} draws"


def _chunks(draws: int, most: int) -> Iterator[int]:
    """Sizes up to `most` that add up to so many draws, the first ones small: many tests end early."""
    left, size = draws, FIRST_CHUNK
    while left > 0:
        chunk = max(1, min(size, left, most))
        yield chunk
        left, size = left - chunk, 2 * size
