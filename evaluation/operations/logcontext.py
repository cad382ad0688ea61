"""Fields that every log line of one request or task carries besides its message: `with bind(run=run.pk): ...`.

Kept here, below all apps, so that whoever does the work can name it; `config.logs` writes it into the lines.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

NOTHING: Mapping[str, object] = MappingProxyType({})
_fields: ContextVar[Mapping[str, object]] = ContextVar("log_fields", default=NOTHING)


def fields() -> Mapping[str, object]:
    """The fields that are bound here and now."""
    return _fields.get()


def begin(**values: object) -> None:
    """Start afresh with these fields alone, until `end` or the next `begin` in this thread."""
    _fields.set(values)


def end() -> None:
    """Forget every field."""
    _fields.set(NOTHING)


@contextmanager
def bind(**values: object) -> Iterator[None]:
    """Add fields to all log lines inside, including those of coroutines and tasks started there."""
    token = _fields.set({**_fields.get(), **values})
    try:
        yield
    finally:
        _fields.reset(token)
