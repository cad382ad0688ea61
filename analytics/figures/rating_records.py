"""Means, shares and distributions of ratings, choices and checklists: overall, by system and by what else tells
them apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analytics.figures.families import is_supported
from analytics.figures.figure_input import AnswerInput, distribution_records, points_of, several
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.tidy import Ints
from analytics.statistics.ratings.scales import (
    Distribution,
    MeanValue,
    best_and_worst,
    distribution,
    distributions_by_group,
    mean_value,
    means_by_group,
)

Record = dict[str, Any]


def rating_record(given: AnswerInput) -> Record:
    """The part of a record that ratings, choices and checklists have in common."""
    return {
        **overall(given),
        "by_system": by_system(given),
        "best_and_worst": tested_ends(given),
        "best_system": None,
        "worst_system": None,
        **by_factors(given),
    }


def overall(given: AnswerInput) -> Record:
    """The mean (of a checklist, the share of yes) and how often each value was given."""
    spread_out = distribution(
        given.values, points_of(given.question), resample=given.resample("distribution"), unit="answers"
    )
    found = None
    if not given.has_labels:
        found = plain(mean_value(given.values, resample=given.resample("mean"), within=given.ends))
    return {"mean": found, "distribution": distribution_records(given.question, spread_out)}


def by_system(given: AnswerInput) -> list[Record]:
    """Mean and distribution of each system's responses; nothing where answers are about no response."""
    values, systems = given.values, given.items.systems
    spreads = distributions_by_group(
        values,
        points_of(given.question),
        values.system,
        len(systems),
        resample=given.resample("distribution by system"),
        unit="answers",
    )
    means = means_of(given, values.system, len(systems), "by system") or (None,) * len(systems)
    return [
        {
            "system": name,
            **(_no_mean(spread_out) if mean is None else mean_record(mean)),
            "distribution": distribution_records(given.question, spread_out),
        }
        for name, spread_out, mean in zip(systems, spreads, means, strict=True)
        if spread_out.n_units
    ]


def tested_ends(given: AnswerInput) -> list[Record]:
    """Of the systems with the highest and the lowest mean, whether they are rated above, or below, every other.

    Of two systems the best alone; nothing where there is one, or more is not better.
    """
    question, values = given.question, given.values
    systems = dict(several(values.system, given.items.systems))
    if not systems or not question.more_is_better:
        return []
    ends = ("best", "worst") if len(systems) > 2 else ("best",)
    found = best_and_worst(values, values.system, list(systems), given.tests("ratings", len(ends)))
    return [
        {"end": end, "system": systems[each.group], "test": plain(each.test)}
        for end, each in zip(ends, found, strict=False)
    ]


def system_beyond_chance(figures: Record, end: str) -> Record | None:
    """The "best" or "worst" system, from a question's figures whose tests have been corrected.

    None where chance could make it so.
    """
    tested = next((each for each in figures["best_and_worst"] if each["end"] == end), None)
    if tested is None or not is_supported(tested["test"]):
        return None
    side = 1 if end == "best" else -1
    system, test = tested["system"], tested["test"]
    means = {each["system"]: each["mean"]["value"] for each in figures["by_system"]}
    following = max((other for other in means if other != system), key=lambda other: side * means[other])
    if side * (means[system] - means[following]) <= 0:
        return None
    return {
        "system": system,
        "mean": means[system],
        "next": following,
        "next_mean": means[following],
        "n": test["n"],
        "tests": test["tests"],
        "p_value": test["p_corrected"],
    }


def by_factors(given: AnswerInput) -> Record:
    """By kind of system, setting and category, each only where there are several."""
    if given.has_labels:
        return {"by_kind": [], "by_arm": [], "by_category": []}
    values, items = given.values, given.items
    kinds = tuple(sorted(set(given.kinds)))
    # A system that is not there (-1) reads the entry behind the last.
    kind_of = np.array([*(kinds.index(kind) for kind in given.kinds), -1], dtype=np.int64)
    factors = {
        "kind": (kind_of[values.system], kinds),
        "arm": (items.arm[values.item], items.arms),
        "category": (items.category[values.item], items.categories),
    }
    found: Record = {}
    for factor, (codes, names) in factors.items():
        compared = several(codes, names)
        means = means_of(given, codes, len(names), f"by {factor}") if compared else ()
        found[f"by_{factor}"] = [{factor: name, **mean_record(means[code])} for code, name in compared]
    return found


def means_of(given: AnswerInput, codes: Ints, n: int, purpose: str) -> Sequence[MeanValue]:
    """Nothing for a choice, whose labels have no mean."""
    if given.has_labels:
        return ()
    resample = given.resample(purpose)
    return means_by_group(given.values, codes, n, resample=resample, within=given.ends)


def mean_record(found: MeanValue) -> Record:
    return dict(plain(found))


def _no_mean(found: Distribution) -> Record:
    return {
        "mean": None,
        "standard_deviation": None,
        "n_units": found.n_units,
        "n_queries": found.n_queries,
    }
