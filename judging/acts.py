"""Acts on runs: begun, paused, resumed, cancelled, retried. Whichever way one comes in, by page, API or command, its
right, state, history and queue are here, in one transaction.

`by` is the member who asks, None whoever runs the server; `queue` leaves the work to the workers, else the caller does
it. Refused says why nothing was done.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from judging.models import ACTIVE, Judge, Run, RunGroup, RunState
from judging.services import cancel_run, pause_run, resume_run, retry_run, start_run
from judging.services.calls.costs import format_amount
from judging.services.generation.later_steps import make_later_steps
from judging.services.generation.pipeline_runs import PipelineSettings, start_pipeline
from judging.services.generation.products import pass_over
from judging.services.groups.run_groups import start_runs
from judging.services.runs.trials import start_trial
from judging.tasks import enqueue_batch_end, enqueue_run


def _pause(run: Run) -> str:
    pause_run(run)
    return f"Paused {run}."


def _resume(run: Run, **changes: Any) -> str:
    resume_run(run, **changes)
    return f"Resumed {run}."


def _cancel(run: Run) -> str:
    cancel_run(run)
    return f"Cancelled {run}."


def _retry(run: Run) -> str:
    n = retry_run(run)
    if not n:
        raise Refused("No call of this run failed, was unparsed or truncated.")
    return f"Retrying {_count(n, 'call')} of {run}."


def _pass_over(run: Run) -> str:
    n = pass_over(run)
    if not n:
        raise Refused("No unit of this run holds a query up.")
    return f"Passed over {_count(n, 'unit')} of {run}."


ACTS: dict[str, Callable[..., str]] = {
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "retry": _retry,
    "pass-over": _pass_over,
}


def act_on(run: Run, act: str, *, by: Any, reason: str = "", queue: bool = True, **changes: Any) -> str:
    """Do it, and return the sentence that stands in the study's history. `changes` are those of `resume_run`."""
    _require_right(run.study, by)
    with transaction.atomic():
        said = ACTS[act](run, **changes)
        reason = reason.strip()
        _note(run.study, by, f"{said} Reason: {reason}" if reason else said)
        run.refresh_from_db()
        if run.state == RunState.CANCELLED:
            enqueue_batch_end(run)
        elif queue and run.state in ACTIVE:
            enqueue_run(run)
    return said


def begin_run(study: Study, judge: Judge, *, by: Any, queue: bool = True, **limits: Any) -> Run:
    """Start a run of a judge, or have its last one go on over the items that were added since."""
    _require_right(study, by)
    with transaction.atomic():
        run = start_run(study, judge, user=by, **limits)
        limit = "" if run.budget is None else f", at most {run.budget}"
        _begun(study, by, f"Started {run} ({run.judging.purpose}{limit}).", [run], queue=queue)
    return run


def begin_trial(study: Study, judge: Judge, *, by: Any, budget: Decimal | None, queue: bool = True) -> Run:
    """Try a judge on one item."""
    _require_right(study, by)
    with transaction.atomic():
        run = start_trial(study, judge, user=by, budget=budget)
        _begun(study, by, f"Tried one item: {run}.", [run], queue=queue)
    return run


def begin_runs(
    study: Study, judges: Sequence[Judge], *, by: Any, queue: bool = True, **limits: Any
) -> tuple[RunGroup, str]:
    """Start several judges' runs together; the group, and the sentence of the history."""
    _require_right(study, by)
    with transaction.atomic():
        group = start_runs(study, judges, user=by, **limits)
        runs = list(group.runs.all())
        limit = "" if group.budget is None else f", at most {format_amount(group.budget)} together"
        names, purpose = ", ".join(map(str, judges)), runs[0].judging.purpose
        said = f"Started {len(judges)} runs together: {names} ({purpose}{limit})."
        _begun(study, by, said, runs, queue=queue)
    return group, said


def begin_pipeline(
    study: Study, settings: PipelineSettings, *, by: Any, queue: bool = True, **limits: Any
) -> Run:
    """Start a run of a pipeline over the study's queries."""
    _require_right(study, by)
    with transaction.atomic():
        run = start_pipeline(study, settings, user=by, **limits)
        _begun(study, by, f"Started {run}.", [run], queue=queue)
    return run


def begin_later_steps(run: Run, step: str, *, by: Any, queue: bool = True) -> Run:
    """Start a run that goes on from the products of another one's step as they are now."""
    _require_right(run.study, by)
    with transaction.atomic():
        new = make_later_steps(run, step, user=by)
        _begun(run.study, by, f"{new} goes on from {step} of {run}.", [new], queue=queue)
    return new


def _require_right(study: Study, by: Any) -> None:
    if by is not None:
        get_study_for(by, study.slug, right="write")


def _note(study: Study, by: Any, said: str) -> None:
    log_action(study=study, by=by or server_account(), message=said)


def _begun(study: Study, by: Any, said: str, runs: Iterable[Run], *, queue: bool) -> None:
    _note(study, by, said)
    for run in runs if queue else ():
        enqueue_run(run)


def possible_acts(run: Run, *, not_ok: int) -> list[str]:
    """Those that a judge's run can have now; `not_ok` is the number of its calls that may be retried."""
    found = []
    if run.state in ACTIVE:
        found.append("pause")
    if run.state in (RunState.PAUSED, RunState.STOPPED):
        found.append("resume")
    if not_ok and run.state != RunState.CANCELLED:
        found.append("retry")
    if run.state not in (RunState.COMPLETE, RunState.CANCELLED):
        found.append("cancel")
    return found


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
