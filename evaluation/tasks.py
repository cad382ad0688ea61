"""Background work. A task loads by id and calls a service; it is queued on commit."""

import logging
from collections.abc import Callable
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

from evaluation.analytics.win_rates import Ties
from evaluation.dumps import ExportRefused, FileSource, ImportRefused, export_to, import_dump
from evaluation.dumps.draft import import_items
from evaluation.full_disk import is_full_disk
from evaluation.models import Job, Study
from evaluation.reports.build import NothingToReport
from evaluation.reports.cache import compute_report as compute_and_keep
from evaluation.reports.cache import release_claim
from evaluation.services import LaunchRefused, WrongStatus, launch_study
from evaluation.services.acts import log_act
from evaluation.services.jobs import (
    NO_ROOM,
    JobTaken,
    Progress,
    claim_job,
    fail_job,
    finish_job,
    note_sent,
    remove_old_files,
    waiting_jobs,
)

logger = logging.getLogger(__name__)


@shared_task
def compute_report(study_id: int, ties: Ties = "half") -> None:
    """Computes a study's report and keeps it; doing it twice changes nothing."""
    study = Study.objects.get(pk=study_id)
    try:
        compute_and_keep(study, ties=ties)
    except NothingToReport:
        release_claim(study)
    except Exception:
        release_claim(study)
        raise


@shared_task
def launch_study_task(study_id: int) -> None:
    """Launches a large study. A refusal leaves the draft as it was; the study page says why."""
    study = Study.objects.get(pk=study_id)
    try:
        launch_study(study)
    except (LaunchRefused, WrongStatus) as refused:
        logger.warning("Study %s was not launched: %s", study.slug, refused)


@shared_task
def work_on_job(job_id: int) -> None:
    """Does a queued job; a second message about it changes nothing."""
    job = claim_job(job_id)
    if job is None:
        return
    try:
        WORK[job.kind](job)
    except JobTaken as taken:
        logger.warning("%s", taken)
    except (ImportRefused, LaunchRefused) as refused:
        total = getattr(refused, "total", len(refused.problems))
        what = "thing is" if total == 1 else "things are"
        _failed(job, f"Nothing was changed: {total:,} {what} wrong.", refused.problems, total)
    except (ExportRefused, WrongStatus) as refused:
        _failed(job, str(refused))
    except Exception as error:
        logger.exception("Job %s failed", job.pk)
        if is_full_disk(error):
            _failed(job, NO_ROOM)
            return
        _failed(job, "Something went wrong on our side; the server's log has the details.")


def enqueue_job(job: Job) -> None:
    """Sends a queued job to a worker once it is stored."""
    transaction.on_commit(lambda: send_job(job.pk))


def send_job(job_id: int) -> None:
    """A broker that is down must not turn a stored job into an error: it is sent later (`send_waiting_jobs`)."""
    try:
        work_on_job.delay(job_id)
    except (OperationalError, OSError) as error:
        logger.error("Job %s is stored, but the broker can't be reached: %s", job_id, error)
        return
    note_sent(job_id)


@shared_task
def send_waiting_jobs() -> None:
    """Sends jobs that were begun while the broker could not be reached."""
    for job_id in waiting_jobs():
        send_job(job_id)


@signals.worker_ready.connect
def look_for_jobs(**kwargs: Any) -> None:
    """A worker that starts looks, too: so a job is begun even where there is no beat."""
    send_waiting_jobs.delay()


def _failed(job: Job, message: str, problems: Any = (), total: int = 0) -> None:
    try:
        fail_job(job, message=message, problems=problems, total=total)
    except JobTaken as taken:
        logger.warning("%s", taken)
        return
    if job.study is not None:
        log_act(
            study=job.study, by=job.by, message=f"{job.get_kind_display().capitalize()} failed: {message}"
        )


def _import(job: Job) -> None:
    progress = Progress(job)
    source = FileSource(job.path)
    source.name = job.file_name
    if job.study is not None:
        n = import_items(
            source,
            job.study,
            replace_broken=True,
            watch=progress,
            still_mine=lambda: progress("moving", 0, 1),
        )
        finish_job(job, message=f"{n:,} items are in the draft now.")
        log_act(study=job.study, by=job.by, message=f"Uploaded {job.file_name}: {n:,} items.")
        return
    study = import_dump(
        source,
        slug=job.slug,
        protocol=job.parameters.get("protocol", ""),
        title=job.parameters.get("title", ""),
        owner=job.by,
        replace_broken=True,
        watch=progress,
    )
    n = study.items.count()
    finish_job(job, message=f"{study.title} is there, with {n:,} items.", study=study)
    log_act(study=study, by=job.by, message=f"Made from {job.file_name}: {n:,} items.")


def _export(job: Job) -> None:
    assert job.study is not None  # only an import has none
    export_to(job.study, format=job.parameters["format"], path=str(job.path), watch=Progress(job))
    finish_job(job, message=f"{job.path.stat().st_size / 1e6:,.1f} MB, ready to be downloaded.")
    log_act(study=job.study, by=job.by, message=f"Exported as {job.parameters['format']}.")


def _launch(job: Job) -> None:
    study = job.study
    assert study is not None  # only an import has none
    total, progress = study.items.count(), Progress(job)
    progress("freezing", 0, total)
    launch_study(study, on_batch=lambda done: progress("freezing", done, total))
    finish_job(job, message=f"Live, with {total:,} items.")
    log_act(study=study, by=job.by, message=f"Launched with {total:,} items.")


WORK: dict[str, Callable[[Job], None]] = {
    Job.Kind.IMPORT: _import,
    Job.Kind.EXPORT: _export,
    Job.Kind.LAUNCH: _launch,
}


@shared_task
def remove_old_job_files() -> None:
    """Uploads and exports are kept for a while only; see ASSAY_JOB_FILE_DAYS."""
    removed = remove_old_files()
    if removed:
        logger.info("Removed %s files of jobs older than %s days", removed, settings.ASSAY_JOB_FILE_DAYS)
