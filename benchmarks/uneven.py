"""Simulated studies in which nearly all labels, or ratings, are one and the same, for the coverage of intervals.

The designs' parameter is the share of the most common label. A third of the differences among items is agreed upon,
whatever that share: a rater gives an item's own label or, as often as it takes, any label by its share. Half of the
items have a label of their query's, the others one of their own. Of length control it is the win rate at equal lengths.
"""

import numpy as np
import numpy.typing as npt

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.coefficients import COEFFICIENTS
from analytics.statistics.agreement.kappa import cohen_kappa
from analytics.statistics.agreement.leave_one_out import inner_agreement
from analytics.statistics.agreement.percentage import agreement
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.judges.labels_vs_people import kappa_with_majority
from analytics.statistics.judges.ratings_vs_people import compare_means
from analytics.statistics.leaderboards.length_control import LengthRows, length_controlled
from analytics.statistics.ratings.scales import distribution, mean_value
from benchmarks.simulated import (
    POINTS,
    RATERS,
    Design,
    Figures,
    Floats,
    counts_of,
    no_replicates,
    ratings,
)

AGREED = 1 / 3
# How the other labels share what the most common one leaves: of a preference, and of the points below the best.
OTHER_LABELS = (0.6, 0.4)
OTHER_POINTS = (0.1, 0.2, 0.3, 0.4)


def drawn(rng: np.random.Generator, queries: int, items: int, chances: Floats) -> npt.NDArray[np.int64]:
    """Labels (queries * items, RATERS + 1) of people and a judge."""
    n, k = queries * items, len(chances)
    of_query = np.repeat(rng.choice(k, size=queries, p=chances), items)
    own = np.where(rng.random(n) < 0.5, of_query, rng.choice(k, size=n, p=chances))
    seen = rng.random((n, RATERS + 1)) < np.sqrt(AGREED)
    return np.where(seen, own[:, None], rng.choice(k, size=seen.shape, p=chances))


def label_figures(rng: np.random.Generator, queries: int, items: int, share: float) -> Figures:
    """Preferences for the first response, nearly always."""
    query, spec = np.repeat(np.arange(queries), items), no_replicates()
    chances = np.array([share, *((1 - share) * np.array(OTHER_LABELS))])
    label = drawn(rng, queries, items, chances).astype(np.int8)
    counts = counts_of(label[:, :RATERS])
    return {
        "agreement, uneven": agreement(counts, query, resample=spec).with_ties,
        "leave-one-out agreement, uneven": inner_agreement(counts, query, resample=spec),
        "alpha, nominal, uneven": krippendorff_alpha(counts, query, level="nominal", resample=spec),
        **{f"{name}, uneven": of(counts, query, resample=spec).estimate for name, of in COEFFICIENTS.items()},
        "kappa of two raters, uneven": cohen_kappa(
            label[:, 0], label[:, 1], query, n_labels=3, resample=spec
        ),
        "kappa with the majority, uneven": kappa_with_majority(counts, label[:, -1], query, resample=spec),
    }


def rating_figures(rng: np.random.Generator, queries: int, items: int, share: float) -> Figures:
    """Ratings at the best point, nearly always."""
    query, spec, ends = np.repeat(np.arange(queries), items), no_replicates(), (POINTS[0], POINTS[-1])
    chances = np.array([*((1 - share) * np.array(OTHER_POINTS)), share])
    given = np.array(POINTS)[drawn(rng, queries, items, chances)]
    people, judge = ratings(query, given[:, :RATERS]), ratings(query, given[:, RATERS:])
    compared = compare_means(people, judge, resample=spec, within=ends)
    return {
        "mean rating, uneven": mean_value(people, resample=spec, within=ends).mean,
        "share of the lowest point": distribution(people, POINTS, resample=spec).shares[0],
        "alpha, ordinal, uneven": alpha_of_values(people, level="ordinal", points=POINTS, resample=spec),
        "alpha, interval, uneven": alpha_of_values(people, level="interval", points=POINTS, resample=spec),
        "Pearson's r, uneven": compared.pearson,
        "Spearman's rho, uneven": compared.spearman,
        "mean absolute error, uneven": compared.error,
        "mean difference, uneven": compared.difference,
    }


def length_figures(rng: np.random.Generator, queries: int, items: int, rate: float) -> Figures:
    """Preferences for one system nearly always, as often at equal lengths as `rate` says, by a rater who prefers longer
    responses."""
    query = np.repeat(np.arange(queries), items)
    gap = rng.standard_normal(len(query)) + 0.3
    lean = np.log(rate / (1 - rate)) + 0.5 * rng.standard_normal(queries)[query] + 0.5 * np.tanh(gap)
    preferred = (rng.logistic(size=len(query)) < lean).astype(np.float64)
    rows = LengthRows(preferred, 200 * gap, np.zeros(len(query)), query, np.arange(queries)[query] % 5)
    found = length_controlled(rows, resample=no_replicates())
    return {"length-controlled rate, uneven": found.rate, "change, uneven": found.change}


UNEVEN: tuple[Design, ...] = (
    Design("uneven labels", (0.7, 0.8, 0.9), label_figures),
    Design("uneven ratings", (0.7, 0.8, 0.9), rating_figures),
    Design("uneven lengths", (0.9, 0.97, 0.99), length_figures),
)
