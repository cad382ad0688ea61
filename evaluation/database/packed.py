"""Rows that have a text in common, with a key, a line and bytes of each, in any order.

To take the rows of millions one by one is most of the work of reading them, so PostgreSQL joins what many rows have to
one value.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction
from django.db.models import QuerySet

from evaluation.database.columns import SETTINGS

# So many successive keys at most are joined, so that no value outgrows what PostgreSQL can hold where each row has
# thousands of numbers: two bytes of each are its place among them.
RUN = 2**14
HALF = RUN // 2
# Sorting all rows on disk, which the planner takes for cheaper than a hash table of a few large values, takes twice as
# long.
JOINING = "SET LOCAL enable_sort = off"
# What else is asked in a transaction around this one may well be sorted.
AS_BEFORE = "SET LOCAL enable_sort TO DEFAULT"


# Keys, lines and bytes of some rows.
Run = tuple[npt.NDArray[np.int64], Sequence[str], bytes]


class JoinedRows(NamedTuple):
    """All rows with this `text`: the key of each (n,), the code (n,) of its line among `lines`, and its bytes, one row
    after the other."""

    text: str
    key: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]
    lines: tuple[str, ...]
    values: bytes


def read_joined(queryset: QuerySet[Any], text: str, *, key: str, line: str, values: str) -> list[JoinedRows]:
    """One for each value of the field `text` that occurs, sorted by them; each row has a `key`, a whole number from 0,
    a `line` without breaks, and bytes."""
    selected = queryset.order_by().values_list(text, key, line, values)
    if connection.vendor != "postgresql":
        return join_rows(selected.iterator(RUN))
    found: dict[str, list[Run]] = {}
    for shared, run in _runs(selected):
        found.setdefault(shared, []).append(run)
    return [_joined(shared, found.pop(shared)) for shared in sorted(found)]


def join_rows(rows: Iterable[tuple[str, int, str, bytes]]) -> list[JoinedRows]:
    """The same of rows that are there: their text, key, line and bytes."""
    found: dict[str, tuple[list[int], list[str], list[bytes]]] = {}
    for shared, key, line, values in rows:
        keys, lines, parts = found.setdefault(shared, ([], [], []))
        keys.append(key)
        lines.append(line)
        parts.append(values)
    return [
        _joined(shared, [(np.array(keys), lines, b"".join(parts))])
        for shared, (keys, lines, parts) in sorted(found.items())
    ]


def _joined(shared: str, runs: Sequence[Run]) -> JoinedRows:
    import pandas as pd

    table: dict[str, int] = {}
    codes = []
    for _, lines, _ in runs:
        places, used = pd.factorize(np.array(lines, dtype=object))
        codes.append(np.array([table.setdefault(each, len(table)) for each in used], dtype=np.int64)[places])
    return JoinedRows(
        shared,
        np.concatenate([keys for keys, _, _ in runs]),
        np.concatenate(codes),
        tuple(table),
        b"".join(values for _, _, values in runs),
    )


def _runs(
    selected: QuerySet[Any],
) -> Iterator[tuple[str, Run]]:
    """The text that rows share, and the rows."""
    sql, params = selected.query.sql_with_params()
    joined = (
        f"SELECT text, (key / {RUN})::int8, string_agg(int2send((mod(key, {RUN}) - {HALF})::int2), ''), "  # noqa: S608
        f"string_agg(line, E'\\n'), string_agg(bytes, '') "
        f"FROM ({sql}) AS found (text, key, line, bytes) GROUP BY text, key / {RUN}"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{SETTINGS}; {JOINING}")
        with cursor.cursor.copy(f"COPY ({joined}) TO STDOUT (FORMAT binary)", params) as copy:
            copy.set_types(["text", "int8", "bytea", "text", "bytea"])
            for text, run, places, lines, values in copy.rows():
                keys = np.frombuffer(places, ">i2").astype(np.int64)
                keys += run * RUN + HALF
                yield text, (keys, lines.split("\n"), values)
        cursor.execute(AS_BEFORE)
