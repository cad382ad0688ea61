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
    above_every_other,
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
        "above_others": above_others(given),
        "best_system": None,
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


def above_others(given: AnswerInput) -> list[Record]:
    """Of each system, whether it is rated above every other; nothing where there is one, or more is not better."""
    question, values = given.question, given.values
    systems = several(values.system, given.items.systems)
    if not systems or not question.more_is_better:
        return []
    codes = [code for code, _ in systems]
    found = above_every_other(values, values.system, codes, given.tests("ratings", len(codes)))
    return [{"system": name, "test": plain(test)} for (_, name), test in zip(systems, found, strict=True)]


def best_system(figures: Record) -> Record | None:
    """The system rated above every other beyond chance, from a question's figures whose tests have been corrected."""
    if not figures["above_others"]:
        return None
    means = {each["system"]: each["mean"]["value"] for each in figures["by_system"]}
    best, following = sorted(means, key=lambda system: -means[system])[:2]
    (test,) = (each["test"] for each in figures["above_others"] if each["system"] == best)
    if not is_supported(test) or means[best] <= means[following]:
        return None
    return {
        "system": best,
        "mean": means[best],
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
