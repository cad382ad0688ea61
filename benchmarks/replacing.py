"""Simulated studies of a judge beside people, for the coverage of intervals of what it takes to stand in for them."""

import numpy as np
import scipy

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.values import Values
from analytics.statistics.judges.calibration import calibration
from analytics.statistics.raters.severity import severities
from analytics.statistics.replacement.alternative_annotator import SharedAnswers, alternative_annotator
from analytics.statistics.replacement.difference import judge_minus_people
from analytics.statistics.replacement.people_worth import PeopleWorth, worth_by_labels, worth_by_numbers
from benchmarks.simulated import (
    NO_TESTS,
    Design,
    Figures,
    no_replicates,
    of_query_and_item,
    values_of,
)

PEOPLE = 7
SHARE = (0.0, 1.0)


def replacing_figures(rng: np.random.Generator, queries: int, items: int, noise: float) -> Figures:
    """Seven people and a judge with more or less noise than they, who prefer one of two responses, and rate."""
    query, shared = np.repeat(np.arange(queries), items), of_query_and_item(rng, queries, items) + 0.2
    seen = shared[:, None] + 0.6 * rng.standard_normal((len(query), PEOPLE))
    own = shared + noise * rng.standard_normal(len(query))
    label, judge = (seen > 0).astype(np.int64), (own > 0).astype(np.int64)
    unit, rater = (each.ravel() for each in np.indices(label.shape))
    counts, spec = count_matrix(unit, label.ravel(), len(query), 2), no_replicates()
    test = alternative_annotator(
        SharedAnswers(unit, rater, label.ravel().astype(np.float64), judge.astype(np.float64), query),
        epsilon=0.1,
        numbers=False,
        unit="items",
        resample=spec,
    )
    rates = label.mean(axis=1), judge.astype(np.float64)
    difference = judge_minus_people(
        *rates, query, within=SHARE, unit="items", resample=spec, tests=NO_TESTS
    ).difference
    values = Values(unit, query[unit], unit * 0 - 1, unit * 0, unit, rater, seen.ravel())
    severity = severities(values, unit="items", resample=spec)[0].difference
    chances = scipy.stats.norm.cdf(own)
    of_numbers = worth_by_numbers(values, values_of(own, query), unit="items", resample=spec)
    return {
        "difference of win rates": difference,
        "advantage over people": test.advantage,
        "severity of a rater": severity,
        "Brier score": calibration(chances, rates[0], query, resample=spec).brier,
        "worth, by labels": as_share(worth_by_labels(counts, judge, query, unit="items", resample=spec)),
        "worth, by numbers": as_share(of_numbers),
    }


def as_share(worth: PeopleWorth) -> Estimate:
    """k people as k / (k + 1), so that more than any number of them is 1."""
    value, n = share_of(worth.value), worth.judge.n
    if worth.undefined:
        return Estimate(value, None, None, n, "items", undefined=worth.undefined)
    return Estimate(value, share_of(worth.low), share_of(worth.high), n, "items")


def share_of(people: float | None) -> float:
    return 1.0 if people is None else people / (people + 1)


REPLACING: tuple[Design, ...] = (Design("replacing", (0.45, 0.6, 1.0), replacing_figures),)
