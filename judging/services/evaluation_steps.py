"""Evaluation steps of judges by G-Eval: written once by the judge's own model, and kept among its options.

A worker asks, which has the keys; a page that waits reads `Judge.steps_asked`. What it takes stands in the ledger.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone

from evaluation.refusals import Refused
from judging.asking import ASKINGS
from judging.asking.scores.evaluation_steps import build_steps_request, read_steps
from judging.asking.scores.geval import GEVAL
from judging.backends import open_backend
from judging.backends.base import CallFailed, StopRun, TryAgain
from judging.backends.probe import probe
from judging.models import Judge, Spending
from judging.parsing import ReplyRejected
from judging.services.endpoints.capabilities import RetryingBackend, known_capabilities, store_capabilities
from judging.services.endpoints.prices import prices_of
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker
from judging.services.judges import current_spec, edit_judge, judge_problems, judge_settings

T = TypeVar("T")
# A request that nobody ended after so long was lost with its worker.
LOST_SECONDS = 180
MOST_SECONDS = 120.0
UNREACHED = "The job queue can't be reached right now. Ask again in a few minutes."


def takes_steps(judge: Judge) -> bool:
    """True of a judge that scores by evaluation steps."""
    return ASKINGS.get(judge.backend) is GEVAL


def steps_refusals(judge: Judge) -> list[str]:
    """Why the judge's model can't be asked for steps, as sentences."""
    if not takes_steps(judge):
        return ["Only G-Eval style scores have evaluation steps."]
    return [sentence for each in judge_problems(judge).values() for sentence in each]


def write_steps(judge: Judge, *, user: Any = None) -> Judge:
    """The judge with steps that its model wrote, a new version if it has run; Refused where none came.

    Not for use inside an event loop.
    """
    if problems := steps_refusals(judge):
        raise Refused(*problems)
    try:
        steps = _ask(judge)
    except (CallFailed, StopRun, TryAgain) as reason:
        raise Refused(str(reason)) from None
    except TimeoutError:
        raise Refused("The model did not answer in time.") from None
    return edit_judge(judge, user=user, options={**judge.options, "steps": steps})


def _ask(judge: Judge) -> list[str]:
    """Ask for the steps, and again where a reply can't be read, as often as a run would."""
    endpoint, reason = judge.endpoint, ""
    assert endpoint is not None
    able = known_capabilities(endpoint, judge.model) or _probe(judge)
    request = build_steps_request(current_spec(judge.study), judge_settings(judge), capabilities=able)
    for _ in range(settings.ASSAY_RUN_UNREAD):
        try:
            return read_steps(_visit(judge, lambda backend: backend.ask(request), Spending.GENERATION))
        except ReplyRejected as rejected:
            reason = str(rejected)
    raise Refused(f"No steps could be read in the model's replies. {reason}")


def _probe(judge: Judge) -> dict[str, Any]:
    assert judge.endpoint is not None
    able = _visit(judge, lambda backend: probe(backend, judge.model), Spending.PROBE)
    store_capabilities(judge.endpoint, judge.model, able)
    return able


def _visit(judge: Judge, ask: Callable[[RetryingBackend], Coroutine[Any, Any, T]], purpose: str) -> T:
    """Ask at the judge's endpoint, within the study's budget; what it took is entered in the ledger."""
    endpoint = judge.endpoint
    assert endpoint is not None
    tracker = SpendTracker(endpoint, judge.model, prices_of(judge), purpose=purpose, study_id=judge.study_id)

    async def visit() -> T:
        async with (
            asyncio.timeout(MOST_SECONDS),
            open_backend(judge.backend, endpoint, in_flight=1) as backend,
        ):
            return await ask(RetryingBackend(backend, RateGate(endpoint), tracker))

    try:
        return async_to_sync(visit)()
    finally:
        tracker.enter()


# --- asked for on a page ----------------------------------------------------------------------------------------------


def begin_steps(judge: Judge, user: Any) -> None:
    """Note that somebody waits for steps; the caller queues the request."""
    judge.steps_asked = {"state": "asking", "by": user.pk, "at": timezone.now().timestamp()}
    judge.save(update_fields=["steps_asked"])


def is_writing(judge: Judge) -> bool:
    begun = float(judge.steps_asked.get("at", 0.0))
    waits = bool(judge.steps_asked.get("state") == "asking")
    return waits and timezone.now().timestamp() - begun < LOST_SECONDS


def end_steps(judge_id: int, problem: str = "", written: int | None = None) -> None:
    """Note what came of it: the judge that has the steps now, or what was in the way."""
    done = {"state": "done", "problem": problem, "judge": written, "at": timezone.now().timestamp()}
    Judge.objects.filter(pk=judge_id).update(steps_asked=done)


def write_asked_steps(judge_id: int) -> None:
    """Have the steps written that somebody waits for; nothing if nobody does."""
    judge = Judge.objects.select_related("study", "endpoint__trusted_by").get(pk=judge_id)
    if judge.steps_asked.get("state") != "asking":
        return
    user = get_user_model().objects.filter(pk=judge.steps_asked.get("by")).first()
    try:
        if user is None:
            raise Refused("The user who asked for the steps is gone.")
        end_steps(judge_id, written=write_steps(judge, user=user).pk)
    except Refused as refused:
        end_steps(judge_id, str(refused))
