"""The common part of all reports: the study that they are of, and what was left out."""

from typing import Any, get_args

from analytics.statistics.preferences.win_rates import Ties
from evaluation import hooks
from evaluation.models import Revision, Study
from evaluation.selectors import left_out_counts, standing_exclusions

REPLICATES = 1_000
LEVEL = 0.95

# How a tie counts in expected win rates.
TIES: tuple[Ties, ...] = get_args(Ties)


def has_ties(study: Study) -> bool:
    """True if the study's figures depend on how a tie counts: those of preferences between two responses do."""
    return study.compares_pairs


class NothingToReport(Exception):
    """There is no counting judgment yet."""


def why_nothing(study: Study) -> str:
    """The reason why there is nothing to report: nobody has judged, or nothing of it counts."""
    left_out = left_out_counts(study)
    if not left_out:
        return "Nobody has judged an item yet, so there is nothing to report."
    parts = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in sorted(left_out.items()))
    return f"No judgment counts yet ({parts}), so there is nothing to report."


def study_record(study: Study, revision: Revision) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "protocol": study.protocol,
        "status": study.status,
        "study_hash": study.study_hash,
        "launched": f"{revision.created_at:%Y-%m-%d}",
        "revisions": list(study.revisions.values("number", "spec_hash")),
        "redundancy": study.redundancy,
        "baseline": study.baseline,
        "simulated": study.simulated,
        "arms": [{"key": arm["key"], "label": arm["label"]} for arm in revision.spec["arms"]],
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
        "left_out": [{"reason": reason, "n": n} for reason, n in sorted(left_out_counts(study).items())],
        "excluded_raters": standing_exclusions(study).filter(rater__isnull=False).count(),
    }


def facts_of(study: Study) -> list[str]:
    """Sentences of the other apps on the methods."""
    return [sentence for fact in hooks.methods_facts for sentence in fact(study)]
