"""Many rows written by one statement with one parameter: JSON, which the database takes apart.

Django's bulk writes prepare every value by itself and bind an array per column, in Python, and meanwhile the event loop
waits for the interpreter: per call that takes five times as long.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, models

# Values by column.
Row = Mapping[str, Any]


def insert_rows(model: type[models.Model], rows: Sequence[Row]) -> None:
    """Insert rows, all with the same columns, in their order; what is there already stays."""
    if rows:
        _write(_insert(model, tuple(rows[0]), connection.vendor), _adapted(model, rows))


def update_rows(model: type[models.Model], rows: Sequence[Row]) -> None:
    """Update rows by their id, all with the same columns."""
    if rows:
        _write(_update(model, tuple(rows[0]), connection.vendor), _adapted(model, rows))


def _write(statement: str, rows: Sequence[Row]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [orjson.dumps(rows, default=_spelled).decode()])


def _adapted(model: type[models.Model], rows: Sequence[Row]) -> Sequence[Row]:
    """Adapt UUIDs for a database without a type for them: it stores them without the hyphens of JSON."""
    if connection.features.has_native_uuid_field:
        return rows
    columns = _uuids(model) & rows[0].keys()
    return [{**row, **{column: _plain(row[column]) for column in columns}} for row in rows]


def _plain(value: UUID | None) -> str | None:
    return None if value is None else value.hex


@cache
def _uuids(model: type[models.Model]) -> frozenset[str]:
    fields = model._meta.concrete_fields
    return frozenset(field.column for field in fields if isinstance(field, models.UUIDField) and field.column)


def _spelled(value: Any) -> str:
    """Write a decimal as a text, from which the database takes it exactly."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    raise TypeError(f"{type(value).__name__} has no place in a row")


@cache
def _insert(model: type[models.Model], columns: tuple[str, ...], vendor: str) -> str:
    names = [_quoted(column) for column in columns]
    values = ", ".join(f"given.{name}" for name in names)
    # The condition says nothing: without one, SQLite takes ON for the beginning of a join's.
    return (
        f"INSERT INTO {_table(model)} ({', '.join(names)}) SELECT {values} "  # noqa: S608 - names of the model
        f"FROM {_given(model, columns, vendor)} WHERE true ON CONFLICT DO NOTHING"
    )


@cache
def _update(model: type[models.Model], columns: tuple[str, ...], vendor: str) -> str:
    names = [_quoted(column) for column in columns if column != "id"]
    changes = ", ".join(f"{name} = given.{name}" for name in names)
    table = _table(model)
    given = _given(model, columns, vendor)
    return f"UPDATE {table} SET {changes} FROM {given} WHERE {table}.id = given.id"  # noqa: S608 - names of the model


def _given(model: type[models.Model], columns: tuple[str, ...], vendor: str) -> str:
    """The parameter's rows, as a table of these columns."""
    if vendor == "postgresql":
        kinds = {field.column: field.rel_db_type(connection) if field.primary_key else field.db_type(connection)
                 for field in model._meta.concrete_fields}  # fmt: skip
        typed = ", ".join(f"{_quoted(column)} {kinds[column]}" for column in columns)
        return f"json_to_recordset(CAST(%s AS json)) AS given ({typed})"
    taken = ", ".join(f"json_extract(value, '$.{column}') AS {_quoted(column)}" for column in columns)
    return f"(SELECT {taken} FROM json_each(%s)) AS given"  # noqa: S608 - names of the model


def _table(model: type[models.Model]) -> str:
    return _quoted(model._meta.db_table)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
