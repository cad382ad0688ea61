"""Two who wait for each other's rows: PostgreSQL ends one of them, who can try again."""

from django.db import OperationalError

DEADLOCK = "40P01"


def is_deadlock(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", "") == DEADLOCK
