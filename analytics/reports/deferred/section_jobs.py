"""The figures of a report's section as a job of the worker, begun by the reader who opens it."""

from typing import Any

from analytics.figures.headings import HEADINGS
from analytics.job_kinds import SECTION
from analytics.reports.cache import report_with_section
from analytics.reports.common import NothingToReport
from analytics.reports.report_jobs import report_of, report_parameters, report_subject
from analytics.statistics.preferences.win_rates import Ties
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Job, Study
from evaluation.refusals import WrongState
from evaluation.services.jobs import ACTIVE, JobProgress, begin_job, finish_job, job_at


def _subject(study: Study, heading: str, ties: Ties, filters: Filters) -> str:
    return f"{heading}:{report_subject(study, ties, filters)}"


def section_job(
    study: Study, heading: str, *, ties: Ties = "half", filters: Filters = EVERYTHING
) -> Job | None:
    """The latest job that computes this section of the report; None where nobody has asked for it."""
    return job_at(SECTION.key, study.slug, _subject(study, heading, ties, filters))


def sections_under_way(study: Study, *, ties: Ties = "half", filters: Filters = EVERYTHING) -> dict[str, Job]:
    """The jobs that compute sections of this report now, by heading."""
    active = Job.objects.filter(study=study, kind=SECTION.key, state__in=ACTIVE)
    mine = active.filter(subject__endswith=f":{report_subject(study, ties, filters)}")
    return {job.parameters["heading"]: job for job in mine if not job.is_lost}


def begin_section(
    study: Study, heading: str, *, by: Any, ties: Ties = "half", filters: Filters = EVERYTHING
) -> Job:
    """Queue the job; Refused while the section is computed already."""
    return begin_job(
        kind=SECTION.key,
        slug=study.slug,
        study=study,
        subject=_subject(study, heading, ties, filters),
        by=by,
        parameters={**report_parameters(study, ties, filters), "heading": heading},
    )


def compute_section_of(job: Job) -> None:
    """Compute the section's figures and keep them with the report."""
    (study, ties, filters), heading = report_of(job), job.parameters["heading"]
    try:
        report_with_section(study, heading, ties=ties, filters=filters, watch=JobProgress(job))
    except NothingToReport as nothing:
        raise WrongState(str(nothing)) from None
    finish_job(job, message=f"{HEADINGS[heading].title}: computed.")
