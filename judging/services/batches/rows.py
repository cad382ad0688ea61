"""Rows of batches: held by one worker at a time, and what is written of them only while it holds them."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from judging.models import BatchState, Call, CallBatch, CallState
from judging.services.calls.leases import release_calls

# Calls of a batch are held longer than any batch lives: its end gives them back, and no clock.
HELD = timedelta(days=3_650)


class BatchLost(Exception):
    """Another worker has taken the batch over."""


def open_batches(run_id: int) -> QuerySet[CallBatch]:
    return CallBatch.objects.filter(~Q(state=BatchState.ENDED), run=run_id)


def calls_of(batch: CallBatch) -> QuerySet[Call]:
    """The calls that the batch holds, in the order of its file."""
    held = Call.objects.filter(~Q(state=CallState.FINAL), run=batch.run_id)
    return held.filter(state=CallState.LEASED, lease=batch.lease).order_by("pk")


def hold_due(run_id: int, token: str) -> list[CallBatch]:
    """Take a run's batches that are due and in nobody else's hand."""
    now = timezone.now()
    free = Q(worker="") | Q(worker=token) | Q(worker_until__lt=now)
    with transaction.atomic():
        found = list(open_batches(run_id).filter(free, due_at__lte=now).select_for_update(skip_locked=True))
        for batch in found:
            batch.worker, batch.worker_until = token, _until(now)
        CallBatch.objects.bulk_update(found, ["worker", "worker_until"])
    return found


def renew_holds(token: str) -> None:
    CallBatch.objects.filter(worker=token).update(worker_until=_until(timezone.now()))


def let_go(token: str) -> None:
    CallBatch.objects.filter(worker=token).update(worker="", worker_until=None)


def _until(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.ASSAY_RUN_LEASE_SECONDS)


def note(batch: CallBatch, **fields: Any) -> None:
    """Write what became of a batch; BatchLost if its worker does not hold it any more."""
    if not CallBatch.objects.filter(pk=batch.pk, worker=batch.worker).update(**fields):
        raise BatchLost
    for name, value in fields.items():
        setattr(batch, name, value)


def end_batch(batch: CallBatch, reason: str = "") -> None:
    """End a batch and free the calls that it still holds, which keep the reason."""
    with transaction.atomic():
        note(
            batch,
            state=BatchState.ENDED,
            ended_at=timezone.now(),
            reason=reason[:500],
        )
        if reason:
            calls_of(batch).update(error=reason[:500])
        release_calls(batch.run_id, [batch.lease])


def seconds_until_due(run_id: int) -> float | None:
    """Seconds until one of a run's batches is to be looked at; None if none is open."""
    due = open_batches(run_id).aggregate(due=Min("due_at"))["due"]
    return None if due is None else max(0.0, (due - timezone.now()).total_seconds())
