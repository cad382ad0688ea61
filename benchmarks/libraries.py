"""Statistics with their intervals beside the obvious call of a library: CPU seconds of each, as ratios.

A hundred thousand judgments, three an item and three items a query. An interval of a library's figure is what most
would write: the library's call in a loop of 1,000 bootstrap draws over queries; a few of the draws are timed.

Usage: python -m benchmarks.libraries
"""

import os
import time
from collections.abc import Callable
from typing import Any

# Threads of linear algebra would make CPU seconds of one core those of several.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import krippendorff
import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.kappa import cohen_kappa
from analytics.statistics.agreement.percentage import agreement
from analytics.statistics.aspects.weights import aspect_weights
from analytics.statistics.preferences.bradley_terry import bradley_terry
from analytics.statistics.preferences.win_rates import expected_win_rates
from analytics.statistics.ratings.scales import mean_value
from analytics.statistics.variance.between_groups import between_groups
from benchmarks.scaling import PAIRS, SYSTEMS, queries_of
from benchmarks.simulated import (
    POINTS,
    RATERS,
    counts_of,
    judgments_of,
    labels,
    no_replicates,
    on_points,
    pairwise_items,
    ratings,
)

JUDGMENTS = 100_000
DRAWS, TIMED = 1_000, 5
Call = Callable[[], Any]


def main() -> None:
    print(f"{JUDGMENTS:,} judgments; CPU seconds; an interval by a library is {DRAWS:,} draws")
    print(f"{'':<28}{'ours':>8}{'library':>10}{'ratio':>9}  library's call")
    for name, ours, library, draws, said in comparisons():
        mine = timed(ours)
        theirs = min(timed(library) for _ in range(TIMED)) * draws
        print(f"{name:<28}{mine:>8.3f}{theirs:>10.2f}{theirs / mine:>9,.1f}  {said}", flush=True)


def timed(call: Call) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def comparisons() -> list[tuple[str, Call, Call, int, str]]:
    """Name, our call with its interval, the library's call, how often it is made, and what it is."""
    rng, query, spec = np.random.default_rng(1), queries_of(JUDGMENTS), no_replicates()
    shared = rng.standard_normal(len(query))
    label = labels(rng, shared, 0.7)
    counts, judgments = counts_of(label), judgments_of(label)
    items = pairwise_items(query, np.arange(len(query)) % PAIRS, systems=SYSTEMS)
    long = pd.DataFrame({"item": judgments.item, "label": judgments.label})
    long["pair"] = long["item"] % PAIRS
    value = on_points(3.5 + shared[:, None] + rng.standard_normal((len(query), RATERS)))
    rated, system = ratings(query, value), np.arange(value.size) % len(SYSTEMS)
    distances = np.clip(np.round(1.2 + rng.standard_normal((value.size, 3))), 0, 3) / 3
    overall = np.clip(np.round(3 - distances @ [0.3, 0.7, 2.0] + 0.4 * rng.standard_normal(value.size)), 0, 3)
    of_rating = np.repeat(query, RATERS)
    design = sides(items, judgments)
    won = (judgments.label == 0).astype(float)
    return [
        (
            "alpha, nominal",
            lambda: krippendorff_alpha(counts, query, level="nominal", resample=spec),
            lambda: krippendorff.alpha(label.T.astype(float), level_of_measurement="nominal"),
            DRAWS,
            "krippendorff.alpha in a loop",
        ),
        (
            "kappa of two raters",
            lambda: cohen_kappa(label[:, 0], label[:, 1], query, n_labels=3, resample=spec),
            lambda: cohen_kappa_score(label[:, 0], label[:, 1]),
            DRAWS,
            "sklearn's cohen_kappa_score in a loop",
        ),
        (
            "percentage agreement",
            lambda: agreement(counts, query, resample=spec),
            lambda: long.groupby(["item", "label"]).size().groupby("item").max().mean() / RATERS,
            DRAWS,
            "a pandas groupby in a loop",
        ),
        (
            "expected win rates",
            lambda: expected_win_rates(items, judgments, resample=spec),
            lambda: long.groupby("pair")["label"].value_counts(normalize=True),
            DRAWS,
            "a pandas groupby in a loop",
        ),
        (
            "mean rating",
            lambda: mean_value(rated, resample=spec, within=(POINTS[0], POINTS[-1])),
            lambda: pd.Series(rated.value).groupby(rated.query).mean().mean(),
            DRAWS,
            "a pandas groupby in a loop",
        ),
        (
            "Bradley-Terry",
            lambda: bradley_terry(items, judgments, resample=spec),
            lambda: sm.Logit(won, design).fit(disp=False),
            1,
            "statsmodels' Logit, once, with its own errors",
        ),
        (
            "weights of aspects",
            lambda: aspect_weights(distances, overall, of_rating, ideal=3, seed=1, resample=spec),
            lambda: sm.OLS(3 - overall, distances).fit(cov_type="cluster", cov_kwds={"groups": of_rating}),
            1,
            "statsmodels' OLS, once, with clustered errors; ours has 20 held-out splits, too",
        ),
        (
            "analysis of variance, Tukey",
            lambda: between_groups(rated.value, system),
            lambda: pairwise_tukeyhsd(rated.value, system),
            1,
            "statsmodels' pairwise_tukeyhsd",
        ),
    ]


def sides(items: Any, judgments: Any) -> np.ndarray[Any, Any]:
    """1 for the first system of each judgment's item and -1 for the second, but for one system, (n, k - 1)."""
    found = np.zeros((len(judgments.item), len(SYSTEMS)))
    rows = np.arange(len(found))
    found[rows, items.system_1[judgments.item]] += 1
    found[rows, items.system_2[judgments.item]] -= 1
    return found[:, 1:]


if __name__ == "__main__":
    main()
