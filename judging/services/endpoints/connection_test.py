"""Testing an endpoint: its list of models, one short call, and what the model can do for judges of a kind.

A job of the worker does it, which has the keys; what the last one found stands on the endpoint's row.
"""

import time
from dataclasses import dataclass
from typing import Any, Literal

from asgiref.sync import async_to_sync, sync_to_async
from django.db import transaction

from evaluation.extension import Watch
from evaluation.models import Job
from evaluation.refusals import Refused
from evaluation.services.jobs import JobProgress, begin_job, finish_job, job_at
from judging.backends import CHAT, open_backend, probe_of
from judging.backends.base import Backend, NoReply, Request, StopRun
from judging.backends.embedding.judge import EMBEDDING
from judging.backends.perplexity.judge import PERPLEXITY_JUDGE
from judging.job_kinds import CONNECTION_TEST
from judging.models import Endpoint, Spending
from judging.services.calls.call_attempts import storable_reply
from judging.services.endpoints.access import address_refusals, may_change
from judging.services.endpoints.capabilities import RetryingBackend, store_capabilities
from judging.services.endpoints.prices import price_of_model
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker

# What an endpoint is asked for, by the backend of the judges that ask the same.
KINDS = {
    CHAT.key: "Chat completions",
    EMBEDDING.key: "Embeddings",
    PERPLEXITY_JUDGE.key: "Log-probabilities of a given text",
}
KIND_CHOICES = tuple(KINDS.items())
# What a model may be able to do, as people read it; other findings are in words of their own.
ABLE = (
    ("json_schema", "JSON with a schema"),
    ("json_object", "JSON"),
    ("logprobs", "Log-probabilities"),
    ("seed", "A seed"),
    ("temperature", "A temperature"),
    ("system_role", "System messages"),
    ("batches", "Batches"),
)
PROMPT = "Say hello in one word."
MOST_MODELS = 200
UNSENT = "The job queue can't be reached right now. The test is saved, and starts by itself once it can."


@dataclass(frozen=True)
class ConnectionTest:
    """The last test of an endpoint. `found` has the model and the kind that it asks for, then what came of it."""

    state: Literal["", "asking", "lost", "done"]
    found: dict[str, Any]


def begin_test(endpoint: Endpoint, model: str, kind: str = CHAT.key, *, by: Any) -> Job:
    """Queue a test; Refused while another one of the endpoint is under way."""
    if kind not in KINDS:
        raise Refused(f"An endpoint can't be tested for {kind!r}; choose one of {', '.join(KINDS)}.")
    if refused := address_refusals(endpoint):
        raise Refused(*refused)
    asked = {"endpoint": endpoint.pk, "model": model, "kind": kind}
    try:
        return begin_job(kind=CONNECTION_TEST.key, slug=_slug(endpoint), by=by, parameters=asked)
    except Refused:
        raise Refused("The endpoint is being tested already.") from None


def last_test(endpoint: Endpoint) -> ConnectionTest:
    """The last test, under way or ended; its state is empty where there was none of this place."""
    job = job_at(CONNECTION_TEST.key, _slug(endpoint))
    if job is None or job.state == Job.State.DONE:
        # It may have ended after the row was read.
        endpoint.refresh_from_db(fields=["tested"])
        return ConnectionTest("done" if endpoint.tested else "", endpoint.tested)
    asked = {"model": job.parameters["model"], "kind": job.parameters["kind"]}
    if job.state == Job.State.FAILED:
        return ConnectionTest("done", {**asked, "problem": job.message})
    if job.is_unsent:
        return ConnectionTest("asking", {**asked, "problem": UNSENT})
    return ConnectionTest("lost" if job.is_lost else "asking", asked)


def forget_tests(endpoint: Endpoint) -> None:
    """Forget what was found out about the endpoint's old place (unsaved). A test under way loses its job, and so keeps
    nothing."""
    endpoint.capabilities, endpoint.probed_at, endpoint.tested = {}, None, {}
    Job.objects.filter(kind=CONNECTION_TEST.key, slug=_slug(endpoint)).delete()


def _slug(endpoint: Endpoint) -> str:
    return f"endpoint-{endpoint.pk}"


