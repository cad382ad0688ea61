"""JSON bodies of requests: any input is read, or refused with the reason."""

import json
import re
from typing import Any

# As `json.dumps` writes it; a backslash of the text itself is written twice.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class BadJSON(ValueError):
    """A body that can't be read; the message says why."""


def read_json(raw: bytes) -> Any:
    """The value of a body in UTF-8. Raises BadJSON for what is no JSON, and for what no database could store."""
    try:
        # JSON is UTF-8, whatever charset a header claims.
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
        # Half a character, as \\ud800 alone is one, can neither be stored nor answered with.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except RecursionError:
        raise BadJSON("The JSON is nested too deeply.") from None
    except UnicodeEncodeError:
        raise BadJSON("This is not JSON: it holds half a character") from None
    except ValueError as wrong:
        raise BadJSON(f"This is not JSON: {wrong}") from None
    return value


def read_object(raw: bytes) -> dict[str, Any]:
    """The object of a body. Raises BadJSON, also for any other value and for the character U+0000."""
    value = read_json(raw)
    if not isinstance(value, dict):
        raise BadJSON("This is not a JSON object.")
    if _NUL.search(json.dumps(value)):
        raise BadJSON("This holds the character U+0000.")
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
