"""Workers on a run, and messages on their way to one. Kept on the run's row, each with an end."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from judging.models import ACTIVE, Run, RunState
from judging.services.calls.workload import KINDS_OF_WORK


def _worked_on() -> Q:
    """Active runs of the kinds of work that workers take."""
    return Q(state__in=ACTIVE, work__in=list(KINDS_OF_WORK))


def _fresh(run: Run, now: datetime) -> dict[str, str]:
    return {token: until for token, until in run.workers.items() if datetime.fromisoformat(until) > now}


def sign_on(run_id: int, token: str, *, over_limit: bool = False) -> Run | None:
    """Register a worker (again); None if the run stands still, or others are at it (unless `over_limit`)."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).filter(_worked_on(), pk=run_id).first()
        if run is None:
            return None
        now = timezone.now()
        workers = _fresh(run, now)
        if token not in workers and len(workers) >= settings.ASSAY_RUN_WORKERS and not over_limit:
            return None
        until = now + timedelta(seconds=settings.ASSAY_RUN_LEASE_SECONDS)
        run.workers = workers | {token: until.isoformat()}
        run.state, run.started_at = RunState.RUNNING, run.started_at or now
        run.save(update_fields=["workers", "state", "started_at"])
        return run


def sign_off(run_id: int, token: str) -> None:
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.workers.pop(token, None):
            run.save(update_fields=["workers"])


def expect_workers(run_id: int, countdown: float = 0.0) -> list[str]:
    """Tokens for messages that bring a run the workers it may have; none if they are at it or on their way."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).filter(_worked_on(), pk=run_id).first()
        if run is None:
            return []
        now = timezone.now()
        workers = _fresh(run, now)
        new = [uuid.uuid4().hex for _ in range(settings.ASSAY_RUN_WORKERS - len(workers))]
        until = now + timedelta(seconds=countdown + settings.ASSAY_RUN_LEASE_SECONDS)
        run.workers = workers | dict.fromkeys(new, until.isoformat())
        run.save(update_fields=["workers"])
        return new


def unattended_runs() -> list[int]:
    """Active runs with fewer workers, at work or on their way, than they may have: what a sweep queues again."""
    now = timezone.now()
    runs = Run.objects.filter(_worked_on()).order_by("pk")
    return [run.pk for run in runs if len(_fresh(run, now)) < settings.ASSAY_RUN_WORKERS]
