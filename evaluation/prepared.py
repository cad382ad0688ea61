"""Querysets that are compiled once: the hot path's reads, without building their SQL anew for every request.

Building SQL costs Django more than PostgreSQL needs to answer it. The queries of fetching and submitting have one shape
and differ in a few values, so they are compiled with sample values, and each execution binds its own in their places.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
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
    params: tuple[Any, ...]
    places: dict[int, str]
    converters: dict[int, Any]
    read: Callable[[tuple[Any, ...]], Any]
    compiler: Any


class Prepared(Generic[M]):
    """A queryset of instances (with select_related, only, annotations, locks) that is compiled once per database."""

    def __init__(self, build: Callable[..., models.QuerySet[M]], **samples: Sample) -> None:
        self._build = build
        self._samples = samples
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def first(self, **values: Any) -> M | None:
        """The first row as an instance; the queryset should be ordered or unique."""
        connection = connections[DEFAULT_DB_ALIAS]
        # Tests and operators may point the same alias at another kind of database.
        key = (connection.alias, connection.vendor)
        compiled = self._compiled.get(key) or self._compiled.setdefault(key, self._compile(connection))
        params = list(compiled.params)
        for place, name in compiled.places.items():
            params[place] = self._samples[name].field.get_db_prep_value(values[name], connection)
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, params)
            row = cursor.fetchone()
        if row is None:
            return None
        if compiled.converters:
            [row] = compiled.compiler.apply_converters([list(row)], compiled.converters)
        found: M = compiled.read(tuple(row))
        return found

    def _compile(self, connection: Any) -> _Compiled:
        samples = {name: sample.value for name, sample in self._samples.items()}
        queryset = self._build(**samples)[:1]
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        prepared = {
            name: sample.field.get_db_prep_value(sample.value, connection)
            for name, sample in self._samples.items()
        }
        places = {
            place: name
            for place, param in enumerate(params)
            for name, sample in prepared.items()
            if param == sample
        }
        if set(places.values()) != set(samples):
            missing = ", ".join(sorted(set(samples) - set(places.values())))
            raise ValueError(f"the compiled query does not carry the value of: {missing}")
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        return _Compiled(
            sql, tuple(params), places, converters, _reader(compiler, connection.alias), compiler
        )


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
