"""Places in flight, each taken once the endpoint's rate limits let its request pass."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judging.backends.base import Request
from judging.services.endpoints.rate_gate import RateGate
from judging.services.endpoints.throttle import Throttle


class Places:
    """A throttle's places. A request that waits for the rate limits holds none, and others wait behind it."""

    def __init__(self, throttle: Throttle, gate: RateGate) -> None:
        self.throttle = throttle
        self.gate = gate
        self._first = asyncio.Lock()

    @asynccontextmanager
    async def take(self, request: Request) -> AsyncIterator[None]:
        await self._enter(request)
        try:
            yield
        finally:
            self.throttle.leave()

    async def _enter(self, request: Request) -> None:
        if not self.gate.limit:
            await self.throttle.enter()
            return
        async with self._first:
            while True:
                # A place first: what may be sent is sent at once.
                await self.throttle.enter()
                try:
                    wait = await self.gate.take(request)
                except BaseException:
                    self.throttle.leave()
                    raise
                if not wait:
                    return
                self.throttle.leave()
                await asyncio.sleep(wait)
