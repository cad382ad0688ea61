"""Preferences between two responses, one question at a time: the figures of a pairwise study."""

from typing import Any

from evaluation.analytics.win_rates import Ties
from evaluation.frames import StudyFrame
from evaluation.models import Rater, Study
from evaluation.reports.scope import scope_of
from evaluation.reports.sections import group_record


def pairs(study: Study, frame: StudyFrame, *, replicates: int, ties: Ties) -> list[dict[str, Any]]:
    """A record per group of raters, as in the report of a pairwise study."""
    scopes = [
        scope_of(
            frame.items,
            group,
            seed=study.seed,
            replicates=replicates,
            baseline=study.baseline,
            ties=ties,
            question=frame.preference,
        )
        for group in frame.groups
    ]
    people = next((scope for scope in scopes if scope.group.kind == Rater.Kind.PERSON), None)
    return [group_record(scope, people) for scope in scopes]
