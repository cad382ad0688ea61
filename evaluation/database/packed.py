"""Numbers of rows that have their texts in common, in any order.

Answers are a few texts and millions of numbers. To take their rows one by one is most of the work of reading them, so
PostgreSQL packs the numbers of many rows as one value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction
from django.db.models import QuerySet

from evaluation.database.columns import SETTINGS, ColumnType, read_columns

# So many successive keys at most are packed as one value, so that none outgrows what can be sent: two bytes of each are
# its place among them, and half a megabyte are numbers.
RUN = 2**16
HALF = RUN // 2
# Sorting all rows on disk, which the planner takes for cheaper than a hash table of a few large values, takes twice as
# long; scanning them without parallel workers takes a fifth longer.
PACKING = "SET LOCAL enable_sort = off; SET LOCAL parallel_tuple_cost = 0"
# What else is asked in a transaction around this one may well be sorted.
AS_BEFORE = "SET LOCAL enable_sort TO DEFAULT; SET LOCAL parallel_tuple_cost TO DEFAULT"


@dataclass(frozen=True)
class PackedRows:
    """All rows with these `texts`, "" for missing ones: a key and a number, nan if it is missing, of each (n,)."""

    texts: tuple[str, ...]
    key: npt.NDArray[np.int64]
    number: npt.NDArray[np.float64]


def read_packed(queryset: QuerySet[Any], texts: Sequence[str], *, key: str, number: str) -> list[PackedRows]:
    """One for each combination of the fields `texts` that occurs, sorted by them; each row has a `key`, a whole number
    from 0."""
    selected = queryset.values_list(*texts, key, number)
    if connection.vendor != "postgresql":
        return _grouped(queryset, texts, key, number)
    found: dict[tuple[str, ...], list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]] = {}
    for shared, run, keys, numbers in _runs(selected, [*texts, "key", "number"]):
        low = np.frombuffer(keys, ">i2").astype(np.int64)
        low += run * RUN + HALF
        found.setdefault(shared, []).append((low, np.frombuffer(numbers, ">f8")))
    return [_joined(shared, found.pop(shared)) for shared in sorted(found)]


def _joined(
    shared: tuple[str, ...], runs: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]
) -> PackedRows:
    keys, numbers = zip(*runs, strict=True)
    return PackedRows(shared, np.concatenate(keys), np.concatenate(numbers, dtype=np.float64))


def _runs(
    selected: QuerySet[Any], names: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], int, bytes, bytes]]:
    """The texts that rows share, the run of their keys and, as bytes, each row's place in the run and its number."""
    sql, params = selected.query.sql_with_params()
    texts = names[:-2]
    columns = [
        *(f"coalesce({name}, '')" for name in texts),
        f"(key / {RUN})::int8",
        f"string_agg(int2send((mod(key, {RUN}) - {HALF})::int2), '')",
        "string_agg(float8send(coalesce(number::float8, 'NaN')), '')",
    ]
    packed = (
        f"SELECT {', '.join(columns)} FROM ({sql}) AS found ({', '.join(names)}) "  # noqa: S608 - own names
        f"GROUP BY {', '.join(texts)}, key / {RUN}"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{SETTINGS}; {PACKING}")
        with cursor.cursor.copy(f"COPY ({packed}) TO STDOUT (FORMAT binary)", params) as copy:
            copy.set_types(["text"] * len(texts) + ["int8", "bytea", "bytea"])
            for row in copy.rows():
                yield row[: len(texts)], *row[len(texts) :]
        cursor.execute(AS_BEFORE)


def _grouped(queryset: QuerySet[Any], texts: Sequence[str], key: str, number: str) -> list[PackedRows]:
    types = dict.fromkeys(texts, ColumnType.CODED) | {key: ColumnType.WHOLE, number: ColumnType.NUMBER}
    table = read_columns(queryset, types)
    codes = np.stack([table.coded(name).codes for name in texts])
    used, block = np.unique(codes, axis=1, return_inverse=True)
    rows = np.split(np.argsort(block, kind="stable"), np.cumsum(np.bincount(block)))[:-1]
    return [
        PackedRows(
            tuple(table.coded(name).values[code] for name, code in zip(texts, shared, strict=True)),
            table.array(key)[mine],
            table.array(number)[mine],
        )
        for shared, mine in zip(used.T.tolist(), rows, strict=True)
    ]
