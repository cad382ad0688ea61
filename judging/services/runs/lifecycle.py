"""Runs of any work: paused, resumed, cancelled, retried and brought to their end."""

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from evaluation.models import Item, Outcome
from evaluation.refusals import Refused, WrongState
from judging.models import ACTIVE, Call, CallState, Run, RunGroup, RunState, WorkKind
from judging.services.calls.workload import KINDS_OF_WORK, workload_of

UNCHANGED: Final[Any] = object()
# What may be tried again. Never "inconsistent": retrying until consistent would bias the judge.
RETRIED = (Outcome.FAILED, Outcome.UNPARSED, Outcome.TRUNCATED)
# Those of calls that nobody was to answer.
NOT_ASKED = (Outcome.EXCLUDED_SELF, Outcome.SKIPPED)


def pause_run(run: Run) -> None:
    """No further calls; whoever is at work lets go within a second or so."""
    move_run(run, ACTIVE, RunState.PAUSED)


def resume_run(run: Run, *, budget: Any = UNCHANGED, in_flight: Any = UNCHANGED) -> None:
    """Resume where it stopped; what is judged stays judged. A run that ran out of money needs a larger budget."""
    changes = {
        name: value
        for name, value in (("budget", budget), ("in_flight", in_flight))
        if value is not UNCHANGED
    }
    if any(value is not None and value <= 0 for value in changes.values()):
        raise Refused("Budget and number in flight must be more than zero.")
    to = RunState.RUNNING if run.work == WorkKind.REVISION else RunState.PENDING
    move_run(run, (RunState.PAUSED, RunState.STOPPED), to, reason="", **changes)


def cancel_run(run: Run) -> None:
    """End it for good; judgments that are there stay, outside the report.

    Where only a retry of a complete run was under way, or items that were added since were being judged, what is judged
    stands and the run is complete.
    """
    move_run(
        run, (*ACTIVE, RunState.PAUSED, RunState.STOPPED), RunState.CANCELLED, finished_at=timezone.now()
    )
    was_complete = run.asked is not None
    if (run.last_subject is None or was_complete) and run.work in KINDS_OF_WORK:
        # Calls before the run, as those lock them who record.
        with transaction.atomic():
            if was_complete:
                _drop_unjudged(run)
            if _put_back(run):
                run.last_subject = None
                _close(run)


def retry_run(run: Run, outcomes: Collection[str] = RETRIED) -> int:
    """Open calls that failed, were unparsed or truncated again; return how many. Ok may replace them, never worse."""
    if not set(outcomes) <= set(RETRIED):
        raise WrongState(f"Only {', '.join(RETRIED)} calls can be retried.")
    if run.work == WorkKind.REVISION:
        raise WrongState("Revisions can't be retried; participants ask again themselves.")
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state == RunState.CANCELLED:
            raise WrongState("A cancelled run can't be retried.")
        opened = Call.objects.filter(run=run, state=CallState.FINAL, outcome__in=list(outcomes)).update(
            state=CallState.OPEN,
            outcome="",
            attempts=0,
            unread=0,
            not_before=None,
            finished_at=None,
            error="",
        )
        if opened and locked.work in KINDS_OF_WORK:
            workload_of(run).reopened()
        if opened and locked.state not in ACTIVE:
            move_run(run, (RunState.COMPLETE, RunState.PAUSED, RunState.STOPPED), RunState.PENDING, reason="")
            workload_of(run).follow_state(run)
        return opened


def close_revisions(run: Run) -> None:
    """End a run of revisions whose version of the judge is asked no more."""
    with transaction.atomic():
        _close(run)


