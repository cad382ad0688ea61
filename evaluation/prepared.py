"""Statements that are compiled once: the hot path's reads and writes, without building their SQL anew each time.

Building SQL costs Django more than PostgreSQL needs to answer it. The statements of fetching and submitting have one
shape and differ in a few values, so they are compiled with sample values, and each execution binds its own in their
places. Texts that are the same every time become part of the SQL: a plan that is made once for all values can use a
partial index only if it sees the index's condition.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import sql
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=models.Model)


@dataclass(frozen=True)
class Sample:
    """A value that differs from one execution to the next: its field, and a sample found nowhere else in the query."""

    field: Any
    value: Any

    @classmethod
    def of(cls, model: type[models.Model], name: str, value: Any) -> "Sample":
        return cls(model._meta.get_field(name), value)


@dataclass(frozen=True)
class _Compiled:
    sql: str
    # A constant, or the name of the value that stands in its place.
    params: tuple[Any, ...]
    places: dict[int, str]
    compiler: Any


class _Statement:
    """A statement with named values, compiled once per database."""

    def __init__(self, samples: Mapping[str, Sample]) -> None:
        self._samples = samples
        self._by_database: dict[tuple[str, str], Any] = {}

    def _query(self, samples: Mapping[str, Any]) -> sql.Query:
        raise NotImplementedError

    def _for(self, connection: Any) -> Any:
        # Tests and operators may point the same alias at another kind of database.
        key = (connection.alias, connection.vendor)
        return self._by_database.get(key) or self._by_database.setdefault(key, self._prepare(connection))

    def _prepare(self, connection: Any) -> Any:
        return self._compile(connection)

    def _compile(self, connection: Any) -> _Compiled:
        query = self._query({name: sample.value for name, sample in self._samples.items()})
        compiler = query.get_compiler(connection=connection)
        text, params = compiler.as_sql()
        prepared = {name: _bound(sample, sample.value, connection) for name, sample in self._samples.items()}
        names = [next((name for name, value in prepared.items() if value == param), None) for param in params]
        if set(prepared) - set(names):
            missing = ", ".join(sorted(set(prepared) - {name for name in names if name}))
            raise ValueError(f"the compiled query does not carry the value of: {missing}")
        text, kept = _with_constants(text, list(zip(params, names, strict=True)))
        places = {place: name for place, (_, name) in enumerate(kept) if name}
        return _Compiled(text, tuple(param for param, _ in kept), places, compiler)

    def _bind(self, compiled: _Compiled, values: Mapping[str, Any], connection: Any) -> list[Any]:
        params = list(compiled.params)
        for place, name in compiled.places.items():
            params[place] = _bound(self._samples[name], values[name], connection)
        return params


def _bound(sample: Sample, value: Any, connection: Any) -> Any:
    return sample.field.get_db_prep_value(value, connection)


def _with_constants(
    text: str, params: list[tuple[Any, str | None]]
) -> tuple[str, list[tuple[Any, str | None]]]:
    """The SQL with its constant texts written out, and the parameters that are left."""
    pieces = text.split("%s")
    kept = []
    result = pieces[0]
    for (param, name), piece in zip(params, pieces[1:], strict=True):
        if name is None and isinstance(param, str):
            result += "'" + param.replace("'", "''").replace("%", "%%") + "'"
        else:
            kept.append((param, name))
            result += "%s"
        result += piece
    return result, kept


@dataclass(frozen=True)
class _Read:
    compiled: _Compiled
    converters: dict[int, Any]
    row: Callable[[tuple[Any, ...]], Any]


class Prepared(_Statement, Generic[M]):
    """A queryset of instances (with select_related, only, annotations, locks)."""

    def __init__(self, build: Callable[..., models.QuerySet[M]], **samples: Sample) -> None:
        super().__init__(samples)
        self._build = build

    def first(self, **values: Any) -> M | None:
        """The first row as an instance; the queryset should be ordered or unique."""
        connection = connections[DEFAULT_DB_ALIAS]
        read: _Read = self._for(connection)
        with connection.cursor() as cursor:
            cursor.execute(read.compiled.sql, self._bind(read.compiled, values, connection))
            row = cursor.fetchone()
        if row is None:
            return None
        if read.converters:
            [row] = read.compiled.compiler.apply_converters([list(row)], read.converters)
        found: M = read.row(tuple(row))
        return found

    def _query(self, samples: Mapping[str, Any]) -> sql.Query:
        return self._build(**samples)[:1].query

    def _prepare(self, connection: Any) -> _Read:
        compiled = self._compile(connection)
        converters = compiled.compiler.get_converters([column for column, _, _ in compiled.compiler.select])
        return _Read(compiled, converters, _reader(compiled.compiler, connection.alias))


class PreparedUpdate(_Statement):
    """An update of the rows of a queryset: `build` gives the queryset and what to set, by the fields' names."""

    def __init__(
        self, build: Callable[..., tuple[models.QuerySet[Any], dict[str, Any]]], **samples: Sample
    ) -> None:
        super().__init__(samples)
        self._build = build

    def run(self, **values: Any) -> int:
        """How many rows were updated."""
        connection = connections[DEFAULT_DB_ALIAS]
        compiled: _Compiled = self._for(connection)
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, self._bind(compiled, values, connection))
            return int(cursor.rowcount)

    def _query(self, samples: Mapping[str, Any]) -> sql.Query:
        rows, changes = self._build(**samples)
        query: Any = rows.query.chain(sql.UpdateQuery)
        query.add_update_values(changes)
        compiled: sql.Query = query
        return compiled


