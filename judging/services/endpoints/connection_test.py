"""Testing an endpoint: its list of models, one short call, and what the model can do.

A worker does it, which has the keys; what came of it stands on the endpoint's row, for the page that waits.
"""

import asyncio
import time
from typing import Any

from django.utils import timezone

from judging.backends.base import CallFailed, Reply, Request, StopRun, TryAgain
from judging.backends.probe import probe
from judging.models import Endpoint, Spending
from judging.services.calls.call_attempts import storable_reply
from judging.services.calls.ledger import record_probe
from judging.services.endpoints.access import address_refusals
from judging.services.endpoints.capabilities import RetryingBackend, store_capabilities
from judging.services.endpoints.rate_gate import RateGate

PROMPT = "Say hello in one word."
# A test that nobody ended after so long was lost with its worker.
LOST_SECONDS = 180
MOST_MODELS = 200
UNREACHED = "The job queue can't be reached right now. Test again in a few minutes."
REFUSALS = (CallFailed, TryAgain, StopRun)


def begin_test(endpoint: Endpoint, model: str) -> None:
    """Note that somebody waits for a test; the caller queues it."""
    endpoint.tested = {"state": "asking", "model": model, "at": timezone.now().timestamp()}
    endpoint.save(update_fields=["tested"])


def is_testing(endpoint: Endpoint) -> bool:
    begun = float(endpoint.tested.get("at", 0.0))
    waits = bool(endpoint.tested.get("state") == "asking")
    return waits and timezone.now().timestamp() - begun < LOST_SECONDS


def abandon_test(endpoint_id: int) -> None:
    """End a test that no worker could be told of."""
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    endpoint.tested = {**endpoint.tested, "state": "done", "problem": UNREACHED}
    endpoint.save(update_fields=["tested"])


def run_test(endpoint_id: int) -> dict[str, Any]:
    """Ask the endpoint and keep what came of it."""
    endpoint = Endpoint.objects.select_related("trusted_by").get(pk=endpoint_id)
    found = {"state": "done", "model": endpoint.tested.get("model", ""), "at": timezone.now().timestamp()}
    refused = address_refusals(endpoint)
    if refused:
        found["problem"] = " ".join(refused)
    else:
        try:
            answer, taken = asyncio.run(_ask(endpoint, found["model"]))
            found |= answer
            record_probe(endpoint, found["model"], *taken, purpose=Spending.CONNECTION_TEST)
        except StopRun as stop:
            found["problem"] = str(stop)
    if able := found.get("able"):
        store_capabilities(endpoint, found["model"], able)
    Endpoint.objects.filter(pk=endpoint_id).update(tested=found)
    return found


async def _ask(endpoint: Endpoint, model: str) -> tuple[dict[str, Any], tuple[int, int, int]]:
    """The findings, and the requests and tokens that they took."""
    found: dict[str, Any] = {"model": model}
    # The client takes most of a second to import, and web imports this module.
    from judging.backends.batches import BatchBackend
    from judging.backends.keys import key_for

    backend = BatchBackend(
        endpoint.base_url, key=key_for(endpoint), timeout=endpoint.timeout_seconds, in_flight=1
    )
    async with backend:
        try:
            found["models"] = [storable_reply(name) for name in await backend.models()][:MOST_MODELS]
        except REFUSALS as problem:
            found["models_problem"] = storable_reply(str(problem))
        found["model"] = model = model or next(iter(found.get("models", [])), "")
        if not model:
            return found | {"problem": "The endpoint lists no models; enter one."}, (0, 0, 0)
        request = Request(model=model, messages=[{"role": "user", "content": PROMPT}])
        reply = Reply(text="")
        gate = RateGate(endpoint)
        asker = RetryingBackend(backend, gate)
        try:
            await gate.wait(request)
            began = time.monotonic()
            reply = await backend.ask(request)
            found["reply"] = storable_reply(reply.text)[:300]
            found["milliseconds"] = round((time.monotonic() - began) * 1000)
            found["tokens"] = reply.prompt_tokens + reply.completion_tokens
            able = await probe(asker, model)
            found["able"] = able | {"batches": await backend.speaks_batches()}
        except REFUSALS as problem:
            found["problem"] = storable_reply(str(problem))
    n, prompt_tokens, completion_tokens = asker.taken
    return found, (1 + n, reply.prompt_tokens + prompt_tokens, reply.completion_tokens + completion_tokens)
