"""Statements that are compiled once: the hot path's reads and writes, without building their SQL anew each time.

Building SQL costs Django more than PostgreSQL needs to answer it. The statements of fetching and submitting have one
shape and differ in a few values, so they are compiled with sample values, and each execution binds its own in their
places. Texts that are the same every time become part of the SQL: a plan that is made once for all values can use a
partial index only if it sees the index's condition.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import sql
from django.db.models.base import ModelState

M = TypeVar("M", bound=models.Model)
FIRST_ROW, ALL_ROWS, ROW_COUNT = methodcaller("fetchone"), methodcaller("fetchall"), attrgetter("rowcount")


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


def _run(connection: Any, text: str, params: Sequence[Any], result: Callable[[Any], Any]) -> Any:
    """Executes and takes the result, by what the connection keeps for this statement if it does that."""
    keep = getattr(connection, "kept_statement", None)
    kept = keep(text) if keep else None
    if kept is not None:
        kept.execute(params)
        return result(kept)
    with connection.cursor() as cursor:
        cursor.execute(text, params)
        return result(cursor)


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
        row = _run(connection, read.compiled.sql, self._bind(read.compiled, values, connection), FIRST_ROW)
        if row is None:
            return None
        if read.converters:
            [row] = read.compiled.compiler.apply_converters([list(row)], read.converters)
        found: M = read.row(row)
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
        return int(_run(connection, compiled.sql, self._bind(compiled, values, connection), ROW_COUNT))

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
        keys = _run(connection, text, params, ALL_ROWS if self._with_keys else _nothing)
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


def _nothing(cursor: Any) -> tuple[()]:
    return ()


def _reader(compiler: Any, alias: str) -> Callable[[Sequence[Any]], Any]:
    """Rows to instances, as a queryset makes them: with deferred fields, and what was selected beside."""
    maker = _Maker(compiler.klass_info, compiler.select, alias)
    annotations = compiler.annotation_col_map or {}

    def read(row: Sequence[Any]) -> Any:
        instance = maker.make(row)
        for name, place in annotations.items():
            setattr(instance, name, row[place])
        return instance

    return read


class _Maker:
    """Makes instances of one model, and those related to it, of the columns where they stand in a row.

    A model's own constructor takes most of the time that reading a row with its relations costs. What it does for a
    row is little: it sets the fields that were read and says that the row is saved. Signals of instances that are made
    are not sent.
    """

    def __init__(self, info: dict[str, Any], select: Sequence[Any], alias: str) -> None:
        if info.get("from_parent"):
            raise ValueError(f"{info['model'].__name__} is read through a model that inherits from it")
        self._model, self._alias = info["model"], alias
        self._start, self._end = info["select_fields"][0], info["select_fields"][-1] + 1
        self._names = [column[0].target.attname for column in select[self._start : self._end]]
        self._key = self._start + self._names.index(self._model._meta.pk.attname)
        self._related = [
            (_Maker(each, select, alias), each["local_setter"], each["remote_setter"])
            for each in info.get("related_klass_infos", [])
        ]

    def make(self, row: Sequence[Any]) -> Any:
        """None where an outer join found no row."""
        if row[self._key] is None:
            return None
        instance = self._model.__new__(self._model)
        state = ModelState()
        state.adding, state.db = False, self._alias
        instance.__dict__ = {
            "_state": state,
            **dict(zip(self._names, row[self._start : self._end], strict=True)),
        }
        for maker, set_here, set_there in self._related:
            related = maker.make(row)
            set_here(instance, related)
            if related is not None:
                set_there(related, instance)
        return instance
