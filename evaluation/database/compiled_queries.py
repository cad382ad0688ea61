"""Statements that are compiled once: the hot path's reads and writes, without building their SQL anew each time.

Building SQL costs Django more than PostgreSQL needs to answer it. The statements of fetching and submitting have one
shape and differ in a few values, so each is compiled with a placeholder where a value will stand, and each execution
binds its own. Constant words become part of the SQL: a plan that is made once for all values can use a partial index
only if it sees the index's condition.

With ASSAY_COMPILED_QUERIES=0 the same querysets are built and executed by Django itself each time.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import sql
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=models.Model)
# What can be written out as an SQL literal as it is.
PLAIN_WORD = re.compile(r"[\w .-]*", re.ASCII)


def field_of(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    """The field that a named value of a statement is bound as."""
    field: Any = model._meta.get_field(name)
    return cast("models.Field[Any, Any]", field)


class Placeholder(models.Expression):
    """An expression in place of a value that each execution binds; its only parameter is itself."""

    def __init__(self, name: str, field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", (self,)

    def bound(self, value: Any, connection: Any) -> Any:
        return self.output_field.get_db_prep_value(value, connection)


@dataclass(frozen=True)
class CompiledSql:
    """SQL with its parameters, some of which are placeholders."""

    sql: str
    params: tuple[Any, ...]

    def bind(self, values: Mapping[str, Any], connection: Any) -> list[Any]:
        return [
            each.bound(values[each.name], connection) if isinstance(each, Placeholder) else each
            for each in self.params
        ]


class _Statement(ABC):
    """A statement with named values, compiled once per database."""

    def __init__(self, fields: "Mapping[str, models.Field[Any, Any]]") -> None:
        self._placeholders = {name: Placeholder(name, field) for name, field in fields.items()}
        self._by_database: dict[tuple[str, str], Any] = {}

    def compiled_for(self, connection: Any) -> Any:
        # Tests and operators may point the same alias at another kind of database.
        key = (connection.alias, connection.vendor)
        return self._by_database.get(key) or self._by_database.setdefault(key, self._compile(connection))

    @abstractmethod
    def _compile(self, connection: Any) -> Any: ...

    def _compile_sql(self, compiler: Any) -> CompiledSql:
        text, params = compiler.as_sql()
        missing = set(self._placeholders) - {each.name for each in params if isinstance(each, Placeholder)}
        if missing:
            raise ValueError(f"the compiled query has no place for: {', '.join(sorted(missing))}")
        return CompiledSql(*_with_constants(text, params))


class CompiledSelect(_Statement, Generic[M]):
    """A queryset of instances (with select_related, only, annotations, locks)."""

    def __init__(self, build: Callable[..., models.QuerySet[M]], **fields: "models.Field[Any, Any]") -> None:
        super().__init__(fields)
        self._build = build

    def first(self, **values: Any) -> M | None:
        """The first row as an instance; the queryset should be ordered or unique."""
        if not settings.ASSAY_COMPILED_QUERIES:
            return next(iter(self._build(**values)[:1]), None)
        connection = connections[DEFAULT_DB_ALIAS]
        compiled: CompiledSql
        instances: _Instances
        compiled, instances = self.compiled_for(connection)
        with _cursor(connection) as cursor:
            cursor.execute(compiled.sql, compiled.bind(values, connection))
            row = cursor.fetchone()
        return None if row is None else instances.make(row, connection)

    def _compile(self, connection: Any) -> "tuple[CompiledSql, _Instances]":
        compiler = self._build(**self._placeholders)[:1].query.get_compiler(connection=connection)
        return self._compile_sql(compiler), _Instances(compiler, connection.alias)


class CompiledUpdate(_Statement):
    """An update of the rows of a queryset: `build` gives the queryset and the changes, by the fields' names."""

    def __init__(
        self,
        build: Callable[..., tuple[models.QuerySet[Any], dict[str, Any]]],
        **fields: "models.Field[Any, Any]",
    ) -> None:
        super().__init__(fields)
        self._build = build

    def run(self, **values: Any) -> int:
        """Run the update and return the number of updated rows."""
        if not settings.ASSAY_COMPILED_QUERIES:
            rows, changes = self._build(**values)
            return rows.update(**changes)
        connection = connections[DEFAULT_DB_ALIAS]
        compiled: CompiledSql = self.compiled_for(connection)
        with _cursor(connection) as cursor:
            cursor.execute(compiled.sql, compiled.bind(values, connection))
            return int(cursor.rowcount)

    def _compile(self, connection: Any) -> CompiledSql:
        rows, changes = self._build(**self._placeholders)
        query: Any = rows.query.chain(sql.UpdateQuery)
        query.add_update_values(changes)
        return self._compile_sql(query.get_compiler(connection=connection))


