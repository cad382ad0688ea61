"""Throttling of one worker's calls: as many in flight as allowed, fewer after the server said it is too fast."""

import asyncio
import time
from collections import deque

# One burst of refusals is one reason to slow down.
BURST_SECONDS = 1.0
# A server that asks for hours is obeyed call by call; the worker itself never sleeps longer than this at once.
LONGEST_PAUSE = 60.0


class Throttle:
    """Halves the number in flight when the server refuses, and lets it grow by one per round of answers.

    Entered before each call and left after it, on one event loop. With `at_first` it keeps no more in flight until it
    is opened.
    """

    def __init__(self, most: int, at_first: int | None = None) -> None:
        self.most = most
        # Until `open`, no more than this.
        self.allowed = most if at_first is None else min(most, at_first)
        self.limit = float(self.allowed)
        self.active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed_until = 0.0
        self._slowed_at = -BURST_SECONDS

    async def enter(self) -> None:
        while True:
            pause = self._closed_until - time.monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
            elif self.active < int(self.limit):
                break
            else:
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                await turn
        self.active += 1

    def leave(self) -> None:
        self.active -= 1
        self._wake()

    def refused(self, after: float | None) -> None:
        """The server said: too fast. Everything pauses for as long as it asked, then goes on at half the pace."""
        now = time.monotonic()
        self._closed_until = max(self._closed_until, now + min(after or 0.0, LONGEST_PAUSE))
        if now - self._slowed_at >= BURST_SECONDS:
            self.limit = max(1.0, self.limit / 2)
            self._slowed_at = now

    def answered(self) -> None:
        if self.limit < self.allowed:
            self.limit = min(float(self.allowed), self.limit + 1 / self.limit)
            self._wake()

    def open(self) -> None:
        """The caution of the beginning is over."""
        if self.allowed < self.most:
            if self.limit == self.allowed:
                self.limit = float(self.most)
            self.allowed = self.most
            self._wake()

    def _wake(self) -> None:
        room = int(self.limit) - self.active
        while room > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                room -= 1
