"""A group's record in a pairwise report.

Every part draws its own random numbers from the study's seed and its name, so a figure does not depend on which
others were computed.
"""

from typing import Any

from evaluation.reports.agreeing import against_people, agreement, alpha, alpha_by_arm, kappa, leave_one_out
from evaluation.reports.preferences import bias, flips, follow_ups, grades, strengths, win_rates
from evaluation.reports.scope import Scope


def group_record(scope: Scope, people: Scope | None) -> dict[str, Any]:
    """Every group has every figure; one that a group can't have says why it is undefined."""
    group = scope.group
    return {
        "key": group.key,
        "label": group.label,
        "kind": group.kind,
        "heuristic": group.heuristic,
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
