"""Background work. A task loads by id and calls a service; it is queued on commit."""

import logging
from collections.abc import Callable
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import transaction

from evaluation.dumps.exports.study_export import export_to
from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.imports.draft_items import import_items
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.imports.new_system import NewSystemSource
from evaluation.dumps.imports.queries import add_queries, read_queries
from evaluation.dumps.imports.scores import import_scores
from evaluation.dumps.lines import FileSource, Source
from evaluation.dumps.tables.addition import open_addition
from evaluation.dumps.tables.source import Opened, arms_of, open_source
from evaluation.dumps.tables.table_map import map_of_json, read_map
from evaluation.extension import extensions
from evaluation.models import Job, Rater, Status, Study
from evaluation.operations.full_disk import is_full_disk
from evaluation.operations.message_queue import send_message
from evaluation.refusals import Refused, WrongState
from evaluation.services import launch_study
from evaluation.services.history import log_action, server_account
from evaluation.services.jobs import (
    NO_ROOM,
    JobProgress,
    JobTaken,
    ask_to_confirm,
    claim_job,
    fail_job,
    finish_job,
    mark_sent,
    remove_old_files,
    resume_launches,
    waiting_jobs,
)
from evaluation.services.studies.launch import ABANDONED_AFTER
from evaluation.services.studies.rehearsing import rehearse
from evaluation.services.table_maps import keep_table_map

logger = logging.getLogger(__name__)


# Of what is no import, the word for what a job does that was refused.
NOTHING_WAS = {
    Job.Kind.LAUNCH: "launched",
    Job.Kind.REHEARSAL: "rehearsed",
    Job.Kind.MAKING: "made",
    Job.Kind.ADDITION: "added",
}
# Kinds that only write a file: what keeps them from it is told as it is.
WRITING = (Job.Kind.EXPORT, Job.Kind.REPORT, Job.Kind.BUNDLE)


@shared_task
def work_on_job(job_id: int) -> None:
    """Do a queued job; a second message about it changes nothing."""
    job = claim_job(job_id)
    if job is None:
        return
    try:
        _work_of(job.kind)(job)
    except JobTaken as taken:
        logger.warning("%s", taken)
    except Refused as refused:
        if job.kind in WRITING or isinstance(refused, WrongState):
            _failed(job, str(refused).replace(str(job.path), "The file"))
            return
        done = NOTHING_WAS.get(Job.Kind(job.kind), "imported")
        errors = "1 error" if refused.total == 1 else f"{refused.total:,} errors"
        _failed(job, f"Nothing was {done}. {errors} found.", refused.problems, refused.total)
    except Exception as error:
        logger.exception("Job %s failed", job.pk)
        if is_full_disk(error):
            _failed(job, NO_ROOM)
            return
        _failed(job, "Something went wrong on our side; the server's log has the details.")


def _work_of(kind: str) -> Callable[[Job], None]:
    others = {key: work for each in extensions() for key, work in each.job_work().items()}
    return WORK.get(kind) or others[kind]


def enqueue_job(job: Job) -> None:
    """Send a queued job to a worker once it is stored."""
    transaction.on_commit(lambda: send_job(job.pk))


def send_job(job_id: int) -> bool:
    """Send the job now; False if it can't be, and `send_waiting_jobs` does it later."""
    sent = send_message(work_on_job, job_id)
    if sent:
        mark_sent(job_id)
    return sent


@shared_task
def send_waiting_jobs() -> None:
    """Send the jobs that were begun while the broker could not be reached, and those of launches that were cut
    short."""
    resume_launches()
    for job_id in waiting_jobs():
        if not send_job(job_id):
            return


@signals.worker_ready.connect
def look_for_jobs(**kwargs: Any) -> None:
    """Look for waiting jobs when a worker starts, so that they begin even without beat; and again once a launch that
    was cut short a moment ago, as with the worker before, counts as such."""
    send_message(send_waiting_jobs)
    silent = max(settings.ASSAY_JOB_LOST_SECONDS, ABANDONED_AFTER.total_seconds())
    send_message(send_waiting_jobs, countdown=silent + 1)


def _failed(job: Job, message: str, problems: Any = (), total: int = 0) -> None:
    try:
        fail_job(job, message=message, problems=problems, total=total)
    except JobTaken as taken:
        logger.warning("%s", taken)
        return
    if job.study is not None:
        log_action(
            study=job.study, by=job.by, message=f"{job.get_kind_display().capitalize()} failed: {message}"
        )


