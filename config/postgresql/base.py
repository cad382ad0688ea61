"""Asks a connection whether it is alive only where there is doubt.

Django's health check is a round trip at the start of every request, which on the hot path costs as much as a query.
A server that ends a connection (a restart, an administrator, a time limit) says so and closes its side, and both can
be read from the socket without asking. What can't be seen there, a network that silently lost the connection, takes
time; so a connection that was used a moment ago and has nothing to read is taken for alive.
"""

import select
import time
from datetime import UTC
from typing import Any

from django.db.backends.postgresql import base
from django.utils.asyncio import async_unsafe

from config.postgresql.instants import InstantLoader
from config.postgresql.kept import KeptStatement

# Seconds without use after which a connection is asked all the same.
IDLE_SECONDS = 10
BINDING = "server_side_binding"


class DatabaseWrapper(base.DatabaseWrapper):
    # Django's own, which the stubs leave out.
    health_check_enabled: bool
    health_check_done: bool
    _used_at = float("-inf")
    # By statement, and the connection that they are of.
    _kept: dict[str, KeptStatement]
    _kept_of: Any = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if self.timezone is UTC:
            connection.adapters.register_loader("timestamptz", InstantLoader)
        return connection

    @async_unsafe
    def kept_statement(self, text: str) -> KeptStatement | None:
        """What executes this one statement as long as the connection lasts; its result is to be taken at once.

        None where statements are not prepared, or where somebody watches what is executed.
        """
        if self.queries_logged or self.execute_wrappers or not self.settings_dict["OPTIONS"].get(BINDING):
            return None
        self.close_if_health_check_failed()
        self.ensure_connection()
        self.validate_thread_sharing()
        if self._kept_of is not self.connection:
            self._kept, self._kept_of = {}, self.connection
        return self._kept.get(text) or self._kept.setdefault(text, KeptStatement(self, text))

    def close_if_health_check_failed(self) -> None:
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        idle_since, self._used_at = self._used_at, time.monotonic()
        if self._used_at - idle_since < IDLE_SECONDS and self._is_quiet():
            self.health_check_done = True
            return
        super().close_if_health_check_failed()

    def _is_quiet(self) -> bool:
        """Whether the server has said nothing since the last answer: neither a farewell nor the end of the stream."""
        if self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)
