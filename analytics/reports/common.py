"""The common part of all reports: the study that they are of, and what was left out."""

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from analytics.figures.document import CountsRecord, KindCount, LeftOutRecord, StudyRecord
from analytics.statistics.preferences.win_rates import Ties
from evaluation.extension import extensions
from evaluation.filters import EVERYTHING, Filters, view_in_words
from evaluation.models import Revision, Study
from evaluation.selectors import (
    RATERS,
    left_out_by_kind,
    left_out_counts,
    pooled_revisions,
    pooled_rounds,
    standing_exclusions,
)

REPLICATES = 1_000
LEVEL = 0.95

# Told what is being computed, how many steps are done and of how many.
Watch = Callable[[str, int, int], None]

# How a tie counts in expected win rates.
TIES: tuple[Ties, ...] = get_args(Ties)


def no_watch(phase: str, done: int, total: int) -> None:
    """Nobody is watching."""


def has_ties(study: Study) -> bool:
    """True if the study's figures depend on how a tie counts: those of preferences between two responses do."""
    return study.compares_pairs


class NothingToReport(Exception):
    """There is no counting judgment yet."""


def why_nothing(study: Study, filters: Filters = EVERYTHING) -> str:
    """The reason why there is nothing to report: nobody has judged, or nothing of it counts."""
    left_out = left_out_counts(study, filters.judgments(study))
    if filters.is_partial and not left_out:
        view = view_in_words(filters.canonical())
        undated = (filters.first_day or filters.last_day) and not study.judgments.exclude(
            judged_at=None
        ).exists()
        why = (
            ": no judgment of the study has a recorded day" if undated else ", so there is nothing to report"
        )
        return f"The view ({view}) leaves no judgment{why}."
    if filters.is_partial:
        view = view_in_words(filters.canonical())
        return f"The view ({view}) leaves no judgment that counts, so there is nothing to report."
    if not left_out:
        return "Nobody has judged an item yet, so there is nothing to report."
    parts = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in sorted(left_out.items()))
    return f"No judgment counts yet ({parts}), so there is nothing to report."


def study_record(
    study: Study, revision: Revision, filters: Filters = EVERYTHING, systems: Sequence[str] = ()
) -> StudyRecord:
    """The study as the report describes it; of a view its own revision and settings, and the `systems` in it."""
    labels = dict(study.systems.values_list("key", "label"))
    if filters.is_partial:
        labels = {key: label for key, label in labels.items() if key in systems}
    revisions = study.revisions.values("number", "spec_hash")
    if filters.revision is not None:
        revisions = revisions.filter(number=filters.revision)
    arms = [arm for arm in revision.spec["arms"] if not filters.arms or arm["key"] in filters.arms]
    return {
        "slug": study.slug,
        "title": study.title,
        "protocol": study.protocol,
        "status": study.status,
        "study_hash": study.study_hash,
        "launched": f"{revision.created_at:%Y-%m-%d}",
        "revisions": list(revisions),
        "redundancy": study.redundancy,
        "baseline": study.baseline if not filters.is_partial or study.baseline in labels else "",
        "simulated": study.simulated,
        "arms": [{"key": arm["key"], "label": arm["label"]} for arm in arms],
        "systems": [{"key": key, "label": label or key} for key, label in labels.items()],
    }


def counts_record(
    study: Study,
    *,
    items: int,
    queries: int,
    judgments: int,
    raters: int,
    filters: Filters = EVERYTHING,
) -> CountsRecord:
    by_kind = left_out_by_kind(study, filters.judgments(study))
    reasons = sorted({reason for found in by_kind.values() for reason in found})
    excluded = standing_exclusions(study).filter(filters.raters_q(study), rater__isnull=False)
    kinds = list(excluded.values_list("rater__kind", flat=True))
    counts: CountsRecord = {
        "items": items,
        "queries": queries,
        "judgments": judgments,
        "raters": raters,
        "left_out": [_left_out(reason, by_kind) for reason in reasons],
        "excluded_raters": len(kinds),
    }
    if kinds:
        counts["excluded_by_kind"] = _by_kind({kind: kinds.count(kind) for kind in RATERS})
    return counts


def _left_out(reason: str, by_kind: Mapping[str, Mapping[str, int]]) -> LeftOutRecord:
    counts = {kind: found.get(reason, 0) for kind, found in by_kind.items()}
    return {"reason": reason, "n": sum(counts.values()), "by_kind": _by_kind(counts)}


def _by_kind(counts: Mapping[str, int]) -> list[KindCount]:
    return [{"kind": kind, "n": n} for kind, n in counts.items() if n]


def facts_of(study: Study, filters: Filters = EVERYTHING) -> list[str]:
    """Sentences of the other apps on the methods. Nothing is pooled in a view of one revision."""
    pooled = pooled_revisions(study) if filters.revision is None else []
    pooled += pooled_rounds(study)
    return [*pooled, *(sentence for each in extensions() for sentence in each.methods_facts(study))]
