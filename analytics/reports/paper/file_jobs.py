"""The archive of a report as a job of the worker: a member begins it, and it is read from until the report changes."""

import zipfile
from dataclasses import dataclass
from typing import Any

from analytics.reports.build import fingerprint
from analytics.reports.cache import compute_report, effective_ties
from analytics.reports.common import NothingToReport
from analytics.reports.paper.archive import ARCHIVE, folder, write_archive
from analytics.statistics.preferences.win_rates import Ties
from evaluation.models import Job, Study
from evaluation.refusals import WrongState
from evaluation.services.history import log_action
from evaluation.services.jobs import JobProgress, begin_job, finish_job, new_file_name


@dataclass(frozen=True)
class ReportArchive:
    """The latest job that makes a report's files. `current`: it is done, and nothing has changed since."""

    job: Job
    current: bool

    def read(self, path: str) -> bytes | None:
        """The content of one of its files, or all of it; None if it has none of that path."""
        if path == ARCHIVE:
            return self.job.path.read_bytes()
        with zipfile.ZipFile(self.job.path) as archive:
            names = {name.partition("/")[2]: name for name in archive.namelist()}
            return archive.read(names[path]) if path in names else None


def latest_archive(study: Study, *, ties: Ties = "half") -> ReportArchive | None:
    """The latest that was asked for with this count of ties; None where nobody has."""
    ties = effective_ties(study, ties)
    job = Job.objects.filter(study=study, kind=Job.Kind.REPORT, parameters__ties=ties).first()
    if job is None:
        return None
    made = job.state == Job.State.DONE and bool(job.file) and job.path.exists()
    return ReportArchive(job, made and job.parameters["fingerprint"] == fingerprint(study, ties=ties))


def begin_archive(study: Study, *, by: Any, ties: Ties = "half") -> Job:
    """Queue the job; Refused while another one of the study is under way."""
    ties = effective_ties(study, ties)
    job = begin_job(
        kind=Job.Kind.REPORT,
        slug=study.slug,
        study=study,
        by=by,
        # Taken first: what arrives until the files are made makes them old.
        parameters={"ties": ties, "fingerprint": fingerprint(study, ties=ties)},
        file=new_file_name("zip"),
        file_name=f"{study.slug}-report.zip",
    )
    log_action(study=study, by=by, message="Started to make the report's files.")
    return job


def make_files_of(job: Job) -> None:
    """Compute the report where it is not kept, and write its archive."""
    assert job.study is not None  # only an import has none
    progress = JobProgress(job)
    progress("computing the figures", 0, 1)
    try:
        report = compute_report(job.study, ties=job.parameters["ties"])
    except NothingToReport as nothing:
        raise WrongState(str(nothing)) from None
    with job.path.open("wb") as file:
        write_archive(report, file, progress)
    finish_job(job, message=f"{folder(report)}: {job.path.stat().st_size / 1e6:,.1f} MB.")
