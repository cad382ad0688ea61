"""Sets of entries: what became of drafted ones, how large the sets are, and how much of them was added."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluation.analytics.compared import compare_means
from evaluation.analytics.entry_sets import SETS, decisions, set_figures
from evaluation.analytics.estimates import plain
from evaluation.analytics.scales import distribution, means_by_group
from evaluation.analytics.values import Values
from evaluation.answers_frame import Answers
from evaluation.answers_frame.entries import OF_ADDED, OF_REVISED, SIZE, name_of
from evaluation.reports.answers import against, rated
from evaluation.reports.answers.scope import AnswerScope, distribution_records, how_many

Record = dict[str, Any]


def figures(scope: AnswerScope, people: AnswerScope | None) -> Record:
    """The scope's own answers are the decisions about drafted entries; what sets are made of stands beside them."""
    made = decisions(scope.values, resample=scope.resample("decisions"))
    values = {what: _of_sets(scope, what).as_values() for what in (SIZE, OF_ADDED, OF_REVISED)}
    sets = set_figures(*values.values(), resample=scope.resample("sets"))
    return {
        "group": scope.group.key,
        **how_many(_of_sets(scope, SIZE)),
        "alpha": plain(made.alpha),
        "distribution": distribution_records(scope.question, made.distribution),
        "by_system": rated.by_system(scope) if len(scope.items.systems) > 1 else [],
        "entries": {
            "decisions": len(scope.answers),
            **plain(sets),
            "sizes": _sizes(scope, values[SIZE]),
            "by_rater": _by_rater(scope, values),
        },
        "against_people": _beside(scope, people),
    }


def _sizes(scope: AnswerScope, sizes: Values) -> list[Record]:
    """How many sets have how many entries, of the sizes that occur."""
    points = sorted(set(sizes.value.tolist()))
    if not points:
        return []
    found = distribution(sizes, points, resample=scope.resample("sizes"), unit=SETS)
    return [
        {"size": int(size), "n": n, "share": plain(share)}
        for size, n, share in zip(points, found.counts, found.shares, strict=True)
    ]


def _by_rater(scope: AnswerScope, values: Mapping[str, Values]) -> list[Record]:
    """What the sets of each of several calibrators are made of."""
    raters = scope.group.raters
    used = sorted(set(values[SIZE].rater.tolist()))
    if len(used) < 2:
        return []
    found = {
        name: means_by_group(
            values[what],
            values[what].rater,
            len(raters),
            resample=scope.resample(f"{name} by rater"),
            share=what != SIZE,
            unit=SETS,
        )
        for name, what in (("size", SIZE), ("added", OF_ADDED), ("revised", OF_REVISED))
    }
    return [
        {"rater": raters[code], **{name: plain(means[code]) for name, means in found.items()}}
        for code in used
    ]


def _of_sets(scope: AnswerScope, what: str) -> Answers:
    return scope.group.answers[name_of(scope.question, what)]


def _beside(scope: AnswerScope, people: AnswerScope | None) -> Record | None:
    """Agreement with people's decisions, and how far apart the sizes of sets are."""
    if people is None or scope is people:
        return None
    sizes = [replace(each, answers=_of_sets(each, SIZE)).values for each in (people, scope)]
    compared = compare_means(*sizes, resample=scope.resample("compared sizes"), unit=SETS)
    return {**against.against_people(scope, people), "compared": plain(compared)}