def _import(job: Job) -> None:
    if kind := job.parameters.get("opens"):
        files = {key: file for each in extensions() for key, file in each.study_files().items()}
        files[kind].open_study(job)
        return
    progress = JobProgress(job)
    source, table_map = _source(job)
    if job.study is not None:
        n = import_items(
            source,
            job.study,
            replace_broken=True,
            watch=progress,
            still_mine=lambda: progress("moving", 0, 1),
        )
        keep_table_map(job.study, table_map)
        finish_job(job, message=f"{n:,} items are in the draft.")
        log_action(study=job.study, by=job.by, message=f"Uploaded {job.file_name}: {n:,} items.")
        return

    def created(study: Study) -> None:
        keep_table_map(study, table_map)
        n = study.items.count()
        finish_job(job, message=f"{study.title} was created with {n:,} items.", study=study)
        log_action(study=study, by=job.by, message=f"Created from {job.file_name}: {n:,} items.")

    import_dump(
        source,
        slug=job.slug,
        protocol=job.parameters.get("protocol", ""),
        title=job.parameters.get("title", ""),
        owner=job.by,
        replace_broken=True,
        watch=progress,
        and_then=created,
    )


def _source(job: Job) -> tuple[Source, dict[str, Any]]:
    """The job's file as a source, and the map of a table."""
    table_map: dict[str, Any] = job.parameters.get("map", {})
    opened = open_source(
        job.path,
        name=job.file_name,
        protocol=job.study.protocol if job.study else job.parameters.get("protocol", ""),
        table_map=read_map(table_map) if table_map else None,
        arms=arms_of(job.study),
    )
    return opened.source, opened.map.as_json() if opened.map else {}


def _scores(job: Job) -> None:
    study = job.study
    assert study is not None  # only an import has none
    progress = JobProgress(job)
    progress("reading", 0, 1)

    def recorded(rater: Rater) -> None:
        assert rater.dump is not None
        notes = rater.dump.notes
        message = f"{rater.label}: {', '.join(notes['measures'])} of {notes['items']:,} items."
        finish_job(job, message=message[:500])
        log_action(study=study, by=job.by, message=f"Imported scores from {job.file_name}. {message}")

    import_scores(study, job.path, file_name=job.file_name, user=job.by, and_then=recorded, **job.parameters)


def _export(job: Job) -> None:
    assert job.study is not None  # only an import has none
    export_to(job.study, format=job.parameters["format"], path=str(job.path), watch=JobProgress(job))
    finish_job(job, message=f"{job.path.stat().st_size / 1e6:,.1f} MB, ready to download.")
    log_action(study=job.study, by=job.by, message=f"Exported as {job.parameters['format']}.")


def _launch(job: Job) -> None:
    study = job.study
    assert study is not None  # only an import has none
    total, progress = study.items.count(), JobProgress(job)
    progress("freezing", 0, total)
    # A worker that was killed may have launched it, and not said so.
    if study.status != Status.LIVE:
        launch_study(study, on_batch=lambda done: progress("freezing", done, total))
    finish_job(job, message=f"Live, with {total:,} items.")
    log_action(study=study, by=job.by or server_account(), message=f"Launched with {total:,} items.")


def _rehearse(job: Job) -> None:
    draft, asked = job.study, job.parameters
    assert draft is not None  # only an import has none
    rehearsal, said = rehearse(draft, asked, watch=JobProgress(job))
    finish_job(job, message=said)
    log_action(study=draft, by=job.by, message=f"Rehearsed as {rehearsal.slug}. {said}")


def _queries(job: Job) -> None:
    assert job.study is not None  # only an import has none
    records, _ = read_queries(job.path, name=job.file_name, watch=JobProgress(job))
    with transaction.atomic():
        new = add_queries(job.study, records)
        message = f"{new:,} queries added, {len(records) - new:,} were there."
        finish_job(job, message=message)
        log_action(study=job.study, by=job.by, message=f"Uploaded {job.file_name}: {message}")


def _add(job: Job) -> None:
    """Count what the file would add, and once that was confirmed, add it."""
    study = job.study
    assert study is not None  # only an import has none
    opened, progress = _opened(job, study), JobProgress(job)
    if not job.parameters.get("confirmed"):
        preview = preview_items(opened.source, study, watch=progress).preview()
        ask_to_confirm(job, {**preview, "columns": list(opened.map.described()) if opened.map else []})
        return

    def added(said: str) -> None:
        finish_job(job, message=said)
        log_action(study=study, by=job.by, message=said)

    add_items(opened.source, study, watch=progress, and_then=added)


def _opened(job: Job, study: Study) -> Opened:
    if names := job.parameters.get("new_system"):
        return Opened(NewSystemSource(FileSource(job.path), study, **names))
    return open_addition(
        job.path, study, name=job.file_name, table_map=map_of_json(job.parameters.get("map"))
    )


WORK: dict[str, Callable[[Job], None]] = {
    Job.Kind.IMPORT: _import,
    Job.Kind.EXPORT: _export,
    Job.Kind.LAUNCH: _launch,
    Job.Kind.SCORES: _scores,
    Job.Kind.REHEARSAL: _rehearse,
    Job.Kind.QUERIES: _queries,
    Job.Kind.ADDITION: _add,
}


@shared_task
def remove_old_job_files() -> None:
    """Remove old uploads and exports; see ASSAY_JOB_FILE_DAYS."""
    removed = remove_old_files()
    if removed:
        logger.info("Removed %s files of jobs older than %s days", removed, settings.ASSAY_JOB_FILE_DAYS)
