"""Background work on runs. A message only says "work on this run": rows with leases are the truth."""

import logging
import mmap
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import transaction

from evaluation.operations import logcontext
from evaluation.operations.message_queue import send_message
from judging.models import Run
from judging.services.anchors import start_due_anchors
from judging.services.batches.following import follow_batches, has_batches, loose_runs
from judging.services.runs.lifecycle import resume_due_runs
from judging.services.runs.work import work_on
from judging.services.runs.workers import expect_workers, sign_off, unattended_runs

logger = logging.getLogger(__name__)

# Nobody comes back later than this: a message that waits may be lost, and then a sweep has to find out.
LONGEST_COUNTDOWN = 60.0
# A byte that a worker's main process shares with the children that it forks: it is told to end, they are at work.
_ending = mmap.mmap(-1, 1)


def enqueue_run(run: Run) -> None:
    """Queue an active run on commit, unless workers are at it or on their way."""
    transaction.on_commit(lambda: send_workers(run.pk), robust=True)


def enqueue_batch_end(run: Run) -> None:
    """Queue on commit that the endpoint is told to cancel the batches of a cancelled run; or a sweep does it."""
    if has_batches(run):
        transaction.on_commit(lambda: send_message(follow_loose_batches, run.pk), robust=True)


def send_workers(run_id: int, countdown: float = 0.0) -> bool:
    """Send messages for workers; False where the broker took none, and then the next sweep sends them."""
    countdown = min(countdown, LONGEST_COUNTDOWN)
    sent = True
    for token in expect_workers(run_id, countdown):
        sent = sent and send_message(work_on_run, run_id, token, countdown=countdown)
        if not sent:
            sign_off(run_id, token)
    return sent


# Should the process that runs it be killed, the message goes to another one, whose token is known by then.
@shared_task(acks_late=True, reject_on_worker_lost=True)
def work_on_run(run_id: int, token: str) -> None:
    """Work on a run for a while and queue it again if something is left."""
    with logcontext.bind(run=run_id):
        try:
            worked = work_on(run_id, token=token, seconds=settings.ASSAY_RUN_SECONDS, should_stop=is_ending)
        except Exception:
            logger.exception("Working on run %s broke off; it is tried again.", run_id)
            send_workers(run_id, settings.ASSAY_RUN_SWEEP_SECONDS)
            return
        logger.info("Run %s: %s calls final, now %s", run_id, worked.final, worked.state)
        if worked.resume_in is not None:
            send_workers(run_id, worked.resume_in)


@shared_task
def follow_loose_batches(run_id: int) -> None:
    """Collect the batches of a run that stands still, and cancel those of one that was cancelled."""
    with logcontext.bind(run=run_id):
        follow_batches(run_id, seconds=settings.ASSAY_RUN_SECONDS, should_stop=is_ending)


@shared_task
def sweep_runs() -> None:
    """Queue active runs that lack workers: one was killed, a message was lost, or they paused until now.

    And those that stand still while batches of theirs are at an endpoint.
    """
    resume_due_runs()
    for run_id in unattended_runs():
        if not send_workers(run_id):
            return
    for run_id in loose_runs():
        if not send_message(follow_loose_batches, run_id):
            return


@shared_task
def start_anchors() -> None:
    """Start the anchor runs that are due."""
    for run in start_due_anchors():
        enqueue_run(run)


def is_ending() -> bool:
    return _ending[0] != 0


@signals.worker_init.connect
def begin(**kwargs: Any) -> None:
    _ending[0] = 0


@signals.worker_shutting_down.connect
def end(**kwargs: Any) -> None:
    """A warm shutdown waits for tasks; ours give their calls back and end within a second or so."""
    _ending[0] = 1


@signals.worker_ready.connect
def look_for_runs(**kwargs: Any) -> None:
    """A new worker sweeps, and once more when the leases of one that was killed just before have run out.

    So a run goes on after its worker was killed even where there is no beat.
    """
    send_message(sweep_runs)
    send_message(sweep_runs, countdown=settings.ASSAY_RUN_LEASE_SECONDS + 1)
