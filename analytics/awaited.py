"""Reports and comparisons as whoever asks for one gets them: the latest that was computed, and the job of the worker
that computes a newer one. Nothing is computed inside a request, which waits for the job for three seconds.
"""

from dataclasses import dataclass
from typing import Any

from analytics.job_kinds import COMPARISON, COMPUTATION
from analytics.reports.build import fingerprint
from analytics.reports.cache import CachedResult, cached_report, effective_ties
from analytics.reports.common import NothingToReport
from analytics.reports.comparison.cache import cached_comparison
from analytics.reports.comparison.document import ComparisonRecord
from analytics.reports.comparison.sides import Sides
from analytics.reports.report_jobs import report_parameters, report_subject
from analytics.statistics.preferences.win_rates import Ties
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Job, Study
from evaluation.services.jobs import NOTHING
from evaluation.tasks import ask_for_job


@dataclass(frozen=True)
class Awaited:
    """A job that was asked for, as it is now."""

    job: Job

    @property
    def failed(self) -> str:
        """The reason why it has failed; whoever asks a minute later has it tried again."""
        return self.job.message if self.job.state == Job.State.FAILED else ""

    @property
    def state(self) -> str:
        """`waiting` while no worker can be told of it, `failed`, or `computing`; that, too, of one that has just ended,
        and whose result is old already."""
        return "waiting" if self.job.is_unsent else "failed" if self.failed else "computing"


@dataclass(frozen=True)
class AwaitedReport:
    """The latest report there is, None where there is none; and where it was old, the job that was asked for a newer
    one."""

    kept: CachedResult | None
    awaited: Awaited | None

    @property
    def current(self) -> CachedResult | None:
        """The report of the study as it is now."""
        return None if self.kept is None or self.kept.stale else self.kept


def current_report(
    study: Study, *, by: Any, ties: Ties = "half", filters: Filters = EVERYTHING, wait: bool = True
) -> AwaitedReport:
    """The report, if it is not old; otherwise a worker is asked for a newer one, and with `wait` given three seconds.

    Raises NothingToReport.
    """
    kept = cached_report(study, ties=ties, filters=filters)
    if kept is not None and not kept.stale:
        return AwaitedReport(kept, None)
    job = ask_for_job(
        COMPUTATION,
        study,
        subject=report_subject(study, ties, filters),
        fingerprint=fingerprint(study, ties=effective_ties(study, ties), filters=filters),
        by=by,
        parameters=report_parameters(study, ties, filters),
        wait=wait,
    )
    if job.state == Job.State.DONE:
        _raise_nothing(job)
        kept = cached_report(study, ties=ties, filters=filters)
    return AwaitedReport(kept, Awaited(job))


def current_comparison(sides: Sides, *, by: Any) -> tuple[ComparisonRecord | None, Awaited | None]:
    """The comparison of the studies as they are now; None while a worker computes it, and the job that does.

    Raises NothingToReport.
    """
    kept = cached_comparison(sides)
    if kept is not None:
        return kept, None
    job = ask_for_job(
        COMPARISON,
        sides.a.study,
        subject=sides.digest,
        fingerprint=sides.fingerprint,
        by=by,
        parameters={"sides": sides.message},
        wait=True,
    )
    if job.state == Job.State.DONE:
        _raise_nothing(job)
        kept = cached_comparison(sides)
    return kept, Awaited(job)


def _raise_nothing(job: Job) -> None:
    if NOTHING in job.parameters:
        raise NothingToReport(job.parameters[NOTHING])
