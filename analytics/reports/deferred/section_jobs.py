"""The figures of a report's section as a job of the worker, begun by the reader who opens it."""

from typing import Any

from analytics.figures.headings import HEADINGS
from analytics.frames.filters import EVERYTHING, Filters
from analytics.reports.cache import effective_ties, report_with_section
from analytics.reports.common import NothingToReport
from analytics.statistics.preferences.win_rates import Ties
from evaluation.models import Job, Study
from evaluation.refusals import WrongState
from evaluation.services.jobs import JobProgress, begin_job, finish_job, give_up_lost


def section_under_way(study: Study) -> Job | None:
    """The job that computes a section of the study's report now; one whose worker fell silent is given up."""
    job = Job.objects.filter(
        study=study, kind=Job.Kind.SECTION, state__in=[Job.State.QUEUED, Job.State.RUNNING]
    ).first()
    if job is not None and job.is_lost:
        give_up_lost(study, Job.Kind.SECTION, "The worker stopped before the figures were computed.")
        return None
    return job


def section_parameters(
    study: Study, heading: str, *, ties: Ties = "half", filters: Filters = EVERYTHING
) -> dict[str, Any]:
    """By which the job of a section is told from all others of the study."""
    view = {"view": filters.canonical()} if filters else {}
    return {"ties": effective_ties(study, ties), "heading": heading, **view}


def begin_section(
    study: Study, heading: str, *, by: Any, ties: Ties = "half", filters: Filters = EVERYTHING
) -> Job:
    """Queue the job; Refused while another section of the study is under way."""
    return begin_job(
        kind=Job.Kind.SECTION,
        slug=study.slug,
        study=study,
        by=by,
        parameters=section_parameters(study, heading, ties=ties, filters=filters),
    )


def compute_section_of(job: Job) -> None:
    """Compute the section's figures and keep them with the report."""
    assert job.study is not None  # only an import has none
    heading, ties = job.parameters["heading"], job.parameters["ties"]
    filters = Filters.of(job.parameters.get("view", {}))
    try:
        report_with_section(job.study, heading, ties=ties, filters=filters, watch=JobProgress(job))
    except NothingToReport as nothing:
        raise WrongState(str(nothing)) from None
    finish_job(job, message=f"{HEADINGS[heading].title}: computed.")
