"""A statement of the hot path, executed by one call of libpq where the driver has prepared it already."""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus

PLACES = re.compile("%s|%%")
DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class KeptStatement:
    """One statement on one connection, with what a cursor offers for its result.

    The driver's own way is made for whatever comes: each time it looks up how every value is written and every column
    is read, and it lets go of the interpreter four times, each time behind whichever thread takes it then. Here it does
    so once. The driver still begins transactions and says what is prepared under which name, so both ways can be mixed.
    """

    def __init__(self, db: Any, text: str) -> None:
        self._db, self._text = db, text
        places = itertools.count(1)
        numbered = PLACES.sub(lambda found: "%" if found[0] == "%%" else f"${next(places)}", text)
        self._query = numbered.encode()
        self._formats = [PyFormat.AUTO] * (next(places) - 1)
        self._values = Transformer(db.connection)
        self._cursor: Any = None
        self._result: Any = None

    def execute(self, params: Sequence[Any]) -> None:
        db = self._db
        db.validate_no_broken_transaction()
        with db.wrap_database_errors:
            if not self._execute_prepared(db.connection, params):
                self._cursor = self._cursor or db.create_cursor()
                self._result = None
                self._cursor.execute(self._text, params)

    def _execute_prepared(self, connection: Any, params: Sequence[Any]) -> bool:
        """False where the driver has first to begin a transaction, or to prepare the statement."""
        libpq, values = connection.pgconn, self._values
        if not connection.autocommit and libpq.transaction_status == TransactionStatus.IDLE:
            return False
        written = values.dump_sequence(params, self._formats)
        name = connection._prepared._names.get((self._query, values.types))
        if name is None:
            return False
        result = libpq.exec_prepared(name, written, values.formats)
        if result.status not in DONE:
            if libpq.status == ConnStatus.BAD:
                raise psycopg.OperationalError(libpq.get_error_message())
            raise errors.error_from_result(result, encoding=connection.info.encoding)
        values.set_pgresult(result)
        self._result = result
        return True

    def fetchone(self) -> Any:
        with self._db.wrap_database_errors:
            if self._result is None:
                return self._cursor.fetchone()
            return self._values.load_row(0, tuple) if self._result.ntuples else None

    def fetchall(self) -> list[Any]:
        with self._db.wrap_database_errors:
            if self._result is None:
                found: list[Any] = self._cursor.fetchall()
                return found
            return self._values.load_rows(0, self._result.ntuples, tuple)

    @property
    def rowcount(self) -> int:
        """Rows that were changed, or found."""
        if self._result is None:
            return int(self._cursor.rowcount)
        return self._result.command_tuples or 0
