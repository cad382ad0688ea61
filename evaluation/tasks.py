"""Background work: jobs as the worker does them, and as a page asks for one and waits."""

import logging
from contextlib import suppress
from datetime import timedelta
from time import monotonic, sleep
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from evaluation.extension import JobKind
from evaluation.job_kinds import kind_of
from evaluation.models import Job, Study
from evaluation.operations.full_disk import is_full_disk
from evaluation.operations.message_queue import send_message
from evaluation.refusals import Refused, WrongState
from evaluation.services.history import log_action
from evaluation.services.jobs import (
    FINGERPRINT,
    NO_ROOM,
    NOTHING,
    JobTaken,
    begin_job,
    claim_job,
    fail_job,
    job_at,
    mark_sent,
    queue_again,
    remove_old_files,
    resume_launches,
    waiting_jobs,
)
from evaluation.services.news import has_listeners, tell_news
from evaluation.services.progress import refresh_progress, studies_to_count
from evaluation.services.studies.launch import ABANDONED_AFTER
from evaluation.services.tallies import recount, studies_with_stale_items
from evaluation.services.uploads import remove_old_uploads
from evaluation.services.webhooks import webhooks_to_try

logger = logging.getLogger(__name__)

# How long a page waits for a job, and how often it looks, in seconds.
PATIENCE = 3.0
LOOKS_EVERY = 0.05
# How long items of one study are counted at a time, in seconds, while those of others wait.
COUNTED_FOR = 20.0
# Nobody else sends a study's news meanwhile, in seconds.
SENDS_FOR = 300
# What has failed is tried again for whoever asks after this long.
TRIED_AGAIN_AFTER = timedelta(minutes=1)
# Until then it may be on its way to the broker.
SENT_AGAIN_AFTER = timedelta(seconds=10)


@shared_task
def work_on_job(job_id: int) -> None:
    """Do a queued job; a second message about it changes nothing."""
    job = claim_job(job_id)
    if job is None:
        return
    try:
        import_string(kind_of(job).work)(job)
    except JobTaken as taken:
        logger.warning("%s", taken)
    except Refused as refused:
        done = kind_of(job).participle
        if not done or isinstance(refused, WrongState):
            _failed(job, str(refused).replace(str(job.path), "The file"))
            return
        errors = "1 error" if refused.total == 1 else f"{refused.total:,} errors"
        _failed(job, f"Nothing was {done}. {errors} found.", refused.problems, refused.total)
    except Exception as error:
        logger.exception("Job %s failed", job.pk)
        if is_full_disk(error):
            _failed(job, NO_ROOM)
            return
        _failed(job, "Something went wrong on our side; the server's log has the details.")


def enqueue_job(job: Job) -> None:
    """Send a queued job to a worker once it is stored."""
    transaction.on_commit(lambda: send_job(job.pk))


def send_job(job_id: int) -> bool:
    """Send the job now; False if it can't be, and `send_waiting_jobs` does it later."""
    sent = send_message(work_on_job, job_id)
    if sent:
        mark_sent(job_id)
    return sent


def ask_for_job(
    kind: JobKind,
    study: Study,
    *,
    subject: str,
    fingerprint: str,
    by: Any,
    parameters: dict[str, Any],
    wait: bool,
) -> Job:
    """The job that does this for the study in the state that `fingerprint` identifies: the one under way, whoever asked
    for it, sent anew where no broker took it; the one that ended in that state without a result; or a new one. With
    `wait`, as it is three seconds later at most.
    """
    job = job_at(kind.key, study.slug, subject)
    asked = {"by": by, "parameters": {**parameters, FINGERPRINT: fingerprint}}
    if job is None:
        try:
            job = begin_job(kind=kind.key, slug=study.slug, study=study, subject=subject, **asked)
            enqueue_job(job)
        except Refused:
            # Somebody else has asked at this moment.
            job = job_at(kind.key, study.slug, subject)
            assert job is not None
    elif job.is_unsent and timezone.now() - job.heartbeat_at > SENT_AGAIN_AFTER:
        # Where no beat runs, nobody else does. However often it is sent, one worker takes it.
        send_job(job.pk)
    elif job.is_lost or not (job.is_active or _is_settled(job, fingerprint)):
        # Its row is used again, which others may be waiting for; whoever else asks at this moment finds it changed.
        as_seen = Job.objects.filter(state=job.state, heartbeat_at=job.heartbeat_at)
        if queue_again(job, as_seen, **asked, created_at=timezone.now(), started_at=None):
            enqueue_job(job)
    return wait_for_job(job) if wait else job


