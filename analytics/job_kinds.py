"""The kinds of background work that figures bring."""

from collections.abc import Sequence

from django.urls import reverse

from evaluation.extension import JobKind
from evaluation.models import Job


def _bundle_links(job: Job) -> Sequence[tuple[str, str]]:
    return (("To the bundle", reverse("analytics:study-bundle", args=[job.slug])),)


def _report_links(job: Job) -> Sequence[tuple[str, str]]:
    return (("Report", reverse("analytics:study-report", args=[job.slug])),)


COMPUTATION = JobKind(
    key="figures",
    noun="computation of a report",
    title="Computing a report",
    work="analytics.reports.report_jobs.compute_report_of",
    need="view",
    tab="report",
    participle="",
    listed=False,
    links=_report_links,
)
COMPARISON = JobKind(
    key="comparison",
    noun="comparison",
    title="Comparing with another study",
    work="analytics.reports.report_jobs.compute_comparison_of",
    need="view",
    tab="report",
    participle="",
    listed=False,
)
FILES = JobKind(
    key="report",
    noun="report's files",
    title="Making a report's files",
    work="analytics.reports.paper.file_jobs.make_files_of",
    need="view",
    tab="report",
    participle="",
    killed="The worker stopped before the files were created.",
)
SECTION = JobKind(
    key="section",
    noun="section of a report",
    title="Computing a section of the report",
    work="analytics.reports.deferred.section_jobs.compute_section_of",
    need="view",
    tab="report",
    participle="",
    killed="The worker stopped before the figures were computed.",
    listed=False,
    links=_report_links,
)
BUNDLE = JobKind(
    key="bundle",
    noun="replication bundle",
    title="Writing a replication bundle",
    work="analytics.reports.bundle.jobs.write_bundle_of",
    need="view",
    tab="report",
    participle="",
    killed="The worker stopped before the bundle was written.",
    links=_bundle_links,
)
