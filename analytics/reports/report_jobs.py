"""Reports and comparisons as jobs of the worker."""

from contextlib import suppress
from typing import Any

from analytics.job_kinds import COMPUTATION
from analytics.reports.build import fingerprint
from analytics.reports.cache import LEADERBOARD_TIES, compute_report, effective_ties
from analytics.reports.common import NothingToReport
from analytics.reports.comparison.cache import compute_comparison
from analytics.reports.comparison.sides import Sides
from analytics.statistics.preferences.win_rates import Ties
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Job, Study
from evaluation.refusals import Refused
from evaluation.services.jobs import FINGERPRINT, NOTHING, JobProgress, begin_job, finish_job, note_in_job
from evaluation.services.leaderboards import is_published


def report_subject(study: Study, ties: Ties, filters: Filters) -> str:
    """By which a job on one report of a study is told from those on its others."""
    return f"{effective_ties(study, ties)}:{filters.digest}"


def report_parameters(study: Study, ties: Ties, filters: Filters) -> dict[str, Any]:
    """The report that a job is on, for the worker."""
    return {"ties": effective_ties(study, ties), "view": filters.canonical()}


def report_of(job: Job) -> tuple[Study, Ties, Filters]:
    """The same, read again."""
    assert job.study is not None  # only an import has none
    return job.study, job.parameters["ties"], Filters.of(job.parameters.get("view", {}))


def begin_public_report(study: Study) -> None:
    """Have the report computed that a published leaderboard shows, where there is one."""
    if is_published(study):
        ties = effective_ties(study, LEADERBOARD_TIES)
        # Refused: somebody has asked for it already.
        with suppress(Refused):
            begin_job(
                kind=COMPUTATION.key,
                slug=study.slug,
                study=study,
                subject=report_subject(study, ties, EVERYTHING),
                parameters=report_parameters(study, ties, EVERYTHING),
                by=None,
            )


def compute_report_of(job: Job) -> None:
    """Compute the report and keep it; or note that there is nothing to report."""
    study, ties, filters = report_of(job)
    # What arrived while the job waited is in the report.
    note_in_job(job, {FINGERPRINT: fingerprint(study, ties=ties, filters=filters)})
    try:
        compute_report(study, ties=ties, filters=filters, watch=JobProgress(job))
    except NothingToReport as nothing:
        note_in_job(job, {NOTHING: str(nothing)})
    finish_job(job, message=job.parameters.get(NOTHING, "The figures are there."))


def compute_comparison_of(job: Job) -> None:
    """Compute the comparison and keep it; or note that there is nothing to compare."""
    sides = Sides.of_message(job.parameters["sides"])
    note_in_job(job, {FINGERPRINT: sides.fingerprint})
    try:
        compute_comparison(sides, JobProgress(job))
    except NothingToReport as nothing:
        note_in_job(job, {NOTHING: str(nothing)})
    finish_job(job, message=job.parameters.get(NOTHING, "The figures are there."))