class PreparedInsert(Generic[M]):
    """Inserts a few rows of a model, as `bulk_create` does; without signals, and in the caller's transaction."""

    def __init__(self, model: type[M], *, with_keys: bool = False) -> None:
        self._model = model
        self._with_keys = with_keys
        fields = model._meta.concrete_fields
        self._fields = [field for field in fields if not isinstance(field, models.AutoField)]
        self._by_database: dict[tuple[str, str, int], tuple[str, bool]] = {}

    def run(self, *rows: M) -> None:
        """Inserts the rows; `with_keys` gives them the keys that the database made."""
        connection = connections[DEFAULT_DB_ALIAS]
        key = (connection.alias, connection.vendor, len(rows))
        text, by_column = self._by_database.get(key) or self._by_database.setdefault(
            key, self._compile(connection, rows)
        )
        columns = [
            [field.get_db_prep_save(getattr(row, field.attname), connection=connection) for row in rows]
            for field in self._fields
        ]
        params = columns if by_column else [value for row in zip(*columns, strict=True) for value in row]
        with connection.cursor() as cursor:
            cursor.execute(text, params)
            keys = cursor.fetchall() if self._with_keys else ()
        for row, made in zip(rows, keys, strict=bool(keys)):
            row.pk = made[0]
        for row in rows:
            row._state.adding, row._state.db = False, connection.alias

    def _compile(self, connection: Any, rows: tuple[M, ...]) -> tuple[str, bool]:
        """The SQL, and whether it takes a column's values as one array, which is how PostgreSQL gets several rows."""
        query = sql.InsertQuery(self._model)
        query.insert_values(self._fields, list(rows))
        compiler: Any = query.get_compiler(connection=connection)
        compiler.returning_fields = [self._model._meta.pk] if self._with_keys else None
        [(text, params)] = compiler.as_sql()
        return text, len(rows) > 1 and len(params) == len(self._fields)


def _reader(compiler: Any, alias: str) -> Callable[[tuple[Any, ...]], Any]:
    """Rows to instances, as a queryset's own iteration does it."""
    info, select = compiler.klass_info, compiler.select
    fields = info["select_fields"]
    start, end = fields[0], fields[-1] + 1
    names = [column[0].target.attname for column in select[start:end]]
    populators = get_related_populators(info, select, alias)  # type: ignore[call-arg]  # stubs are of Django 6
    annotations = compiler.annotation_col_map or {}

    def read(row: tuple[Any, ...]) -> Any:
        instance = info["model"].from_db(alias, names, row[start:end])
        for populator in populators:
            populator.populate(row, instance)
        for name, place in annotations.items():
            setattr(instance, name, row[place])
        return instance

    return read