class CompiledInsert(Generic[M]):
    """An insert of a few rows of a model, like `bulk_create`; without signals, and in the caller's transaction."""

    def __init__(self, model: type[M], *, with_keys: bool = False) -> None:
        self._model = model
        self._with_keys = with_keys
        fields = model._meta.concrete_fields
        self._fields = [field for field in fields if not isinstance(field, models.AutoField)]
        self._by_database: dict[tuple[str, str, int], tuple[str, bool]] = {}

    def run(self, *rows: M) -> None:
        """Insert the rows; `with_keys` gives them the keys that the database made."""
        if not settings.ASSAY_COMPILED_QUERIES:
            rows_of: models.QuerySet[M] = models.QuerySet(self._model)
            rows_of.bulk_create(rows)
            return
        connection = connections[DEFAULT_DB_ALIAS]
        key = (connection.alias, connection.vendor, len(rows))
        text, by_column = self._by_database.get(key) or self._by_database.setdefault(
            key, self._compile(connection, rows)
        )
        columns = [
            [field.get_db_prep_save(field.pre_save(row, add=True), connection) for row in rows]
            for field in self._fields
        ]
        params = columns if by_column else [value for row in zip(*columns, strict=True) for value in row]
        with _cursor(connection) as cursor:
            cursor.execute(text, params)
            keys = cursor.fetchall() if self._with_keys else []
        for row, made in zip(rows, keys, strict=bool(keys)):
            row.pk = made[0]
        for row in rows:
            row._state.adding, row._state.db = False, connection.alias

    def _compile(self, connection: Any, rows: tuple[M, ...]) -> tuple[str, bool]:
        """Return the SQL, and True where it takes each column as one array, as PostgreSQL does for many rows."""
        query = sql.InsertQuery(self._model)
        query.insert_values(self._fields, list(rows))
        compiler: Any = query.get_compiler(connection=connection)
        compiler.returning_fields = [self._model._meta.pk] if self._with_keys else None
        [(text, params)] = compiler.as_sql()
        return text, len(rows) > 1 and len(params) == len(self._fields)


class _Instances:
    """A maker of instances from rows, as Django's own iteration over a queryset does it."""

    def __init__(self, compiler: Any, alias: str) -> None:
        info, select = compiler.klass_info, compiler.select
        start, end = info["select_fields"][0], info["select_fields"][-1] + 1
        self._model, self._alias, self._columns = info["model"], alias, slice(start, end)
        self._names = [column[0].target.attname for column in select[start:end]]
        self._related = get_related_populators(info, select, alias)  # type: ignore[call-arg]  # stubs of a later Django
        self._annotations = compiler.annotation_col_map or {}
        # Of the columns that are not stored as Python has them.
        self._converters = compiler.get_converters([column for column, _, _ in select]).items()

    def make(self, row: Sequence[Any], connection: Any) -> Any:
        values = list(row)
        for place, (converters, expression) in self._converters:
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        instance = self._model.from_db(self._alias, self._names, values[self._columns])
        for related in self._related:
            related.populate(values, instance)
        for name, place in self._annotations.items():
            setattr(instance, name, values[place])
        return instance


def _cursor(connection: Any) -> Any:
    """The cursor that the connection keeps for such statements, if it does that (`config.postgresql`), or a new one."""
    kept = getattr(connection, "statement_cursor", None)
    return kept() if kept else connection.cursor()


def _with_constants(text: str, params: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """The SQL with its constant words written out, and the parameters that are left."""
    start, *pieces = text.split("%s")
    result, left = [start], []
    for param, piece in zip(params, pieces, strict=True):
        if isinstance(param, str) and PLAIN_WORD.fullmatch(param):
            result += [f"'{param}'", piece]
        else:
            left.append(param)
            result += ["%s", piece]
    return "".join(result), tuple(left)
