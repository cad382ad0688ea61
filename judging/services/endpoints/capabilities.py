"""Capabilities of models at an endpoint: asked once, kept by model."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from judging.backends.base import Backend, Reply, Request, TryAgain
from judging.backends.probe import BREAKS, CHAT_PROBE
from judging.models import Endpoint
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.spend_tracker import SpendTracker

# Some servers break on what they do not know, every time: the third 500 is taken for an answer.
BROKEN_ATTEMPTS = 3
# Somebody may wait for it, or for the worker that asks.
LONGEST_WAIT = 10.0


class RetryingBackend:
    """A backend, entered, whose requests are tried again as a run's calls are.

    One 500 or broken connection would otherwise say for good that a model can't do what it can. Each try waits until
    the endpoint's rate limits let it pass and its cost is held; where the caller may be told to `give_up`, it waits for
    what others hold of the budget, too.
    """

    def __init__(
        self,
        backend: Backend,
        gate: RateGate,
        tracker: SpendTracker,
        *,
        give_up: Callable[[], bool] | None = None,
    ) -> None:
        self.backend, self.gate, self.tracker, self._give_up = backend, gate, tracker, give_up

    def give_up(self) -> bool:
        return self._give_up is not None and self._give_up()

    async def ask(self, request: Request) -> Reply:
        attempt = 1
        while True:
            if not await self.gate.wait(request, self.give_up):
                raise TryAgain("The endpoint's rate limits held it back.")
            if not await self.tracker.hold(request, self._give_up):
                raise TryAgain("The study's budget held it back.")
            try:
                return await self.tracker.ask(self.backend, request)
            except TryAgain as reason:
                attempts = settings.ASSAY_RUN_ATTEMPTS
                if reason.status in BREAKS:
                    attempts = min(attempts, BROKEN_ATTEMPTS)
                if attempt >= attempts or reason.closes or self.give_up():
                    raise
                backoff = settings.ASSAY_RUN_BACKOFF_SECONDS * 2 ** min(attempt - 1, 16)
                await asyncio.sleep(min(backoff if reason.after is None else reason.after, LONGEST_WAIT))
            attempt += 1


def known_capabilities(
    endpoint: Endpoint, model: str, finds: str = CHAT_PROBE.finds
) -> dict[str, Any] | None:
    """The known capabilities of this model; None where it was never asked for what a probe finds."""
    known = endpoint.capabilities.get(model)
    return dict(known) if isinstance(known, dict) and finds in known else None


def store_capabilities(endpoint: Endpoint, model: str, found: Mapping[str, Any]) -> None:
    """Store them beside what other probes found, and what is known of other models, which others may have asked
    meanwhile."""
    with transaction.atomic():
        row = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
        row.capabilities = {**row.capabilities, model: {**row.capabilities.get(model, {}), **found}}
        row.probed_at = timezone.now()
        row.save(update_fields=["capabilities", "probed_at"])
    endpoint.capabilities, endpoint.probed_at = row.capabilities, row.probed_at
