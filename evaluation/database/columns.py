"""Columns straight from the database: COPY parsed by Arrow on PostgreSQL, rows in chunks elsewhere.

Text that repeats (labels, orders, keys of arms) never becomes a Python string per row, so that a million judgments
are a matter of a few seconds and of some hundred megabytes.
"""

import io
import select
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction
from django.db.models import QuerySet

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn

CHUNK = 50_000
NO_MOMENT = int(np.iinfo(np.int64).min)
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


class ColumnType(Enum):
    """Kinds of values. Missing whole numbers are read as 0, missing numbers as nan, missing text as ''. Moments are
    whole microseconds since 1970, NO_MOMENT where there is none."""

    WHOLE = "whole"
    NUMBER = "number"
    TEXT = "text"
    CODED = "coded"
    MOMENT = "moment"


# One join of everything: a hash table that spills, and compiling the query, cost more than they give.
SETTINGS = "SET LOCAL work_mem = '256MB'; SET LOCAL jit = off"


@dataclass(frozen=True)
class CodedColumn:
    """Text by its place in a sorted table of the texts that occur."""

    codes: npt.NDArray[np.int32]
    values: tuple[str, ...]

    def translated(self, meanings: Mapping[str, int], other: int) -> npt.NDArray[np.int8]:
        """A number per row: what its text means, `other` for texts that mean nothing."""
        table = np.array([meanings.get(value, other) for value in self.values], dtype=np.int8)
        return table[self.codes]


class Columns:
    """Columns by name."""

    def __init__(self, numbers: Mapping[str, npt.NDArray[Any]], coded: Mapping[str, CodedColumn]) -> None:
        self._arrays = numbers
        self._coded = coded

    def array(self, name: str) -> npt.NDArray[Any]:
        return self._arrays[name]

    def coded(self, name: str) -> CodedColumn:
        return self._coded[name]


def read_columns(queryset: QuerySet[Any], types: Mapping[str, ColumnType]) -> Columns:
    """The named fields or annotations of all rows, in the order of the query."""
    selected = queryset.values_list(*types)
    raw = _copied(selected, types) if connection.vendor == "postgresql" else _fetched(selected, types)
    arrays = {name: raw[name] for name, each in types.items() if each is not ColumnType.CODED}
    coded = {name: sorted_codes(*raw[name]) for name, each in types.items() if each is ColumnType.CODED}
    return Columns(arrays, coded)


def sorted_codes(codes: npt.NDArray[Any], values: list[str]) -> CodedColumn:
    """The codes as those of a sorted table; negative ones, the missing texts, as those of ''."""
    known = [*values, ""]
    used = np.flatnonzero(np.bincount(codes + 1)) - 1
    table = tuple(sorted({known[code] for code in used}))
    place = {value: at for at, value in enumerate(table)}
    rank = np.array([place.get(value, 0) for value in known], dtype=np.int32)
    return CodedColumn(rank[codes], table)


def _fetched(selected: QuerySet[Any], types: Mapping[str, ColumnType]) -> dict[str, Any]:
    chunks: list[list[npt.NDArray[Any]]] = [[] for _ in types]
    iterator = selected.iterator(chunk_size=CHUNK)
    while rows := [row for _, row in zip(range(CHUNK), iterator, strict=False)]:
        for values, column in zip(chunks, zip(*rows, strict=True), strict=True):
            values.append(np.array(column, dtype=object))
    joined = {
        name: np.concatenate(values) if values else np.array([], dtype=object)
        for name, values in zip(types, chunks, strict=True)
    }
    return {name: _converted(joined[name], each) for name, each in types.items()}


def _converted(values: npt.NDArray[Any], wanted: ColumnType) -> Any:
    if wanted is ColumnType.WHOLE:
        return np.where(values == None, 0, values).astype(np.int64)  # noqa: E711 - element by element
    if wanted is ColumnType.NUMBER:
        return values.astype(np.float64)
    if wanted is ColumnType.TEXT:
        return np.where(values == None, "", values)  # noqa: E711 - element by element
    if wanted is ColumnType.MOMENT:
        whole = (NO_MOMENT if each is None else (each - EPOCH) // MICROSECOND for each in values)
        return np.fromiter(whole, np.int64, len(values))
    import pandas as pd

    codes, table = pd.factorize(values)
    return codes, [str(value) for value in table]


def _copied(selected: QuerySet[Any], types: Mapping[str, ColumnType]) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.csv

    arrow = {
        ColumnType.WHOLE: pa.int64(),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.TEXT: pa.string(),
        ColumnType.CODED: pa.dictionary(pa.int32(), pa.string()),
        ColumnType.MOMENT: pa.timestamp("us", "UTC"),
    }
    sql, params = selected.query.sql_with_params()
    buffer = io.BytesIO()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        # The driver's own cursor: with DEBUG, Django's takes no parameters here.
        with cursor.cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT csv)", params):
            _take_rows(connection.connection.pgconn, buffer)
    if not buffer.tell():
        return {name: _converted(np.array([], dtype=object), each) for name, each in types.items()}
    buffer.seek(0)
    table = pyarrow.csv.read_csv(
        buffer,
        read_options=pyarrow.csv.ReadOptions(column_names=list(types)),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: arrow[each] for name, each in types.items()},
            # COPY writes nothing for null; a name like NULL or NA is a name.
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    ).unify_dictionaries()
    return {name: _from_arrow(table.column(name).combine_chunks(), each) for name, each in types.items()}


def _take_rows(pgconn: "PGconn", buffer: io.BytesIO) -> None:
    """All rows of the COPY that is under way.

    By libpq's own calls: the driver's loop over rows takes three times as long.
    """
    from psycopg.errors import error_from_result
    from psycopg.pq import ExecStatus

    while True:
        size, row = pgconn.get_copy_data(1)
        if size > 0:
            buffer.write(row)
        elif size == 0:
            select.select([pgconn.socket], [], [])
            pgconn.consume_input()
        else:
            break
    while (result := pgconn.get_result()) is not None:
        if result.status != ExecStatus.COMMAND_OK:
            raise error_from_result(result)


def _from_arrow(column: Any, wanted: ColumnType) -> Any:
    if wanted is ColumnType.WHOLE:
        return column.fill_null(0).to_numpy(zero_copy_only=False)
    if wanted is ColumnType.NUMBER:
        return column.to_numpy(zero_copy_only=False).astype(np.float64)
    if wanted is ColumnType.TEXT:
        return column.fill_null("").to_numpy(zero_copy_only=False)
    if wanted is ColumnType.MOMENT:
        return column.cast("int64").fill_null(NO_MOMENT).to_numpy(zero_copy_only=False)
    return column.indices.fill_null(-1).to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