def move_run(run: Run, allowed: Collection[str], to: str, **fields: Any) -> None:
    """Change a run's state under its lock, and the given instance with it."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state not in allowed:
            raise WrongState(f"A run that is {locked.state} can't become {to}.")
        if to in ACTIVE:
            fields = {**fields, "finished_at": None, "workers": {}, "recent": "", "stopped_by_group": False}
        fields = {**fields, "state": to, "resumes_at": None}
        for name, value in fields.items():
            setattr(run, name, value)
            setattr(locked, name, value)
        locked.save(update_fields=list(fields))
    run.refresh_from_db()


def pause_until(run_id: int, until: datetime, reason: str) -> None:
    """Paused by Assay until a time that the endpoint named; then it goes on by itself, or before when it is resumed."""
    Run.objects.filter(pk=run_id, state__in=ACTIVE).update(
        state=RunState.PAUSED, reason=reason[:500], resumes_at=until
    )


def resume_due_runs() -> None:
    """Resume the runs that paused until now."""
    for run in Run.objects.filter(state=RunState.PAUSED, resumes_at__lte=timezone.now()).order_by("pk"):
        # Somebody may have resumed or cancelled it meanwhile.
        with suppress(WrongState):
            resume_run(run)


def stop_run(run_id: int, reason: str) -> None:
    """Stopped by Assay: money, quota, key. The reason stands on the row; it may be resumed."""
    Run.objects.filter(pk=run_id, state__in=ACTIVE).update(state=RunState.STOPPED, reason=reason[:500])


def stop_by_group(run_id: int, reason: str, budget: Decimal) -> None:
    """Stop a run for want of its group's money, unless the budget that refused it has changed meanwhile."""
    with transaction.atomic():
        # The run first, as those lock them who reserve.
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        group = RunGroup.objects.select_for_update(no_key=True).filter(pk=run.group_id or 0).first()
        if run.state not in ACTIVE or group is None or group.budget != budget:
            return
        run.state, run.reason, run.stopped_by_group = RunState.STOPPED, reason[:500], True
        run.save(update_fields=["state", "reason", "stopped_by_group"])


# --- the end ----------------------------------------------------------------------------------------------------------


def complete_if_finished(run_id: int) -> bool:
    """Complete a run that has no unfinished calls; True if it is complete."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.state == RunState.COMPLETE:
            return True
        unfinished = Call.objects.filter(run=run).exclude(state=CallState.FINAL)
        if run.state not in ACTIVE or run.last_subject is not None or unfinished.exists():
            return False
        if run.work in KINDS_OF_WORK and workload_of(run).next_stage(run):
            run.last_subject = 0
            run.save(update_fields=["last_subject"])
            return False
        _close(run)
        return True


def _close(run: Run) -> None:
    run.state, run.reason, run.workers = RunState.COMPLETE, "", {}
    run.finished_at = timezone.now()
    run.asked, run.unanswered = _count_unanswered(run)
    run.save(
        update_fields=["state", "reason", "workers", "finished_at", "asked", "unanswered", "last_subject"]
    )
    if run.work in KINDS_OF_WORK:
        workload_of(run).follow_state(run)


def _count_unanswered(run: Run) -> tuple[int, int]:
    asked = Count("pk", filter=~Q(outcome__in=NOT_ASKED))
    found = Call.objects.filter(run=run).aggregate(asked=asked, ok=Count("pk", filter=Q(outcome=Outcome.OK)))
    return found["asked"], found["asked"] - found["ok"]


def _drop_unjudged(run: Run) -> None:
    """Delete the calls on subjects of which nothing is stored yet: those that came in after the run was complete."""
    workload = workload_of(run)
    unfinished = Call.objects.filter(run=run).exclude(state=CallState.FINAL)
    stored = workload.stored_outcomes(unfinished)
    field = f"{workload.subject}_id"
    for place in set(unfinished.values_list(field, "replicate")) - stored.keys():
        Call.objects.filter(run=run, replicate=place[1], **{field: place[0]}).delete()


def _put_back(run: Run) -> bool:
    """Restore calls of which something is stored already; True if that leaves none unfinished."""
    unfinished = Call.objects.filter(run=run).exclude(state=CallState.FINAL)
    workload = workload_of(run)
    outcomes = workload.stored_outcomes(unfinished)
    rows = list(unfinished.select_for_update(no_key=True).order_by("pk"))
    places = {row.pk: (getattr(row, f"{workload.subject}_id"), row.replicate) for row in rows}
    if not all(place in outcomes for place in places.values()):
        return False
    for row in rows:
        row.outcome = outcomes[places[row.pk]]
        row.state, row.lease, row.leased_until = CallState.FINAL, None, None
    Call.objects.bulk_update(rows, ["outcome", "state", "lease", "leased_until"], batch_size=500)
    return True


def drop_unfinished_calls(item: Item) -> None:
    """Delete the unfinished calls on an item that was withdrawn: nobody pays for them."""
    Call.objects.filter(item=item).exclude(state=CallState.FINAL).delete()
