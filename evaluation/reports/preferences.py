"""What raters prefer, how strongly, and what sways them: parts of a pairwise report."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from evaluation.analytics.bias import length_bias, position_bias
from evaluation.analytics.bradley_terry import bradley_terry
from evaluation.analytics.estimates import plain
from evaluation.analytics.flips import pair_flips, query_flips
from evaluation.analytics.follow_ups import (
    agreement_by_follow_ups,
    follow_ups_by_system,
    satisfied_follow_ups,
)
from evaluation.analytics.grades import lean_to_first
from evaluation.analytics.scales import (
    Distribution,
    distribution,
    distributions_by_group,
    means_by_group,
)
from evaluation.analytics.tidy import Ints
from evaluation.analytics.value_alpha import alpha_of_values
from evaluation.analytics.win_rates import (
    expected_win_rates,
    majority_win_rates,
    win_rates_against,
    win_rates_overall,
)
from evaluation.reports.scope import Scope


def win_rates(scope: Scope) -> dict[str, Any]:
    """By majority vote (ContextEval Table 6) and expected (HREF 4.2)."""
    items, judgments, resample = scope.items, scope.group.judgments, scope.resample("win rates")
    ties = scope.ties
    found: dict[str, Any] = {
        "majority": majority_win_rates(items, judgments, resample=resample),
        "expected": expected_win_rates(items, judgments, resample=resample, ties=ties),
        "overall": win_rates_overall(
            items,
            judgments,
            resample=resample,
            ties=ties,
            tests=scope.tests("win rates", len(items.arms) * len(items.systems)) if ties == "half" else None,
        ),
    }
    by = ("pair", "category")
    several = len(items.categories) > 1
    found["majority_by_category"] = (
        majority_win_rates(items, judgments, resample=resample, by=by) if several else []
    )
    found["expected_by_category"] = (
        expected_win_rates(items, judgments, resample=resample, by=by, ties=ties) if several else []
    )
    known = scope.baseline in items.systems
    found["against_baseline"] = (
        win_rates_against(items, judgments, scope.baseline, resample=resample, ties=ties) if known else []
    )
    return dict(plain(found))


def grades(scope: Scope) -> dict[str, Any] | None:
    """How much better: of all items together and by arm and pair, towards the second system; None unless graded."""
    given, raw, question = scope.group.grades, scope.group.graded_readings, scope.question
    if given is None or raw is None or question is None:
        return None
    items, points = scope.items, tuple(map(float, question.grades))
    values = given.as_values(items.query)
    cells = list(items.cells(("arm", "pair")))
    cell_of = np.full(len(items), -1)
    for at, (_, rows) in enumerate(cells):
        cell_of[rows] = at
    pair = cell_of[given.item]
    spread = distribution(values, points, resample=scope.resample("grades"), unit="judgments")
    means = means_by_group(
        values, pair, len(cells), resample=scope.resample("grades by pair"), unit="judgments"
    )
    spreads = distributions_by_group(
        values,
        points,
        pair,
        len(cells),
        resample=scope.resample("grades shared out by pair"),
        unit="judgments",
    )
    agreed = alpha_of_values(values, level="ordinal", points=points, resample=scope.resample("grades alpha"))
    lean = lean_to_first(raw, items.query, resample=scope.resample("grades lean"))
    return {
        "words": [{"distance": n, "label": question.label(n)} for n in range(1, int(points[-1]) + 1)],
        "alpha": plain(agreed),
        "distribution": _shares(spread),
        "by_cell": [
            {**plain(cell), **plain(mean), "distribution": _shares(each)}
            for (cell, _), mean, each in zip(cells, means, spreads, strict=True)
            if mean.mean.n
        ],
        "to_first": plain(lean),
    }


def _shares(found: Distribution) -> list[dict[str, Any]]:
    """Number and share of each grade."""
    return [
        {"grade": grade, "n": n, "share": plain(share)}
        for grade, n, share in zip(found.points, found.counts, found.shares, strict=True)
    ]


def flips(scope: Scope) -> dict[str, Any]:
    """Between every two arms."""
    arms, resample = scope.items.arms, scope.resample("flips")
    between = [(first, second) for at, first in enumerate(arms) for second in arms[at + 1 :]]
    tests = scope.tests("flips", len(between) * len(scope.items.pairs))
    found: dict[str, Iterable[Any]] = {
        "pairs": [
            flip
            for first, second in between
            for flip in pair_flips(
                scope.items, scope.group.judgments, first=first, second=second, resample=resample, tests=tests
            )
        ],
        "queries": [
            flip
            for first, second in between
            for flip in query_flips(
                scope.items, scope.group.judgments, first=first, second=second, resample=resample
            )
        ],
    }
    return dict(plain(found))


def strengths(scope: Scope) -> list[Any]:
    if len(scope.items.systems) < 3:
        return []
    found = bradley_terry(scope.items, scope.group.judgments, resample=scope.resample("bradley-terry"))
    return list(plain(found))


def bias(scope: Scope) -> dict[str, Any]:
    readings = scope.group.readings
    return {
        "position": plain(
            position_bias(
                readings.label,
                readings.first,
                scope.items.query[readings.item],
                resample=scope.resample("position bias"),
                tests=scope.tests("position bias", 1),
            )
        ),
        "length": plain(
            length_bias(scope.items, scope.group.judgments, resample=scope.resample("length bias"))
        ),
    }


def follow_ups(scope: Scope) -> dict[str, Any] | None:
    """ContextEval Table 5 and the follow-ups that each system satisfies; None without checklists."""
    checks = scope.group.checks
    if checks is None:
        return None
    items = scope.items
    satisfied = satisfied_follow_ups(checks, scope.group.judgments, len(items))
    resample = scope.resample("follow-ups")

    def of(rows: Ints) -> Any:
        part = satisfied.take(rows)
        return plain(agreement_by_follow_ups(scope.counts[rows], items.query[rows], part, resample=resample))

    return {
        "overall": of(np.arange(len(items))),
        "by_cell": [
            {**plain(cell), **of(rows)}
            for cell, rows in items.cells(("arm", "pair"))
            if satisfied.checked[rows].any()
        ],
        "by_system": [
            found
            for found in plain(follow_ups_by_system(items, satisfied, resample=resample))
            if found["share"]["n"]
        ],
    }
