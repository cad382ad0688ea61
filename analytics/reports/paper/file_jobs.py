"""The archive of a report as a job of the worker: a member begins it, and it is read from until the report changes."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analytics.job_kinds import FILES
from analytics.reports.build import fingerprint
from analytics.reports.cache import effective_ties, whole_report
from analytics.reports.common import NothingToReport
from analytics.reports.paper.archive import ARCHIVE, folder, write_archive
from analytics.reports.paper.credit import credit_of
from analytics.reports.report_jobs import report_of, report_parameters, report_subject
from analytics.statistics.preferences.win_rates import Ties
from evaluation.canonical import canonical_hash
from evaluation.dumps.exports.study_export import atomic_file
from evaluation.filters import EVERYTHING, Filters
from evaluation.models import Job, Study
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.jobs import JobProgress, begin_job, finish_job, job_at, new_file_name, note_in_job


@dataclass(frozen=True)
class ReportArchive:
    """The latest job that makes a report's files. `current`: it is done, and nothing has changed since."""

    job: Job
    current: bool

    @property
    def expired(self) -> bool:
        """True where the file was made, and deleted after its time."""
        return self.job.state == Job.State.DONE and not (self.job.file and self.job.path.exists())

    def file(self, path: str) -> Path | bytes | None:
        """The content of one of its files, or where all of it is; None if it has none of that path."""
        if path == ARCHIVE:
            return self.job.path
        with zipfile.ZipFile(self.job.path) as archive:
            names = {name.partition("/")[2]: name for name in archive.namelist()}
            return archive.read(names[path]) if path in names else None


def latest_archive(
    study: Study, *, ties: Ties = "half", filters: Filters = EVERYTHING
) -> ReportArchive | None:
    """The latest that was asked for with this count of ties, of this view; None where nobody has."""
    job = job_at(FILES.key, study.slug, report_subject(study, ties, filters))
    if job is None:
        return None
    made = job.state == Job.State.DONE and bool(job.file) and job.path.exists()
    now = _fingerprint(study, ties=ties, filters=filters)
    return ReportArchive(job, made and job.parameters["fingerprint"] == now)


def begin_archive(study: Study, *, by: Any, ties: Ties = "half", filters: Filters = EVERYTHING) -> Job:
    """Queue the job; Refused while another one of the study is under way, unless its worker fell silent."""
    file = new_file_name("zip")
    try:
        job = begin_job(
            kind=FILES.key,
            slug=study.slug,
            study=study,
            by=by,
            subject=report_subject(study, ties, filters),
            parameters=report_parameters(study, ties, filters)
            | {"fingerprint": _fingerprint(study, ties=ties, filters=filters)},
            file=file,
            file_name=f"{study.slug}-report.zip",
        )
    except Refused:
        raise Refused("The report's files are already being created. Try again once they are done.") from None
    log_action(study=study, by=by, message="Started creating the report's files.")
    return job


def _fingerprint(study: Study, *, ties: Ties, filters: Filters) -> str:
    """Everything that the files depend on: the report, and whom its citation names."""
    report = fingerprint(study, ties=effective_ties(study, ties), filters=filters)
    return canonical_hash([report, credit_of(study).stamp])


def make_files_of(job: Job) -> None:
    """Compute of the report what is not kept, and write its archive."""
    study, ties, filters = report_of(job)
    progress = JobProgress(job)
    progress("computing the figures", 0, 1)
    # What arrives from here on makes the files old; what arrived in the queue is in them.
    credit = credit_of(study)
    note_in_job(job, {"fingerprint": _fingerprint(study, ties=ties, filters=filters)})
    try:
        report = whole_report(study, ties=ties, filters=filters, watch=progress)
    except NothingToReport as nothing:
        raise WrongState(str(nothing)) from None
    with atomic_file(job.path) as file:
        write_archive(report, credit, file, progress)
    finish_job(job, message=f"{folder(report)}: {job.path.stat().st_size / 1e6:,.1f} MB.")
