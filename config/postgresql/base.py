"""Asks a connection whether it is alive only where there is doubt, and keeps a cursor for what is asked all the time.

Django's health check is a round trip at the start of every request, which on the hot path costs as much as a query.
A server that ends a connection (a restart, an administrator, a time limit) says so and closes its side, and both can
be read from the socket without asking. What can't be seen there, a network that silently lost the connection, takes
time; so a connection that was used a moment ago and has nothing to read is taken for alive.
"""

import select
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db.backends.postgresql import base

# Seconds without use after which a connection is asked all the same.
IDLE_SECONDS = 10


class DatabaseWrapper(base.DatabaseWrapper):
    # Django's own, which the stubs leave out.
    health_check_enabled: bool
    health_check_done: bool
    _used_at = float("-inf")
    # The driver's connection, and the cursor that is kept on it.
    _kept_cursor: tuple[Any, Any] = (None, None)

    def statement_cursor(self) -> AbstractContextManager[Any]:
        """The connection's one cursor for statements whose result is taken at once: making one costs as much as a small
        statement. A new one where somebody watches what is executed, which is decided as a cursor is made."""
        if self.queries_logged:
            return self.cursor()
        self.close_if_health_check_failed()
        self.ensure_connection()
        self.validate_thread_sharing()
        if self._kept_cursor[0] is not self.connection:
            self._kept_cursor = (self.connection, self.cursor())
        return nullcontext(self._kept_cursor[1])

    def close_if_health_check_failed(self) -> None:
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        idle_since, self._used_at = self._used_at, time.monotonic()
        if self._used_at - idle_since < IDLE_SECONDS and self._is_quiet():
            self.health_check_done = True
            return
        super().close_if_health_check_failed()

    def _is_quiet(self) -> bool:
        """True while the server has said nothing since its last answer: no farewell, and no end of the stream."""
        if self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)
