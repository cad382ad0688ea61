"""Blocks of code that may read and not write, held by the connection itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

READS = ("SELECT", "WITH", "EXPLAIN", "SAVEPOINT", "RELEASE SAVEPOINT")


class WriteRefused(RuntimeError):
    """Something tried to write where only reading is allowed."""


@contextmanager
def reads_only() -> Iterator[None]:
    """Raises WriteRefused at any statement inside the block that could store something."""

    def execute(run: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if not str(sql).lstrip(" (\n").upper().startswith(READS):
            raise WriteRefused(str(sql)[:200])
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield
