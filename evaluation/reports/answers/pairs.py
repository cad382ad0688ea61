"""Preferences between two responses, one question at a time: the figures of a pairwise study."""

from typing import Any

from evaluation.analytics.win_rates import Ties
from evaluation.frames import StudyFrame
from evaluation.models import Study
from evaluation.reports.scope import scopes_of
from evaluation.reports.sections import group_record


def pairs(
    study: Study, frame: StudyFrame, *, replicates: int, ties: Ties, asked: int
) -> list[dict[str, Any]]:
    """A record per group of raters, as in the report of a pairwise study; so many preferences are `asked` for."""
    scopes, people = scopes_of(study, frame, replicates=replicates, ties=ties, asked=asked)
    return [group_record(scope, people) for scope in scopes]