def _is_settled(job: Job, fingerprint: str) -> bool:
    """True where asking anew would lead to the same: there was nothing, or it has failed just now."""
    if job.parameters.get(FINGERPRINT) != fingerprint or job.finished_at is None:
        return False
    if job.state == Job.State.FAILED:
        return timezone.now() - job.finished_at < TRIED_AGAIN_AFTER
    return NOTHING in job.parameters


def wait_for_job(job: Job) -> Job:
    """The job once it has ended, or as it is after three seconds, or where no worker can be told of it."""
    until = monotonic() + PATIENCE
    job.refresh_from_db()
    while job.is_active and not job.is_unsent and monotonic() < until:
        sleep(LOOKS_EVERY)
        job.refresh_from_db()
    return job


@shared_task
def send_waiting_jobs() -> None:
    """Send the jobs that were begun while the broker could not be reached, and those of launches that were cut
    short."""
    resume_launches()
    for job_id in waiting_jobs():
        if not send_job(job_id):
            return


@shared_task
def count_progress() -> None:
    """Count how far studies are, those that are under way or have changed (`evaluation.services.progress`), and the
    items of theirs whose judgments changed (`evaluation.services.tallies`)."""
    for study in studies_to_count():
        # It may be deleted at this moment.
        with suppress(Study.DoesNotExist, IntegrityError):
            refresh_progress(study)
            # Apart, so that a slow server of mail or of a webhook keeps nobody waiting.
            if has_listeners(study):
                send_message(send_news, study.pk)
    for study_id in webhooks_to_try():
        send_message(send_news, study_id)
    for study in studies_with_stale_items():
        until = monotonic() + COUNTED_FOR
        with suppress(Study.DoesNotExist, IntegrityError):
            while monotonic() < until and recount(study):
                pass


@shared_task
def send_news(study_id: int) -> None:
    """Tell a study's news to whoever wants them; two of these at once tell nobody twice."""
    if study := Study.objects.filter(pk=study_id).first():
        sending = f"news-{study_id}"
        if cache.add(sending, True, SENDS_FOR):
            try:
                tell_news(study)
            finally:
                cache.delete(sending)


@signals.worker_ready.connect
def look_for_jobs(**kwargs: Any) -> None:
    """Look for waiting jobs when a worker starts, so that they begin even without beat; and again once a launch that
    was cut short a moment ago, as with the worker before, counts as such."""
    send_message(send_waiting_jobs)
    send_message(count_progress)
    silent = max(settings.ASSAY_JOB_LOST_SECONDS, ABANDONED_AFTER.total_seconds())
    send_message(send_waiting_jobs, countdown=silent + 1)


def _failed(job: Job, message: str, problems: Any = (), total: int = 0) -> None:
    try:
        fail_job(job, message=message, problems=problems, total=total)
    except JobTaken as taken:
        logger.warning("%s", taken)
        return
    if job.study is not None:
        log_action(study=job.study, by=job.by, message=f"{kind_of(job).noun.capitalize()} failed: {message}")


@shared_task
def remove_old_job_files() -> None:
    """Remove old uploads and exports; see ASSAY_JOB_FILE_DAYS. And what was sent in parts and never imported."""
    removed = remove_old_files()
    if removed:
        logger.info("Removed %s files of jobs older than %s days", removed, settings.ASSAY_JOB_FILE_DAYS)
    if swept := remove_old_uploads():
        logger.info("Removed %s uploads that nobody has imported within a day", swept)
