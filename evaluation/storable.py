"""Text that any database takes and any answer can carry; pure."""

from collections.abc import Mapping
from typing import Any


def storable(text: str, *, nul: str = "") -> str:
    """The text without NUL, which PostgreSQL refuses, and with a question mark for half a surrogate pair, which UTF-8
    can't write. `nul` is put in NUL's place, where the gap shall be seen."""
    return text.replace("\x00", nul).encode("utf-8", "replace").decode()


def storable_json(value: Any, *, nul: str = "") -> Any:
    """JSON whose names and texts are storable: an escape in JSON may spell what its own text does not hold."""
    if isinstance(value, str):
        return storable(value, nul=nul)
    if isinstance(value, Mapping):
        return {storable(str(name), nul=nul): storable_json(each, nul=nul) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(each, nul=nul) for each in value]
    return value
