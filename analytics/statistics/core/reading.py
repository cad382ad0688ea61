"""Records read back from JSON: the dataclass that `plain` has written, made anew."""

import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from analytics.statistics.core.randomization import CorrectedTest, Tested

AnyRecord = TypeVar("AnyRecord")
Reader = Callable[[Any], Any]
# As keys of an object numbers are words.
KEYS: Mapping[Any, Reader] = {int: int, float: float}


def read(kind: type[AnyRecord], found: Any) -> AnyRecord:
    """The dataclass of this kind of which `found` is the JSON; what else stands there is left out.

    Tests are read with their correction. TypeError for a kind that has no JSON.
    """
    return cast(AnyRecord, _reader(kind)(found))


def _as_is(found: Any) -> Any:
    return found


def _reader(kind: Any) -> Reader:
    return _made_reader(kind)


@cache
def _made_reader(kind: Hashable) -> Reader:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _reader(inside[0])
    if origin in (Union, types.UnionType):
        return _reader_of_one(tuple(each for each in inside if each is not type(None)))
    if kind is np.ndarray or origin is np.ndarray:
        return np.asarray
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, value = KEYS.get(inside[0], _as_is), _reader(inside[1])
        return lambda found: {key(name): value(each) for name, each in found.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _reader_of_list(origin, inside)
    if is_dataclass(kind):
        return _reader_of_record(cast(type, kind))
    if origin is Literal or kind in (str, int, float, bool, type(None)):
        return _as_is
    raise TypeError(f"A record has no JSON for {kind}.")


def _reader_of_list(origin: type, inside: tuple[Any, ...]) -> Reader:
    if origin is tuple and (len(inside) != 2 or inside[1] is not ...):
        readers = [_reader(each) for each in inside]
        return lambda found: tuple(one(each) for one, each in zip(readers, found, strict=True))
    one = _reader(inside[0])
    return lambda found: tuple(one(each) for each in found)


def _reader_of_one(kinds: tuple[Any, ...]) -> Reader:
    """Of null or one of these: dataclasses are told apart by their fields."""
    simple = [_reader(each) for each in kinds if not is_dataclass(each)]
    by_fields = {
        frozenset(each.name for each in fields(kind)): _reader(kind) for kind in kinds if is_dataclass(kind)
    }

    def one(found: Any) -> Any:
        if found is None:
            return None
        if not by_fields or not isinstance(found, Mapping):
            return simple[0](found)
        names = found.keys()
        return next(reader for own, reader in by_fields.items() if own <= names)(found)

    return one


def _reader_of_record(kind: type) -> Reader:
    made = CorrectedTest if kind is Tested else kind
    hints = get_type_hints(made, include_extras=True)
    readers = [(each.name, _reader(hints[each.name])) for each in fields(made) if each.init]

    def record(found: Mapping[str, Any]) -> Any:
        return made(**{name: one(found[name]) for name, one in readers if name in found})

    return record
