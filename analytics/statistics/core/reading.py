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
    """Annotations, which can't be hashed, say nothing here."""
    return _made_reader(get_args(kind)[0] if get_origin(kind) is Annotated else kind)


@cache
def _made_reader(kind: Hashable) -> Reader:
    origin, inside = get_origin(kind), get_args(kind)
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
    return tuple if one is _as_is else lambda found: tuple(map(one, found))


def _reader_of_one(kinds: tuple[Any, ...]) -> Reader:
    """Of null or one of these: dataclasses are told apart by their fields."""
    simple = [_reader(each) for each in kinds if not is_dataclass(each)]
    by_fields = {
        frozenset(each.name for each in fields(kind)): _reader(kind) for kind in kinds if is_dataclass(kind)
    }
    if not by_fields and all(each is _as_is for each in simple):
        return _as_is
    if len(kinds) == 1:
        only = _reader(kinds[0])
        return lambda found: None if found is None else only(found)

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
    names = [each.name for each in fields(made) if each.init]
    readers = [_reader(hints[name]) for name in names]
    # Most fields of most records are numbers and words, which nothing has to be made of.
    others = [(at, one) for at, one in enumerate(readers) if one is not _as_is]
    of_each = dict(zip(names, readers, strict=True))

    def record(found: Mapping[str, Any]) -> Any:
        try:
            given = list(map(found.__getitem__, names))
        except KeyError:  # what is missing has a default
            return made(**{name: one(found[name]) for name, one in of_each.items() if name in found})
        for at, one in others:
            given[at] = one(given[at])
        return made(*given)

    return record
