"""Registries: entries of one kind by key. An entry that lacks a part is refused with a sentence."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from threading import RLock
from types import ModuleType
from typing import Any, Protocol, TypeVar


class Keyed(Protocol):
    @property
    def key(self) -> str: ...


T = TypeVar("T", bound=Keyed)
V = TypeVar("V")


class EntryRefused(TypeError):
    """An entry is incomplete, or its key is taken; the sentence says which entry, and what it lacks."""


class Registry(Mapping[str, T]):
    """Entries in the order of their registration. `parts`: what each must have, and what that is for; `check` names
    what else an entry lacks. Entries that a function finds are looked for when the registry is first used."""

    def __init__(
        self,
        noun: str,
        parts: Mapping[str, str],
        entries: Iterable[T] | Callable[[], Iterable[T]] = (),
        *,
        check: Callable[[T], Iterable[str]] = lambda entry: (),
    ) -> None:
        self.noun = noun
        self._parts = parts
        self._check = check
        self._registered: dict[str, T] = {}
        self._find: Callable[[], Iterable[T]] | None = None
        self._finding = RLock()
        if callable(entries):
            self._find = entries
        else:
            self._take_in(entries)

    @property
    def _entries(self) -> dict[str, T]:
        if self._find is not None:
            with self._finding:  # several threads may be the first
                if self._find is not None:
                    self._take_in(self._find())
                    self._find = None
        return self._registered

    def _take_in(self, entries: Iterable[T]) -> None:
        taken: dict[str, T] = {}
        for entry in entries:
            self._add(entry, taken)
        self._registered = taken

    def register(self, entry: T) -> None:
        """Add the entry; EntryRefused if a part is missing or another entry has its key."""
        self._add(entry, self._entries)

    def _add(self, entry: T, entries: dict[str, T]) -> None:
        key = getattr(entry, "key", "")
        name = repr(key) if key else f"in {type(entry).__name__}"
        missing = [f"{part} ({use})" for part, use in self._parts.items() if _lacks(entry, part)]
        if missing := missing or list(self._check(entry)):
            raise EntryRefused(f"The {self.noun} {name} is incomplete: it lacks {', '.join(missing)}.")
        if key in entries:
            raise EntryRefused(f"There are two of the {self.noun} {name}.")
        entries[key] = entry

    @contextmanager
    def registered(self, entry: T) -> Iterator[T]:
        """The entry for as long as the block runs; for tests."""
        self.register(entry)
        try:
            yield entry
        finally:
            del self._entries[entry.key]

    def __getitem__(self, key: str) -> T:
        """The entry; KeyError lists the keys that there are."""
        try:
            return self._entries[key]
        except KeyError:
            known = ", ".join(sorted(self._entries))
            raise KeyError(f"no {self.noun} {key!r}; there are: {known}") from None

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


class KeyedTable(dict[str, V]):
    """Entries of one part of the product by key; `forgotten` says where a missing one belongs, with {key} in it."""

    def __init__(self, forgotten: str, entries: Mapping[str, V]) -> None:
        super().__init__(entries)
        self.forgotten = forgotten

    def __missing__(self, key: str) -> V:
        raise EntryRefused(self.forgotten.format(key=key))


def _lacks(entry: object, part: str) -> bool:
    """True for a part that is empty or still abstract; `False` and 0 are values."""
    found = getattr(entry, part, None)
    return found is None or found == "" or getattr(found, "__isabstractmethod__", False)


def entries_in(package: ModuleType, name: str) -> list[Any]:
    """The object of that name in each module of a package; EntryRefused names a module that has none."""
    found = []
    for info in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, name):
            raise EntryRefused(f"The module {module.__name__} has no {name}.")
        found.append(getattr(module, name))
    return found
