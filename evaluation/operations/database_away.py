"""A database that can't be reached, or is locked for longer than is waited: told apart from other errors."""

import sqlite3

from django.db import InterfaceError, OperationalError, connection

LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_database_away(error: BaseException | None) -> bool:
    """True if this error, or one that led to it, is the database's, and it is locked or its connection is gone."""
    while error is not None:
        # The code's lower byte is what went wrong, the rest of it a detail.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in LOCKED:
            return True
        if isinstance(error, OperationalError | InterfaceError) and _is_gone():
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_gone() -> bool:
    return connection.connection is None or not connection.is_usable()
