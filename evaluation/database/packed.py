"""Rows that have a text in common, with a key and bytes of each, in any order.

To take the rows of millions one by one is most of the work of reading them, so PostgreSQL joins the bytes of many rows
to one value.
"""

from collections.abc import Iterator
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


class JoinedRows(NamedTuple):
    """All rows with this `text`: the key of each (n,), and the bytes of each, one after the other."""

    text: str
    key: npt.NDArray[np.int64]
    values: bytes


def read_joined(queryset: QuerySet[Any], text: str, *, key: str, values: str) -> list[JoinedRows]:
    """One for each value of the field `text` that occurs, sorted by them; each row has a `key`, a whole number from 0,
    and bytes, as many as all others with its text."""
    selected = queryset.order_by().values_list(text, key, values)
    rows = _runs(selected) if connection.vendor == "postgresql" else _single(selected)
    found: dict[str, tuple[list[npt.NDArray[np.int64]], list[bytes]]] = {}
    for shared, keys, joined in rows:
        parts = found.setdefault(shared, ([], []))
        parts[0].append(keys)
        parts[1].append(joined)
    return [
        JoinedRows(shared, np.concatenate(keys), b"".join(joined))
        for shared, (keys, joined) in sorted(found.items())
    ]


def _runs(selected: QuerySet[Any]) -> Iterator[tuple[str, npt.NDArray[np.int64], bytes]]:
    """The text that rows share, their keys and their bytes."""
    sql, params = selected.query.sql_with_params()
    joined = (
        f"SELECT text, (key / {RUN})::int8, string_agg(int2send((mod(key, {RUN}) - {HALF})::int2), ''), "  # noqa: S608
        f"string_agg(bytes, '') FROM ({sql}) AS found (text, key, bytes) GROUP BY text, key / {RUN}"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{SETTINGS}; {JOINING}")
        with cursor.cursor.copy(f"COPY ({joined}) TO STDOUT (FORMAT binary)", params) as copy:
            copy.set_types(["text", "int8", "bytea", "bytea"])
            for text, run, places, values in copy.rows():
                keys = np.frombuffer(places, ">i2").astype(np.int64)
                keys += run * RUN + HALF
                yield text, keys, values
        cursor.execute(AS_BEFORE)


def _single(selected: QuerySet[Any]) -> Iterator[tuple[str, npt.NDArray[np.int64], bytes]]:
    for text, key, values in selected.iterator(RUN):
        yield text, np.array([key]), bytes(values)
