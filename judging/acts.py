"""Acts on runs: begun, paused, resumed, cancelled, retried. Whichever way one comes in, by page, API or command, its
right, state, history and queue are here, in one transaction.

`by` is the member who asks, None whoever runs the server; `queue` leaves the work to the workers, else the caller does
it. Refused says why nothing was done.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluation.counting import counted
from evaluation.models import Study
from evaluation.permissions import get_study_for
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from judging.models import ACTIVE, Judge, Run, RunGroup, RunState
from judging.services.calls.costs import format_amount
from judging.services.generation.later_steps import make_later_steps
from judging.services.generation.pipeline_runs import PipelineSettings, start_pipeline
from judging.services.generation.products import pass_over
from judging.services.groups.run_groups import set_group_budget, start_runs
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run, retry_run
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
    return f"Retrying {counted(n, 'call')} of {run}."


def _pass_over(run: Run) -> str:
    n = pass_over(run)
    if not n:
        raise Refused("No unit of this run holds a query up.")
    return f"Passed over {counted(n, 'unit')} of {run}."


ACTS: dict[str, Callable[..., str]] = {
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "retry": _retry,
    "pass-over": _pass_over,
}


def act_on(run: Run, act: str, *, by: Any, reason: str = "", queue: bool = True, **changes: Any) -> str:
    """Do it, and return the sentence that stands in the study's history. `changes` are those of `resume_run`."""
    require_right(run.study, by)
    with transaction.atomic():
        said = ACTS[act](run, **changes)
        note(run.study, by, said, [run], reason=reason)
        run.refresh_from_db()
        if run.state == RunState.CANCELLED:
            enqueue_batch_end(run)
        elif queue and run.state in ACTIVE:
            enqueue_run(run)
    return said


def begin_run(study: Study, judge: Judge, *, by: Any, queue: bool = True, **limits: Any) -> Run:
    """Start a run of a judge, or have its last one go on over the items that were added since."""
    require_right(study, by)
    with transaction.atomic():
        run = start_run(study, judge, user=by, **limits)
        limit = "" if run.budget is None else f", at most {format_amount(run.budget)}"
        _begun(study, by, f"Started {run} ({run.judging.purpose}{limit}).", [run], queue=queue)
    return run


def begin_trial(study: Study, judge: Judge, *, by: Any, budget: Decimal | None, queue: bool = True) -> Run:
    """Try a judge on one item."""
    require_right(study, by)
    with transaction.atomic():
        run = start_trial(study, judge, user=by, budget=budget)
        _begun(study, by, f"Tried one item: {run}.", [run], queue=queue)
    return run


def begin_runs(
    study: Study, judges: Sequence[Judge], *, by: Any, queue: bool = True, **limits: Any
) -> tuple[RunGroup, str]:
    """Start several judges' runs together; the group, and the sentence of the history."""
    require_right(study, by)
    with transaction.atomic():
        group = start_runs(study, judges, user=by, **limits)
        runs = list(group.runs.all())
        limit = "" if group.budget is None else f", at most {format_amount(group.budget)} together"
        names, purpose = ", ".join(map(str, judges)), runs[0].judging.purpose
        said = f"Started {counted(len(judges), 'run')} together: {names} ({purpose}{limit})."
        _begun(study, by, said, runs, queue=queue)
    return group, said


def change_group_budget(
    group: RunGroup, budget: Decimal | None, *, by: Any, reason: str = "", queue: bool = True
) -> str:
    """Set the budget of runs that were started together; more of it resumes those that its lack has stopped."""
    require_right(group.study, by)
    # Not in one transaction: what is resumed is locked before the group.
    resumed = set_group_budget(group, budget)
    limit = "no limit" if group.budget is None else format_amount(group.budget)
    runs = list(group.runs.all())
    said = f"Set the budget of {counted(len(runs), 'run')} together to {limit}."
    if resumed:
        said += f" Resumed {len(resumed)} of them."
    note(group.study, by, said, runs, reason=reason)
    for run in resumed if queue else ():
        enqueue_run(run)
    return said


def begin_pipeline(
    study: Study, settings: PipelineSettings, *, by: Any, queue: bool = True, **limits: Any
) -> Run:
    """Start a run of a pipeline over the study's queries."""
    require_right(study, by)
    with transaction.atomic():
        run = start_pipeline(study, settings, user=by, **limits)
        _begun(study, by, f"Started {run}.", [run], queue=queue)
    return run


def begin_later_steps(run: Run, step: str, *, by: Any, queue: bool = True) -> Run:
    """Start a run that goes on from the products of another one's step as they are now."""
    require_right(run.study, by)
    with transaction.atomic():
        new = make_later_steps(run, step, user=by)
        _begun(run.study, by, f"{new} goes on from {step} of {run}.", [new], queue=queue)
    return new


def require_right(study: Study, by: Any) -> None:
    """Raise what refuses a member who may not write; whoever runs the server may."""
    if by is not None:
        get_study_for(by, study.slug, right="write")


def note(study: Study, by: Any, said: str, runs: Sequence[Run] = (), *, reason: str = "") -> None:
    """The act's line in the study's history, and on the pages of the runs that it is about."""
    log_action(study=study, by=by or server_account(), message=said, reason=reason, about=runs)


def _begun(study: Study, by: Any, said: str, runs: Sequence[Run], *, queue: bool) -> None:
    note(study, by, said, runs)
    for run in runs if queue else ():
        enqueue_run(run)


def possible_acts(run: Run, *, not_ok: int = 0, stuck: int = 0) -> list[str]:
    """Those that a run can have now; `not_ok` of its calls may be retried, and `stuck` units hold a query up."""
    found = []
    if run.state in ACTIVE:
        found.append("pause")
    if run.state in (RunState.PAUSED, RunState.STOPPED):
        found.append("resume")
    if not_ok and run.state != RunState.CANCELLED:
        found.append("retry")
    if stuck:
        found.append("pass-over")
    if run.state not in (RunState.COMPLETE, RunState.CANCELLED):
        found.append("cancel")
    return found
