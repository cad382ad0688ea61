"""The parts of a pairwise report, each a plain dict made from one group of raters.

Every part draws its own random numbers from the study's seed and its name, so a figure does not depend on which
others were computed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation import design
from evaluation.analytics.against_people import (
    confusion,
    expected_agreement,
    kappa_with_majority,
    label_chances,
)
from evaluation.analytics.agreement import agreement as percentage_agreement
from evaluation.analytics.agreement import agreement_by_group, agreement_difference
from evaluation.analytics.alpha import Level, krippendorff_alpha
from evaluation.analytics.bias import length_bias, position_bias
from evaluation.analytics.bradley_terry import bradley_terry
from evaluation.analytics.counts import count_matrix
from evaluation.analytics.estimates import plain
from evaluation.analytics.flips import pair_flips, query_flips
from evaluation.analytics.follow_ups import (
    agreement_by_follow_ups,
    follow_ups_by_system,
    satisfied_follow_ups,
)
from evaluation.analytics.grades import lean_to_first
from evaluation.analytics.kappa import pairwise_kappa
from evaluation.analytics.leave_one_out import (
    inner_agreement,
    inner_by_group,
    outer_agreement,
    outer_by_group,
)
from evaluation.analytics.resampling import ResampleSpec
from evaluation.analytics.scales import (
    Distribution,
    distribution,
    distributions_by_group,
    means_by_group,
)
from evaluation.analytics.tidy import MISSING, N_LABELS, Ints, Items
from evaluation.analytics.value_alpha import alpha_of_values
from evaluation.analytics.win_rates import (
    Ties,
    expected_win_rates,
    majority_win_rates,
    win_rates_against,
    win_rates_overall,
)
from evaluation.frames import Group
from evaluation.protocols import Question


@dataclass(frozen=True)
class Scope:
    """What every part needs: the items, the group, its counts, and where randomness comes from."""

    items: Items
    group: Group
    counts: Ints
    seed: int
    replicates: int
    baseline: str
    ties: Ties = "half"
    question: Question | None = None

    def resample(self, purpose: str) -> ResampleSpec:
        rng = design.generator(self.seed, "report", self.group.key, purpose)
        return ResampleSpec(rng, replicates=self.replicates)


def judgments_per_rater(group: Group) -> Ints:
    """In the order of the group's raters."""
    return np.bincount(group.judgments.rater, minlength=len(group.judgments.raters))


def scope_of(
    items: Items,
    group: Group,
    *,
    seed: int,
    replicates: int,
    baseline: str,
    ties: Ties = "half",
    question: Question | None = None,
) -> Scope:
    counts = count_matrix(group.judgments.item, group.judgments.label, len(items), N_LABELS)
    return Scope(items, group, counts, seed, replicates, baseline, ties, question)


def group_record(scope: Scope, people: Scope | None) -> dict[str, Any]:
    """Every group has every figure; one that a group can't have says why it is undefined."""
    group = scope.group
    return {
        "key": group.key,
        "label": group.label,
        "kind": group.kind,
        "judgments": len(group.readings.label),
        "raters": len(group.judgments.raters),
        "items": int((scope.counts.sum(axis=1) > 0).sum()),
        "agreement": agreement(scope),
        "leave_one_out": leave_one_out(scope),
        "alpha": alpha(scope),
        "alpha_by_arm": alpha_by_arm(scope),
        "kappa": kappa(scope),
        "win_rates": win_rates(scope),
        "grades": grades(scope),
        "flips": flips(scope),
        "bradley_terry": strengths(scope),
        "bias": bias(scope),
        "follow_ups": follow_ups(scope),
        "against_people": None if people is None or scope is people else against_people(scope, people),
    }


