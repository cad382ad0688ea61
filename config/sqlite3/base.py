"""Keeps its connection between requests as long as the file that it opened is the one at the path.

Opening a connection costs as much as a request's queries. A kept one would write on into a file that was put away
meanwhile, by a restored backup or a database begun again.
"""

import os
from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    _opened: tuple[int, int] | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        self._opened = self._file()
        # SQLite's own knows the letters of ASCII alone.
        connection.create_function("lower", 1, _lower, deterministic=True)
        return connection

    def is_usable(self) -> bool:
        """Asked once per request (CONN_HEALTH_CHECKS)."""
        return super().is_usable() and self._opened == self._file()

    def _file(self) -> tuple[int, int] | None:
        """Identify the file at the path; None where there is none, or the database is in memory."""
        try:
            found = os.stat(self.settings_dict["NAME"])
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _lower(text: object) -> object:
    return text.lower() if isinstance(text, str) else text