def findings(able: dict[str, Any]) -> list[tuple[str, str]]:
    """Abilities of the model that a test found, as pairs of words."""
    found = [(label, "yes" if able.get(name) else "no") for name, label in ABLE if name in able]
    if "embeddings" in able:
        found.append((KINDS[EMBEDDING.key], f"yes, {able['embeddings']:,} dimensions"))
    if "prompt_logprobs" in able:
        form = able["prompt_logprobs"]
        found.append((KINDS[PERPLEXITY_JUDGE.key], f"yes, by {form}" if form else "no"))
    return found


def run_test(job: Job) -> None:
    """Ask the endpoint, and keep what came of it with the end of the job."""
    endpoints = Endpoint.objects.select_related("trusted_by")
    endpoint = endpoints.filter(pk=job.parameters["endpoint"]).first()
    if endpoint is None or not may_change(endpoint, job.by):
        raise Refused("The endpoint is no longer there for who asked.")
    asked = {"model": job.parameters["model"], "kind": job.parameters["kind"]}
    found: dict[str, Any] = dict(asked)
    if refused := address_refusals(endpoint):
        found["problem"] = " ".join(refused)
    else:
        try:
            found |= async_to_sync(_ask)(endpoint, JobProgress(job), **asked)
        except StopRun as stop:
            found["problem"] = str(stop)
    with transaction.atomic():
        finish_job(job, message=f"{endpoint} was tested.")
        if able := found.get("able"):
            store_capabilities(endpoint, found["model"], able)
        Endpoint.objects.filter(pk=endpoint.pk).update(tested=found)


async def _ask(endpoint: Endpoint, progress: Watch, model: str, kind: str) -> dict[str, Any]:
    """The findings; what they took is in the ledger."""
    found: dict[str, Any] = {}
    async with _open(kind, endpoint) as backend:
        await sync_to_async(progress)("listing the models", 0, 2)
        try:
            found["models"] = [storable_reply(name) for name in await backend.models()][:MOST_MODELS]
        except NoReply as problem:
            found["models_problem"] = storable_reply(str(problem))
        found["model"] = model = model or next(iter(found.get("models", [])), "")
        if not model:
            return found | {"problem": "The endpoint lists no models; enter one."}
        await sync_to_async(progress)("asking the model", 1, 2)
        prices = await sync_to_async(price_of_model)(endpoint, model)
        tracker = SpendTracker(endpoint, model, prices, purpose=Spending.CONNECTION_TEST)
        try:
            found |= await (_chat if kind == CHAT.key else _numbers)(backend, model, kind, tracker)
        except NoReply as problem:
            found["problem"] = storable_reply(str(problem))
        finally:
            await sync_to_async(tracker.enter)()
    return found


def _open(kind: str, endpoint: Endpoint) -> Any:
    """The connection, which also lists models and, for chat, tells of batches."""
    if kind != CHAT.key:
        return open_backend(kind, endpoint, in_flight=1)
    # The client takes most of a second to import, and web imports this module.
    from judging.backends.batches import BatchBackend
    from judging.backends.keys import key_for

    return BatchBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=1
    )


async def _chat(backend: Any, model: str, kind: str, tracker: SpendTracker) -> dict[str, Any]:
    """One short call, and what the model can do beside."""
    gate = RateGate(tracker.endpoint)
    request = Request(model=model, messages=[{"role": "user", "content": PROMPT}])
    await gate.wait(request)
    began = time.monotonic()
    reply = await tracker.ask(backend, request)
    found: dict[str, Any] = {
        "reply": storable_reply(reply.text)[:300],
        "milliseconds": round((time.monotonic() - began) * 1000),
        "tokens": sum(reply.tokens),
    }
    try:
        able = await probe_of(kind).ask(RetryingBackend(backend, gate, tracker), model)
        return found | {"able": able | {"batches": await backend.speaks_batches()}}
    except NoReply as problem:
        return found | {"problem": storable_reply(str(problem))}


async def _numbers(backend: Backend, model: str, kind: str, tracker: SpendTracker) -> dict[str, Any]:
    """Abilities of a model where it writes nothing: the probe is the short call."""
    began = time.monotonic()
    asker = RetryingBackend(backend, RateGate(tracker.endpoint), tracker)
    able = await probe_of(kind).ask(asker, model)
    found: dict[str, Any] = {
        "able": able,
        "milliseconds": round((time.monotonic() - began) * 1000),
        "tokens": tracker.prompt_tokens + tracker.completion_tokens,
    }
    problem = able.get("prompt_logprobs_problem")
    return found | (
        {"problem": f"{model} gives no log-probabilities of a text: {problem}"} if problem else {}
    )
