"""Statistics over a million and over ten million judgments: seconds of CPU, peak memory, and how they grow.

Each in a process of its own, whose arrays are made before the clock starts; three judgments an item, three items a
query. Ten times the judgments should take about ten times as long.

Usage: python -m benchmarks.scaling [NAME ...]
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from analytics.statistics.agreement.alpha import krippendorff_alpha
from analytics.statistics.agreement.coefficients import gwet_ac1
from analytics.statistics.agreement.icc import intraclass_correlations
from analytics.statistics.agreement.leave_one_out import inner_agreement, outer_agreement
from analytics.statistics.agreement.percentage import agreement
from analytics.statistics.agreement.rating_rates import rating_rates
from analytics.statistics.agreement.two_votes import two_votes_within
from analytics.statistics.agreement.value_alpha import alpha_of_values
from analytics.statistics.aspects.weights import aspect_weights
from analytics.statistics.core.tidy import Ints
from analytics.statistics.judges.labels_vs_people import kappa_with_majority
from analytics.statistics.preferences.bias import position_bias
from analytics.statistics.preferences.bradley_terry import bradley_terry
from analytics.statistics.preferences.win_rates import expected_win_rates, majority_win_rates
from analytics.statistics.rankings.concordance import concordance
from analytics.statistics.rankings.plackett_luce import plackett_luce
from analytics.statistics.rankings.rankings import system_ranks
from analytics.statistics.rankings.ranks import Ranks
from analytics.statistics.raters.order_effects import order_effect
from analytics.statistics.raters.times import judging_times, thirds_of_work
from analytics.statistics.ratings.scales import mean_value
from benchmarks.simulated import (
    NO_TESTS,
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

SIZES = (1_000_000, 10_000_000)
ITEMS_PER_QUERY = 3
SYSTEMS = ("a", "b", "c", "d")
PAIRS = 6
MEGABYTE = 1024  # ru_maxrss counts kilobytes
Call = Callable[[], Any]


def queries_of(n: int) -> Ints:
    """The query of each item of so many judgments."""
    return np.arange(n // RATERS) // ITEMS_PER_QUERY


def of_counts(n: int) -> dict[str, Call]:
    rng, query, spec = np.random.default_rng(1), queries_of(n), no_replicates()
    shared = rng.standard_normal(len(query))
    counts, judge = counts_of(labels(rng, shared, 0.7)), labels(rng, shared, 0.7)[:, 0]
    return {
        "percentage agreement": lambda: agreement(counts, query, resample=spec),
        "leave-one-out agreement": lambda: inner_agreement(counts, query, resample=spec),
        "alpha, nominal": lambda: krippendorff_alpha(counts, query, level="nominal", resample=spec),
        "AC1": lambda: gwet_ac1(counts, query, resample=spec),
        "two votes": lambda: two_votes_within(counts, query, resample=spec),
        "leave-one-out, judge": lambda: outer_agreement(counts, judge, query, resample=spec),
        "kappa with the majority": lambda: kappa_with_majority(counts, judge, query, resample=spec),
    }


def of_pairs(n: int) -> dict[str, Call]:
    rng, query, spec = np.random.default_rng(1), queries_of(n), no_replicates()
    items = pairwise_items(query, np.arange(len(query)) % PAIRS, systems=SYSTEMS)
    judgments = judgments_of(labels(rng, rng.standard_normal(len(query)), 0.7))
    judged = query[judgments.item]
    return {
        "win rates by majority": lambda: majority_win_rates(items, judgments, resample=spec),
        "expected win rates": lambda: expected_win_rates(items, judgments, resample=spec),
        "Bradley-Terry": lambda: bradley_terry(items, judgments, resample=spec),
        "position bias": lambda: position_bias(
            judgments.label, judgments.first, judged, resample=spec, tests=NO_TESTS
        ),
    }


def of_ratings(n: int) -> dict[str, Call]:
    rng, query, spec = np.random.default_rng(1), queries_of(n), no_replicates()
    shared = rng.standard_normal(len(query))
    rated = ratings(query, on_points(3.5 + shared[:, None] + rng.standard_normal((len(query), RATERS))))
    # Each rater sees a thousand items or so, in the order of the rows.
    rater = rated.rater + RATERS * (rated.item // 1000)
    seconds = np.exp(4 + 0.5 * rng.standard_normal(len(rated.value)))
    third = thirds_of_work(rater)
    effect = partial(order_effect, within=(POINTS[0], POINTS[-1]), unit="answers", tests=NO_TESTS)
    return {
        "mean rating": lambda: mean_value(rated, resample=spec, within=(POINTS[0], POINTS[-1])),
        "alpha, ordinal": lambda: alpha_of_values(rated, level="ordinal", points=POINTS, resample=spec),
        "ICC": lambda: intraclass_correlations(rated, resample=spec),
        "rates of equal ratings": lambda: rating_rates(rated, points=POINTS, resample=spec),
        "times": lambda: judging_times(seconds, rated.item, rater, rated.query, resample=spec),
        "order effects": lambda: effect(rated.value, third, rated.query, resample=spec),
    }


def of_aspects(n: int) -> dict[str, Call]:
    rng, query, spec = np.random.default_rng(1), np.repeat(queries_of(n), RATERS), no_replicates()
    distances = np.clip(np.round(1.2 + rng.standard_normal((len(query), 3))), 0, 3) / 3
    overall = np.clip(np.round(3 - distances @ [0.3, 0.7, 2.0] + 0.4 * rng.standard_normal(len(query))), 0, 3)
    return {
        "weights of aspects": lambda: aspect_weights(
            distances, overall, query, ideal=3, seed=1, resample=spec
        )
    }


def of_rankings(n: int) -> dict[str, Call]:
    """So many rankings of four systems each."""
    rng, spec, k = np.random.default_rng(1), no_replicates(), len(SYSTEMS)
    item = np.repeat(np.arange(n // RATERS), RATERS)
    seen = np.linspace(0.5, -0.5, k) + rng.standard_normal((len(item), k))
    rank = np.argsort(np.argsort(-seen, axis=1), axis=1) + 1.0
    system = np.tile(np.arange(k), len(item))
    ranks = Ranks(
        judgment=np.repeat(np.arange(len(item)), k),
        item=np.repeat(item, k),
        query=np.repeat(item // ITEMS_PER_QUERY, k),
        rater=np.repeat(np.arange(len(item)) % RATERS, k),
        response=system,
        system=system,
        rank=rank.ravel(),
        place=np.full(rank.size, -1),
    )
    return {
        "mean ranks": lambda: system_ranks(ranks, k, resample=spec),
        "Kendall's W and tau": lambda: concordance(ranks, resample=spec),
        "Plackett-Luce": lambda: plackett_luce(ranks, SYSTEMS, resample=spec),
    }


MAKERS = {
    name: maker
    for maker in (of_counts, of_pairs, of_ratings, of_aspects, of_rankings)
    # The names do not depend on the size.
    for name in maker(SIZES[0] // 10_000)
}


def main() -> None:
    wanted = [name for name in sys.argv[1:] if name in MAKERS] or MAKERS
    print(f"{os.cpu_count()} cores; CPU seconds, peak MB with the arrays; growth is the ratio of seconds")
    print(f"{'':<26}" + "".join(f"{f'{n:,}':>14}{'MB':>8}" for n in SIZES) + f"{'growth':>9}")
    for name in wanted:
        found = [run_child(name, n) for n in SIZES]
        cells = "".join(f"{each['seconds']:>14.2f}{each['memory']:>8,.0f}" for each in found)
        print(f"{name:<26}{cells}{found[1]['seconds'] / found[0]['seconds']:>9.1f}", flush=True)


def run_child(name: str, n: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scaling", "child", name, str(n)]
    # Threads of linear algebra would make CPU seconds of one core those of several.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def child(name: str, n: int) -> None:
    call = MAKERS[name](n)[name]
    started = time.process_time()
    call()
    seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    print(json.dumps({"seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main()
