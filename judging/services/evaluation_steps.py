"""Evaluation steps of judges by G-Eval: written once by the judge's own model, and kept among its options.

A worker asks, which has the keys; a page that waits reads `Judge.steps_asked`. What it takes stands in the ledger.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

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
from judging.services.calls.budget import study_refusal
from judging.services.calls.costs import cost_bound, cost_of
from judging.services.calls.ledger import Usage, record_probe, record_usage
from judging.services.endpoints.capabilities import RetryingBackend, known_capabilities, store_capabilities
from judging.services.endpoints.prices import prices_of
from judging.services.endpoints.rate_gate import RateGate
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
    endpoint, prices, reason = judge.endpoint, prices_of(judge), ""
    assert endpoint is not None
    able = known_capabilities(endpoint, judge.model) or _probe(judge)
    request = build_steps_request(current_spec(judge.study), judge_settings(judge), capabilities=able)
    for _ in range(settings.ASSAY_RUN_UNREAD):
        if refusal := study_refusal(judge.study_id, cost_bound(request, *prices)):
            raise Refused(refusal)
        asker = _Asker(judge)
        try:
            return read_steps(asker.run(lambda backend: backend.ask(request)))
        except ReplyRejected as rejected:
            reason = str(rejected)
        finally:
            calls, prompt_tokens, completion_tokens = asker.taken
            usage = Usage(
                calls=calls,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                cost=cost_of(prompt_tokens, completion_tokens, *prices),
            )
            record_usage(
                usage,
                endpoint=endpoint,
                model=judge.model,
                purpose=Spending.GENERATION,
                study_id=judge.study_id,
            )
    raise Refused(f"No steps could be read in the model's replies. {reason}")


def _probe(judge: Judge) -> dict[str, Any]:
    asker = _Asker(judge)
    assert judge.endpoint is not None
    try:
        able = asker.run(lambda backend: probe(backend, judge.model))
    finally:
        record_probe(judge.endpoint, judge.model, *asker.taken, study_id=judge.study_id)
    store_capabilities(judge.endpoint, judge.model, able)
    return able


class _Asker:
    """One visit to a judge's endpoint, and what it took."""

    def __init__(self, judge: Judge) -> None:
        assert judge.endpoint is not None
        self.judge, self.endpoint = judge, judge.endpoint
        # Requests, prompt tokens and completion tokens.
        self.taken = (0, 0, 0)

    def run(self, ask: Callable[[RetryingBackend], Coroutine[Any, Any, T]]) -> T:
        async def visit() -> T:
            async with (
                asyncio.timeout(MOST_SECONDS),
                open_backend(self.judge.backend, self.endpoint, in_flight=1) as backend,
            ):
                asker = RetryingBackend(backend, RateGate(self.endpoint))
                try:
                    return await ask(asker)
                finally:
                    self.taken = asker.taken

        return asyncio.run(visit())


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
