"""Testing an endpoint: its list of models, one short call, and what the model can do for judges of a kind.

A worker does it, which has the keys; what came of it stands on the endpoint's row, for whoever waits.
"""

import time
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.utils import timezone

from evaluation.refusals import Refused
from judging.backends import CHAT, open_backend, probe_of
from judging.backends.base import Backend, CallFailed, Request, StopRun, TryAgain
from judging.backends.embedding.judge import EMBEDDING
from judging.backends.perplexity.judge import PERPLEXITY_JUDGE
from judging.models import Endpoint, Spending
from judging.services.calls.call_attempts import storable_reply
from judging.services.endpoints.access import address_refusals
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
# A test that nobody ended after so long was lost with its worker.
LOST_SECONDS = 180
MOST_MODELS = 200
UNREACHED = "The job queue can't be reached right now. Test again in a few minutes."
REFUSALS = (CallFailed, TryAgain, StopRun)


def begin_test(endpoint: Endpoint, model: str, kind: str = CHAT.key) -> None:
    """Note that somebody waits for a test; the caller queues it."""
    if kind not in KINDS:
        raise Refused(f"An endpoint can't be tested for {kind!r}; choose one of {', '.join(KINDS)}.")
    if refused := address_refusals(endpoint):
        raise Refused(*refused)
    endpoint.tested = {"state": "asking", "model": model, "kind": kind, "at": timezone.now().timestamp()}
    endpoint.save(update_fields=["tested"])


def is_testing(endpoint: Endpoint) -> bool:
    begun = float(endpoint.tested.get("at", 0.0))
    waits = bool(endpoint.tested.get("state") == "asking")
    return waits and timezone.now().timestamp() - begun < LOST_SECONDS


def is_lost(endpoint: Endpoint) -> bool:
    """True if somebody waits for a test that no worker will end."""
    return endpoint.tested.get("state") == "asking" and not is_testing(endpoint)


def abandon_test(endpoint_id: int) -> None:
    """End a test that no worker could be told of."""
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    endpoint.tested = {**endpoint.tested, "state": "done", "problem": UNREACHED}
    endpoint.save(update_fields=["tested"])


def findings(able: dict[str, Any]) -> list[tuple[str, str]]:
    """Abilities of the model that a test found, as pairs of words."""
    found = [(label, "yes" if able.get(name) else "no") for name, label in ABLE if name in able]
    if "embeddings" in able:
        found.append((KINDS[EMBEDDING.key], f"yes, {able['embeddings']:,} dimensions"))
    if "prompt_logprobs" in able:
        form = able["prompt_logprobs"]
        found.append((KINDS[PERPLEXITY_JUDGE.key], f"yes, by {form}" if form else "no"))
    return found


def run_test(endpoint_id: int) -> dict[str, Any]:
    """Ask the endpoint and keep what came of it."""
    endpoint = Endpoint.objects.select_related("trusted_by").get(pk=endpoint_id)
    asked = {"model": endpoint.tested.get("model", ""), "kind": endpoint.tested.get("kind", CHAT.key)}
    found: dict[str, Any] = {"state": "done", **asked, "at": timezone.now().timestamp()}
    refused = address_refusals(endpoint)
    if refused:
        found["problem"] = " ".join(refused)
    else:
        try:
            found |= async_to_sync(_ask)(endpoint, **asked)
        except StopRun as stop:
            found["problem"] = str(stop)
    if able := found.get("able"):
        store_capabilities(endpoint, found["model"], able)
    Endpoint.objects.filter(pk=endpoint_id).update(tested=found)
    return found


async def _ask(endpoint: Endpoint, model: str, kind: str) -> dict[str, Any]:
    """The findings; what they took is in the ledger."""
    found: dict[str, Any] = {}
    async with _open(kind, endpoint) as backend:
        try:
            found["models"] = [storable_reply(name) for name in await backend.models()][:MOST_MODELS]
        except REFUSALS as problem:
            found["models_problem"] = storable_reply(str(problem))
        found["model"] = model = model or next(iter(found.get("models", [])), "")
        if not model:
            return found | {"problem": "The endpoint lists no models; enter one."}
        prices = await sync_to_async(price_of_model)(endpoint, model)
        tracker = SpendTracker(endpoint, model, prices, purpose=Spending.CONNECTION_TEST)
        try:
            found |= await (_chat if kind == CHAT.key else _numbers)(backend, model, kind, tracker)
        except REFUSALS as problem:
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
    tracker.sent()
    reply = await backend.ask(request)
    tracker.answered(reply)
    found: dict[str, Any] = {
        "reply": storable_reply(reply.text)[:300],
        "milliseconds": round((time.monotonic() - began) * 1000),
        "tokens": reply.prompt_tokens + reply.completion_tokens,
    }
    try:
        able = await probe_of(kind).ask(RetryingBackend(backend, gate, tracker), model)
        return found | {"able": able | {"batches": await backend.speaks_batches()}}
    except REFUSALS as problem:
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
