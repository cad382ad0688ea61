"""What reports of every protocol have in common: of which study they are, and what was left out."""

from typing import Any, get_args

from evaluation import hooks
from evaluation.analytics.win_rates import Ties
from evaluation.models import Study
from evaluation.selectors import judgments_left_out, standing_exclusions

REPLICATES = 1_000
LEVEL = 0.95

# How a tie counts in expected win rates.
TIES: tuple[Ties, ...] = get_args(Ties)
TIES_COUNT: dict[Ties, str] = {
    "half": "An expected win rate counts a tie as half a win.",
    "win": "An expected win rate counts a tie as a win, so that the rates of two systems may add up to more than one.",
}


# What is counted, of any preference between two responses.
MAJORITY_RULE = (
    "A majority is more than half of an item's judgments, and a tie can win it; where an item has one judgment, that "
    "alone is its majority. Win rates by majority leave out items without one."
)
LENGTH_RULE = (
    "Length bias is the share of judgments for the longer response less that for the shorter one, of all judgments of "
    "two responses of unequal length, ties included."
)


def has_ties(study: Study) -> bool:
    """Whether the study's figures depend on how a tie counts: those of preferences between two responses do."""
    return "win_rates" in study.protocol_object.analyses


class NothingToReport(Exception):
    """There is no counting judgment yet."""


def why_nothing(study: Study) -> str:
    """Whether nobody has judged, or nothing of what was judged counts."""
    left_out = judgments_left_out(study)
    if not left_out:
        return "Nobody has judged an item yet; there is nothing to report."
    parts = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in sorted(left_out.items()))
    return f"No judgment counts yet ({parts}); there is nothing to report."


def study_record(study: Study, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "protocol": study.protocol,
        "status": study.status,
        "study_hash": study.study_hash,
        "revisions": list(study.revisions.values("number", "spec_hash")),
        "redundancy": study.redundancy,
        "baseline": study.baseline,
        "simulated": study.simulated,
        "arms": [{"key": arm["key"], "label": arm["label"]} for arm in spec["arms"]],
        "systems": [
            {"key": key, "label": label or key} for key, label in study.systems.values_list("key", "label")
        ],
    }


def counts_record(study: Study, *, items: int, queries: int, judgments: int, raters: int) -> dict[str, Any]:
    return {
        "items": items,
        "queries": queries,
        "judgments": judgments,
        "raters": raters,
        "left_out": [{"reason": reason, "n": n} for reason, n in sorted(judgments_left_out(study).items())],
        "excluded_raters": standing_exclusions(study).filter(rater__isnull=False).count(),
    }


# How the intervals of every figure are made.
INTERVALS = (
    "Intervals are 95 % t intervals over queries, with the standard error that leaving out one query at a time gives: "
    "of the logit for shares, of Fisher's z for correlations, alpha and kappa, of the figure itself otherwise.",
    "A share that is 0 or 1 in every query has Wilson's interval over the queries instead, and says so.",
)


def facts_of(study: Study) -> list[str]:
    """What the other apps say of the methods."""
    return [sentence for fact in hooks.methods_facts for sentence in fact(study)]
