"""What models can do at an endpoint: asked once, kept by model."""

import asyncio
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from judging.backends import open_backend
from judging.backends.probing import probe
from judging.models import BackendKind, Endpoint


def known_capabilities(endpoint: Endpoint, model: str) -> dict[str, Any] | None:
    """What is known of this model; None where it was never asked."""
    known = endpoint.capabilities.get(model)
    return dict(known) if isinstance(known, dict) else None


def keep_capabilities(endpoint: Endpoint, model: str, found: Mapping[str, Any]) -> None:
    """Stores them beside what is known of other models, which others may have asked meanwhile."""
    with transaction.atomic():
        row = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        row.capabilities = {**row.capabilities, model: dict(found)}
        row.probed_at = timezone.now()
        row.save(update_fields=["capabilities", "probed_at"])
    endpoint.capabilities, endpoint.probed_at = row.capabilities, row.probed_at


def probe_endpoint(endpoint: Endpoint, model: str, *, again: bool = False) -> dict[str, Any]:
    """The model's capabilities, from the endpoint itself unless they are known; not for use inside an event loop.

    StopRun, TryAgain and CallFailed say why they could not be found out.
    """
    known = known_capabilities(endpoint, model)
    if known is not None and not again:
        return known

    async def ask() -> dict[str, Any]:
        async with open_backend(BackendKind.CHAT, endpoint, in_flight=1) as backend:
            return await probe(backend, model)

    found = asyncio.run(ask())
    keep_capabilities(endpoint, model, found)
    return found
