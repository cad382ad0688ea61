"""Bundles as jobs of the worker: one that writes a study's, and one that opens a study from an uploaded one."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat

from analytics.job_kinds import BUNDLE
from analytics.reports.build import fingerprint
from analytics.reports.bundle.outcome import outcome_record
from analytics.reports.bundle.reading import is_bundle
from analytics.reports.bundle.replication import replicate
from analytics.reports.bundle.writing import export_bundle
from analytics.reports.cache import effective_ties
from analytics.statistics.preferences.win_rates import Ties
from evaluation.extension import StudyFile
from evaluation.job_kinds import IMPORT
from evaluation.models import Job, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.services.jobs import (
    JobProgress,
    begin_job,
    finish_job,
    new_file_name,
    note_in_job,
)
from evaluation.services.studies.rehearsals import NEVER_EXPORTED, refuse_in_rehearsal

# What an upload may unpack to, in its own greatest size: text shrinks to a tenth or a twentieth.
UNPACKED = 20
# Of a job's parameters: the study that it has made so far, and what is the same in its figures.
OPENED, OUTCOME = "opened", "outcome"


@dataclass(frozen=True)
class StudyBundle:
    """The latest job that writes a study's bundle. `current`: it is done, and nothing has changed since."""

    job: Job
    there: bool
    current: bool

    @property
    def expired(self) -> bool:
        """True where the bundle was written, and deleted after its time."""
        return self.job.state == Job.State.DONE and not self.there

    @property
    def bytes(self) -> int:
        return self.job.path.stat().st_size if self.there else 0

    @property
    def name(self) -> str:
        """The name that its download has."""
        assert self.job.finished_at is not None  # it is there
        return f"{self.job.slug}-bundle-{self.job.finished_at:%Y-%m-%d}.zip"


def latest_bundle(study: Study, *, ties: Ties = "half") -> StudyBundle | None:
    """The latest that was asked for with this count of ties; None where nobody has."""
    ties = effective_ties(study, ties)
    job = Job.objects.filter(study=study, kind=BUNDLE.key, parameters__ties=ties).first()
    if job is None:
        return None
    there = job.state == Job.State.DONE and bool(job.file) and job.path.exists()
    current = there and job.parameters.get("fingerprint") == fingerprint(study, ties=ties)
    return StudyBundle(job, there, current)


def begin_bundle(study: Study, *, by: Any, ties: Ties = "half") -> Job:
    """Queue the job; Refused for a rehearsal, without judgments, and while another one is under way, unless its worker
    fell silent."""
    refuse_in_rehearsal(study, NEVER_EXPORTED)
    if not study.judgments.exists():
        raise Refused("Nothing has been judged yet, so there is nothing to bundle.")
    file = new_file_name("zip")
    try:
        job = begin_job(
            kind=BUNDLE.key,
            slug=study.slug,
            study=study,
            by=by,
            parameters={"ties": effective_ties(study, ties)},
            file=file,
            file_name=f"{study.slug}-bundle.zip",
        )
    except Refused:
        raise Refused("A bundle of this study is already being written. Try again once it is done.") from None
    log_action(study=study, by=by, message="Started writing a replication bundle.")
    return job


def write_bundle_of(job: Job) -> None:
    study = job.study
    assert study is not None  # only an import has none
    progress, ties = JobProgress(job), job.parameters["ties"]
    # What changes from here on makes the bundle old, or keeps it from being written.
    note_in_job(job, {"fingerprint": fingerprint(study, ties=ties)})
    export_bundle(study, job.path, ties=ties, watch=progress)
    finish_job(job, message=f"{filesizeformat(job.path.stat().st_size)}, ready to download.")
    log_action(study=study, by=job.by, message="Wrote a replication bundle.")


def open_bundle_of(job: Job) -> None:
    """Make the study of an uploaded bundle, and keep with the job what is the same in its figures.

    Where an earlier worker was killed after it had made the study, this one compares it; Refused if somebody has judged
    in it since.
    """
    done = replicate(
        job.path,
        keep=job.slug,
        owner=job.by,
        replace_broken=True,
        most_bytes=UNPACKED * settings.ASSAY_UPLOAD_MB * 1_000_000,
        watch=JobProgress(job),
        kept=_made_by(job),
        on_imported=lambda study: note_in_job(job, {OPENED: study.pk}),
    )
    study = done.study
    assert study is not None  # it was kept
    outcome = outcome_record(done)
    note_in_job(job, {OUTCOME: outcome})
    said = f"{study.title} was opened from the bundle. {outcome['counts']}"
    finish_job(job, message=said, study=study)
    log_action(study=study, by=job.by, message=f"Opened from {job.file_name}. {outcome['counts']}")


BUNDLE_FILE = StudyFile(
    "a replication bundle", is_bundle, open_bundle_of, "manage.py replicate FILE --keep SLUG"
)


def _made_by(job: Job) -> Study | None:
    """The study that a killed worker of this job has made."""
    study = Study.objects.filter(pk=job.parameters.get(OPENED), slug=job.slug).first()
    if study is None:
        return None
    dump = study.created_by_import
    if dump is None or study.judgments.count() != dump.notes["written"]["judgments"]:
        raise Refused(
            f"{study.slug} was opened, and has judgments that are not the bundle's: open the bundle under another name."
        )
    return study


def opening_of(study: Study) -> Job | None:
    """The job that opened this study from a bundle; None for every other study, and once it is forgotten."""
    return Job.objects.filter(
        study=study, kind=IMPORT.key, state=Job.State.DONE, parameters__has_key=OUTCOME
    ).first()
