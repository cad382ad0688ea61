"""Revisions in the ledger: a run of its own holds what participants ask of a judge, a call each, within its budget.

The run is opened by a researcher, with a budget, or by the first participant who asks. Paused, stopped or cancelled it
answers nobody; a new version of the judge gets a run of its own with what is left of the budget.
"""

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from evaluation.models import Item, Outcome, Study
from judging.backends.base import NoReply, Reply, Request
from judging.models import Call, CallState, Judge, Purpose, Run, RunState
from judging.services.calls.budget import is_limited, reserve_budget
from judging.services.calls.call_attempts import storable_reply
from judging.services.calls.costs import ZERO, cost_bound, cost_of
from judging.services.calls.leases import release_calls
from judging.services.calls.ledger import Usage, record_usage
from judging.services.runs.judge_runs import latest_revisions, start_run
from judging.services.runs.lifecycle import close_revisions, stop_run

STEP = "revision"
# A worker gives up long before.
LEASE = timedelta(seconds=300)


class BudgetSpent(Exception):
    """The budget for revisions does not hold this one."""


def takes_revisions(judge: Judge) -> bool:
    """True if this judge's revisions are open, or would be opened by the first one."""
    run = latest_revisions(judge.study, judge)
    return run is None or run.state in (RunState.RUNNING, RunState.COMPLETE)


def open_call(judge: Judge, item: Item) -> Call:
    """A leased call for one revision of this item, in the judge's run for revisions."""
    with transaction.atomic():
        # One run, and one number per revision, however many ask at once.
        Study.objects.select_for_update(no_key=True).get(pk=judge.study_id)
        run = _run_of(judge)
        _end_lost(run)
        last = Call.objects.filter(run=run, item=item).aggregate(last=Max("replicate"))["last"]
        return Call.objects.create(
            run=run,
            item=item,
            replicate=0 if last is None else last + 1,
            step=STEP,
            state=CallState.LEASED,
            lease=uuid.uuid4(),
            leased_until=timezone.now() + LEASE,
        )


def _run_of(judge: Judge) -> Run:
    run = latest_revisions(judge.study, judge)
    if run is not None and run.judging.judge_id == judge.pk and run.state == RunState.RUNNING:
        return run
    left = None
    if run is not None and run.state == RunState.RUNNING:
        left = None if run.budget is None else run.budget - run.spent
        close_revisions(run)
    if left is not None and left <= 0:
        raise BudgetSpent
    return start_run(judge.study, judge, purpose=Purpose.REVISION, budget=left)


def _end_lost(run: Run) -> None:
    """Calls of workers that were killed: what was set aside for them is free again."""
    lost = Call.objects.filter(run=run, state=CallState.LEASED, leased_until__lt=timezone.now())
    lost.update(**_final(Outcome.FAILED), error="The worker was lost.")


def reserve_cost(call: Call, request: Request) -> None:
    """Reserve the most that this request may cost; where it does not fit, stop the run and raise BudgetSpent."""
    run = call.run
    if not is_limited(run):
        return
    bound = cost_bound(request, run.price_prompt, run.price_completion)
    reserved = reserve_budget(run.pk, [(call, bound)])
    if reserved.allowed:
        return
    stop_run(run.pk, reserved.reason.replace("the next call", "the next revision"))
    release_calls(run.pk, {call.lease} if call.lease else ())
    Call.objects.filter(pk=call.pk).delete()
    raise BudgetSpent


def end_call(
    call: Call, outcome: str, *, answer: Reply | NoReply | None = None, error: str = "", seconds: float = 0
) -> None:
    """Store the outcome and the cost of a revision; nothing if its lease is gone. The ledger has what was sent."""
    run, taken = call.run, {}
    # Not of an answer to the probe, which has its own entry.
    tokens = answer.tokens if answer is not None and call.attempts else (0, 0)
    cost = cost_of(*tokens, run.price_prompt, run.price_completion)
    if isinstance(answer, Reply):
        taken = {"raw": storable_reply(answer.text), "latency_ms": round(seconds * 1000)}
    with transaction.atomic():
        mine = Call.objects.filter(pk=call.pk, lease=call.lease)
        ended = _final(outcome) | taken | {"attempts": call.attempts, "error": storable_reply(error)[:500]}
        paid = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "cost": cost}
        if mine.update(**ended, **paid) and call.attempts:
            _enter(run, tokens, cost)
            if cost:
                Run.objects.filter(pk=run.pk).update(spent=F("spent") + cost)


def _enter(run: Run, tokens: tuple[int, int], cost: Decimal) -> None:
    judge = run.judging.judge
    assert judge.endpoint is not None
    usage = Usage(calls=1, prompt_tokens=tokens[0], completion_tokens=tokens[1], cost=cost)
    record_usage(
        usage,
        endpoint=judge.endpoint,
        model=judge.model,
        purpose=Purpose.REVISION.spending,
        study_id=run.study_id,
        run_id=run.pk,
    )


def _final(outcome: str) -> dict[str, Any]:
    return {
        "state": CallState.FINAL,
        "outcome": outcome,
        "lease": None,
        "leased_until": None,
        "reserved": ZERO,
        "finished_at": timezone.now(),
    }
