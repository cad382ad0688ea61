"""Rows that share a key, each with a key and a line of its own, in any order.

To take the rows of millions one by one is most of the work of reading them, so PostgreSQL joins the lines of many rows
to one value.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

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

# Keys (n,) of some rows, and their lines with commas between.
Run = tuple[npt.NDArray[np.int64], str]


def read_joined(queryset: QuerySet[Any], shared: str, *, key: str, line: str) -> Iterator[tuple[int, Run]]:
    """Runs of rows with the same whole number `shared`, in any order; each row has a `key`, a whole number from 0, and
    a `line`."""
    selected = queryset.order_by().values_list(shared, key, line)
    return _joined(selected) if connection.vendor == "postgresql" else _fetched(selected)


def _fetched(selected: QuerySet[Any]) -> Iterator[tuple[int, Run]]:
    rows = selected.iterator(RUN)
    while some := list(islice(rows, RUN)):
        found: dict[int, tuple[list[int], list[str]]] = {}
        for shared, key, line in some:
            keys, lines = found.setdefault(shared, ([], []))
            keys.append(key)
            lines.append(line)
        for shared, (keys, lines) in found.items():
            yield shared, (np.array(keys, dtype=np.int64), ",".join(lines))


def _joined(selected: QuerySet[Any]) -> Iterator[tuple[int, Run]]:
    sql, params = selected.query.sql_with_params()
    joined = (
        f"SELECT shared::int8, (key / {RUN})::int8, string_agg(int2send((mod(key, {RUN}) - {HALF})::int2), ''), "  # noqa: S608
        f"string_agg(line, ',') FROM ({sql}) AS found (shared, key, line) GROUP BY shared, key / {RUN}"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{SETTINGS}; {JOINING}")
        with cursor.cursor.copy(f"COPY ({joined}) TO STDOUT (FORMAT binary)", params) as copy:
            copy.set_types(["int8", "int8", "bytea", "text"])
            for shared, run, places, lines in copy.rows():
                keys = np.frombuffer(places, ">i2").astype(np.int64)
                keys += run * RUN + HALF
                yield shared, (keys, lines)
        cursor.execute(AS_BEFORE)
