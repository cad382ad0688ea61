"""How far raters agree, among themselves and with people: parts of a pairwise report."""

from typing import Any

import numpy as np

from evaluation.analytics.against_people import (
    confusion,
    expected_agreement,
    judge_less_people,
    kappa_with_majority,
    label_chances,
)
from evaluation.analytics.agreement import agreement as percentage_agreement
from evaluation.analytics.agreement import agreement_by_group, agreement_difference
from evaluation.analytics.alpha import Level, agreement_by_chance, krippendorff_alpha
from evaluation.analytics.counts import count_matrix
from evaluation.analytics.estimates import plain
from evaluation.analytics.kappa import pairwise_kappa
from evaluation.analytics.leave_one_out import (
    inner_agreement,
    inner_by_group,
    outer_agreement,
    outer_by_group,
)
from evaluation.analytics.tidy import MISSING, Ints
from evaluation.reports.scope import Scope, by_category, named


def agreement(scope: Scope) -> dict[str, Any]:
    """ContextEval Tables 4 and 5; differences are to the first arm."""
    items, counts = scope.items, scope.counts
    resample = scope.resample("agreement")
    overall = percentage_agreement(counts, items.query, resample=resample)
    return {
        "overall": plain(overall),
        "by_arm": named(
            items.arms,
            "arm",
            agreement_by_group(counts, items.query, items.arm, len(items.arms), resample=resample),
        ),
        "by_cell": [
            {**plain(cell), **plain(percentage_agreement(counts[rows], items.query[rows], resample=resample))}
            for cell, rows in items.cells(("arm", "pair"))
        ],
        "by_category": by_category(
            items,
            lambda: agreement_by_group(
                counts, items.query, items.category, len(items.categories), resample=resample
            ),
        ),
        "differences": [
            {
                "first_arm": items.arms[0],
                "second_arm": items.arms[other],
                **plain(cell),
                **_difference(scope, rows, other),
            }
            for other in range(1, len(items.arms))
            for cell, rows in items.cells(("pair",))
        ],
    }


def _difference(scope: Scope, rows: Ints, other: int) -> dict[str, Any]:
    items = scope.items
    tests = scope.tests("agreement", (len(items.arms) - 1) * len(items.pairs))
    found = {
        name: agreement_difference(
            scope.counts[rows],
            items.query[rows],
            items.pair[rows],
            items.arm[rows],
            first=0,
            second=other,
            tests=tests,
            ties=ties,
        )
        for name, ties in (("with_ties", True), ("without_ties", False))
    }
    return dict(plain(found))


def leave_one_out(scope: Scope) -> dict[str, Any]:
    items, resample = scope.items, scope.resample("leave one out")
    return {
        "inner": plain(inner_agreement(scope.counts, items.query, resample=resample)),
        "inner_by_arm": named(
            items.arms,
            "arm",
            inner_by_group(scope.counts, items.query, items.arm, len(items.arms), resample=resample),
            "inner",
        ),
        "inner_by_category": by_category(
            items,
            lambda: inner_by_group(
                scope.counts, items.query, items.category, len(items.categories), resample=resample
            ),
            "inner",
        ),
    }


def against_people(scope: Scope, people: Scope) -> dict[str, Any]:
    """A judge (or any single-voiced group) against people: leave-one-out agreement (HREF Algorithm 1) and kappa.

    `inner` is people's own agreement on the items that the group has a label for: what `outer` is to be read beside.
    `judge_less_people` is the difference of the two.
    """
    items, resample = scope.items, scope.resample("outer")
    label = group_label(scope)
    labelled = label != MISSING
    return {
        "inner": plain(
            inner_agreement(
                people.counts[labelled], items.query[labelled], resample=scope.resample("inner beside outer")
            )
        ),
        "judge_less_people": plain(
            judge_less_people(
                people.counts,
                label,
                items.query,
                resample=scope.resample("judge less people"),
                tests=scope.tests("judge less people", 1),
            )
        ),
        "expected": _expected(scope, people),
        "kappa": plain(
            kappa_with_majority(
                people.counts, label, items.query, resample=scope.resample("kappa with majority")
            )
        ),
        "confusion": plain(confusion(people.counts, label)),
        "outer": plain(outer_agreement(people.counts, label, items.query, resample=resample)),
        "outer_by_category": by_category(
            items,
            lambda: outer_by_group(
                people.counts, label, items.query, items.category, len(items.categories), resample=resample
            ),
            "outer",
        ),
    }


def _expected(scope: Scope, people: Scope) -> Any:
    """None for a group whose judgments have no probabilities: there it would be the agreement of its labels."""
    judgments, items = scope.group.judgments, scope.items
    if not np.isfinite(judgments.number).any():
        return None
    chances = label_chances(judgments, len(items))
    resample = scope.resample("expected agreement")
    return plain(expected_agreement(people.counts, chances, items.query, resample=resample))


def group_label(scope: Scope) -> Ints:
    """One label per item: the group's unique mode, MISSING where it has none."""
    top = scope.counts.max(axis=1)
    unique = ((scope.counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    label: Ints = np.where(unique, scope.counts.argmax(axis=1), MISSING).astype(np.int8)
    return label


def alpha(scope: Scope) -> list[dict[str, Any]]:
    """Per question at its level of measurement; the preference also as ordered r1, tie, r2."""
    query, ordered = scope.items.query, scope.counts[:, [0, 2, 1]]
    found: list[tuple[str, Level, Ints, Ints]] = [
        ("preference", "nominal", scope.counts, query),
        ("preference", "ordinal", ordered, query),
    ]
    if scope.group.checks is not None:
        found.append(("satisfied", "nominal", *_cell_counts(scope)))
    return [
        {
            "question": question,
            "level": level,
            "alpha": plain(
                krippendorff_alpha(
                    counts, of, level=level, resample=scope.resample(f"alpha {question} {level}")
                )
            ),
            "by_chance": agreement_by_chance(counts) if level == "nominal" else None,
        }
        for question, level, counts, of in found
    ]


def alpha_by_arm(scope: Scope) -> list[dict[str, Any]]:
    resample = scope.resample("alpha by arm")
    return [
        {
            "arm": cell.arm,
            "alpha": plain(
                krippendorff_alpha(
                    scope.counts[rows], scope.items.query[rows], level="nominal", resample=resample
                )
            ),
        }
        for cell, rows in scope.items.cells(("arm",))
    ]


def _cell_counts(scope: Scope) -> tuple[Ints, Ints]:
    """Counts of no and yes per item, follow-up and response, and the query of each."""
    checks = scope.group.checks
    assert checks is not None
    item = scope.group.judgments.item[checks.judgment].astype(np.int64)
    width = 2 * (int(checks.follow_up.max()) + 1)
    cell = item * width + checks.follow_up.astype(np.int64) * 2 + checks.response
    used, codes = np.unique(cell, return_inverse=True)
    return count_matrix(codes, checks.value, len(used), 2), scope.items.query[used // width]


def kappa(scope: Scope) -> dict[str, Any]:
    return dict(
        plain(pairwise_kappa(scope.group.judgments, scope.items.query, resample=scope.resample("kappa")))
    )