def agreement(scope: Scope) -> dict[str, Any]:
    """ContextEval Tables 4 and 5; differences are to the first arm."""
    items, counts = scope.items, scope.counts
    resample = scope.resample("agreement")
    overall = percentage_agreement(counts, items.query, resample=resample)
    return {
        "overall": plain(overall),
        "by_arm": _named(
            items.arms,
            "arm",
            agreement_by_group(counts, items.query, items.arm, len(items.arms), resample=resample),
        ),
        "by_cell": [
            {**plain(cell), **plain(percentage_agreement(counts[rows], items.query[rows], resample=resample))}
            for cell, rows in items.cells(("arm", "pair"))
        ],
        "by_category": _by_category(
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
    found = {
        name: agreement_difference(
            scope.counts[rows],
            items.query[rows],
            items.pair[rows],
            items.arm[rows],
            first=0,
            second=other,
            ties=ties,
        )
        for name, ties in (("with_ties", True), ("without_ties", False))
    }
    return dict(plain(found))


def leave_one_out(scope: Scope) -> dict[str, Any]:
    items, resample = scope.items, scope.resample("leave one out")
    return {
        "inner": plain(inner_agreement(scope.counts, items.query, resample=resample)),
        "inner_by_arm": _named(
            items.arms,
            "arm",
            inner_by_group(scope.counts, items.query, items.arm, len(items.arms), resample=resample),
            "inner",
        ),
        "inner_by_category": _by_category(
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
        "expected": _expected(scope, people),
        "kappa": plain(
            kappa_with_majority(
                people.counts, label, items.query, resample=scope.resample("kappa with majority")
            )
        ),
        "confusion": plain(confusion(people.counts, label)),
        "outer": plain(outer_agreement(people.counts, label, items.query, resample=resample)),
        "outer_by_category": _by_category(
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
    ordered = scope.counts[:, [0, 2, 1]]
    found: list[tuple[str, Level, Ints]] = [
        ("preference", "nominal", scope.counts),
        ("preference", "ordinal", ordered),
    ]
    if scope.group.checks is not None:
        found.append(("satisfied", "nominal", _cell_counts(scope)))
    return [
        {
            "question": question,
            "level": level,
            "alpha": plain(
                krippendorff_alpha(counts, level=level, resample=scope.resample(f"alpha {question} {level}"))
            ),
        }
        for question, level, counts in found
    ]


def alpha_by_arm(scope: Scope) -> list[dict[str, Any]]:
    resample = scope.resample("alpha by arm")
    return [
        {
            "arm": cell.arm,
            "alpha": plain(krippendorff_alpha(scope.counts[rows], level="nominal", resample=resample)),
        }
        for cell, rows in scope.items.cells(("arm",))
    ]


def _cell_counts(scope: Scope) -> Ints:
    """Counts of no and yes per item, follow-up and response."""
    checks = scope.group.checks
    assert checks is not None
    item = scope.group.judgments.item[checks.judgment].astype(np.int64)
    width = 2 * (int(checks.follow_up.max()) + 1)
    cell = item * width + checks.follow_up.astype(np.int64) * 2 + checks.response
    used, codes = np.unique(cell, return_inverse=True)
    return count_matrix(codes, checks.value, len(used), 2)


def kappa(scope: Scope) -> dict[str, Any]:
    return dict(plain(pairwise_kappa(scope.group.judgments, resample=scope.resample("kappa"))))


def win_rates(scope: Scope) -> dict[str, Any]:
    """By majority vote (ContextEval Table 6) and expected (HREF 4.2)."""
    items, judgments, resample = scope.items, scope.group.judgments, scope.resample("win rates")
    ties = scope.ties
    found: dict[str, Any] = {
        "majority": majority_win_rates(items, judgments, resample=resample),
        "expected": expected_win_rates(items, judgments, resample=resample, ties=ties),
        "overall": win_rates_overall(items, judgments, resample=resample, ties=ties),
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
    found: dict[str, Iterable[Any]] = {
        "pairs": [
            flip
            for first, second in between
            for flip in pair_flips(
                scope.items, scope.group.judgments, first=first, second=second, resample=resample
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
        part = type(satisfied)(satisfied.number[rows], satisfied.asked[rows])
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


def _named(names: tuple[str, ...], factor: str, found: Iterable[Any], key: str = "") -> list[dict[str, Any]]:
    return [
        {factor: name, **({key: plain(each)} if key else plain(each))}
        for name, each in zip(names, found, strict=True)
    ]


def _by_category(items: Items, compute: Callable[[], Iterable[Any]], key: str = "") -> list[dict[str, Any]]:
    """Nothing where the study has one category only: it would repeat the overall figure."""
    return _named(items.categories, "category", compute(), key) if len(items.categories) > 1 else []
