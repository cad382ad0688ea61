"""Batches of runs that stand still: collected, or cancelled at the endpoint where their run was cancelled."""

import uuid
from collections.abc import Callable
from datetime import timedelta

from asgiref.sync import async_to_sync
from django.db.models import Q
from django.utils import timezone

from judging.backends.base import StopRun
from judging.models import ACTIVE, BatchState, CallBatch, Run
from judging.services.batches.batch_loop import GIVEN_UP, BatchLoop
from judging.services.batches.rows import end_batch, hold_due, let_go, note
from judging.services.calls.workload import workload_of
from judging.services.runs.session import Session

# A run whose endpoint can't be asked is not asked again at once.
SET_BACK = timedelta(minutes=10)


def loose_runs() -> list[int]:
    """Runs that no worker takes calls of, with batches that are to be looked at."""
    due = CallBatch.objects.filter(~Q(state=BatchState.ENDED), due_at__lte=timezone.now())
    return list(due.exclude(run__state__in=ACTIVE).order_by("run").values_list("run", flat=True).distinct())


def has_batches(run: Run) -> bool:
    return run.batches.exclude(state=BatchState.ENDED).exists()


def follow_batches(run_id: int, *, seconds: float, should_stop: Callable[[], bool] = lambda: False) -> None:
    """Look once at the batches of a run that stands still: what they brought is written, what is left is freed."""
    run = Run.objects.get(pk=run_id)
    if run.state in ACTIVE:
        return
    session = Session(run, workload_of(run), uuid.uuid4().hex, seconds, should_stop, lambda tick: None)
    try:
        async_to_sync(BatchLoop(session, active=False).work)()
    except StopRun as stop:
        _set_back(run_id, session.token, str(stop))


def _set_back(run_id: int, token: str, reason: str) -> None:
    """The endpoint can't be asked: a key is missing, its place is not allowed any more."""
    now = timezone.now()
    for batch in hold_due(run_id, token):
        if now > batch.created_at + GIVEN_UP:
            end_batch(batch, reason)
        else:
            note(batch, reason=reason[:500], due_at=now + SET_BACK)
    let_go(token)
