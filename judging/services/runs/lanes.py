"""Lanes of a session: one endpoint each, with its connection and the pace of the calls to it."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judging.backends import open_backend
from judging.backends.base import Backend, Reply, Request
from judging.models import Endpoint
from judging.services.endpoints.rate_gate import RateGate

# One burst of refusals is one reason to slow down.
BURST_SECONDS = 1.0


class Lane:
    """One endpoint's part in a session. Never more is in flight than the run wants and the endpoint allows.

    The number is halved when the server refuses, and grows by one per round of answers. With `at_first` it is no higher
    than that until a reply could be read. All on one event loop.
    """

    def __init__(self, endpoint: Endpoint, in_flight: int | None = None, at_first: int | None = None) -> None:
        self.endpoint = endpoint
        self.backend: Backend
        self.gate = RateGate(endpoint)
        self.most = min(in_flight or endpoint.max_in_flight, endpoint.max_in_flight)
        # Until a reply could be read, no more than this.
        self.allowed = self.most if at_first is None else min(self.most, at_first)
        # Calls that may be in flight now, and those that are.
        self.places = float(self.allowed)
        self.active = 0
        self._first = asyncio.Lock()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed_until = 0.0
        self._slowed_at = -BURST_SECONDS

    def connect(self, kind: str) -> Backend:
        """The connection of this kind of backend, to be entered; StopRun where the endpoint's key is missing."""
        self.backend = open_backend(kind, self.endpoint, in_flight=self.most)
        return self.backend

    # --- places in flight ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def place(self, request: Request) -> AsyncIterator[None]:
        """A place for this request, once the endpoint's rate limits let it pass. While it waits for these it holds
        none, and others wait behind it."""
        await self._enter(request)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, request: Request) -> None:
        if not self.gate.limit:
            await self._take_place()
            return
        async with self._first:
            while True:
                # A place first: what may be sent is sent at once.
                await self._take_place()
                try:
                    wait = await self.gate.take(request)
                except BaseException:
                    self._leave()
                    raise
                if not wait:
                    return
                self._leave()
                await asyncio.sleep(wait)

    async def _take_place(self) -> None:
        while True:
            pause = self._closed_until - time.monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
            elif self.active < int(self.places):
                break
            else:
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                await turn
        self.active += 1

    def _leave(self) -> None:
        self.active -= 1
        self._wake()

    def _wake(self) -> None:
        room = int(self.places) - self.active
        while room > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                room -= 1

    # --- the pace -----------------------------------------------------------------------------------------------------

    def refused(self, after: float | None) -> None:
        """The server said: too fast. Everything pauses for as long as it asked, then goes on at half the pace."""
        now = time.monotonic()
        self._closed_until = max(self._closed_until, now + (after or 0.0))
        if now - self._slowed_at >= BURST_SECONDS:
            self.places = max(1.0, self.places / 2)
            self._slowed_at = now

    def answered(self, request: Request, reply: Reply) -> None:
        self.gate.answered(request, reply)
        if self.places < self.allowed:
            self.places = min(float(self.allowed), self.places + 1 / self.places)
            self._wake()

    def trust(self) -> None:
        """A reply could be read: the caution of the beginning is over."""
        if self.allowed < self.most:
            if self.places == self.allowed:
                self.places = float(self.most)
            self.allowed = self.most
            self._wake()
