"""Preferences between two responses, one question at a time: the figures of a pairwise study."""

from typing import Any

from evaluation.analytics.win_rates import Ties
from evaluation.frames import pairwise_frame
from evaluation.models import Rater, Study
from evaluation.reports import sections


def pairs(study: Study, question: str, *, replicates: int, ties: Ties) -> list[dict[str, Any]]:
    """A record per group of raters, as in the report of a pairwise study."""
    frame = pairwise_frame(study, question)
    scopes = [
        sections.scope_of(
            frame.items, group, seed=study.seed, replicates=replicates, baseline=study.baseline, ties=ties
        )
        for group in frame.groups
    ]
    people = next((scope for scope in scopes if scope.group.kind == Rater.Kind.PERSON), None)
    return [sections.group_record(scope, people) for scope in scopes]
