"""Values in a JSON object, which may stand in one fence and says nothing twice."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NoReturn

from evaluation.storable import storable
from judging.parsing.rejection import reject
from judging.prompting.settings import Settings

# One fenced block and nothing beside it, whatever its lines end in.
FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\r?\n[ \t]*```", re.DOTALL | re.IGNORECASE)
# The text of each value, by the path of its cell.
Values = dict[tuple[str, ...], str]


def load_json(text: str) -> Any:
    """Parse JSON, also where it stands in one fence; ValueError for a repeated name, NaN or Infinity."""
    fenced = FENCE.fullmatch(text)
    return json.loads(
        fenced[1] if fenced else text, object_pairs_hook=strict_object, parse_constant=refuse_constant
    )


def json_decoder() -> json.JSONDecoder:
    """Reads an object as `load_json` does, wherever it begins in a text."""
    return json.JSONDecoder(object_pairs_hook=strict_object, parse_constant=refuse_constant)


def values_from_json(data: Any, settings: Settings, lists: Collection[tuple[str, ...]]) -> tuple[Values, str]:
    """The values of {"rationale": ..., "answers": {...}}, as an object or as its text, which may stand in one fence.

    `lists` are the paths of those that are lists; their values are JSON again.
    """
    try:
        data = load_json(data) if isinstance(data, str) else data
        answers = dict(_leaves(data.pop("answers"), (), lists))
    except KeyError:
        return reject('The reply is JSON without "answers".')
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return reject(f"The reply is not the JSON object that was asked for: {str(error)[:100]}.")
    rationale = data.pop("rationale", "") if settings.rationale != "none" else ""
    if data or not isinstance(rationale, str):
        reject(f"not asked for: {', '.join(map(str, data))[:200] or 'a rationale that is no text'}")
    return answers, storable(rationale).strip()


def strict_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice: whoever says two things has said nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is no answer")


def _leaves(
    value: Any, path: tuple[str, ...], lists: Collection[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts in nested objects, and numbers as the texts that were asked for."""
    if isinstance(value, list) != (path in lists):
        raise TypeError("a list where none was asked for, or none where one was")
    if isinstance(value, list):
        yield path, json.dumps(value)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(each, (*path, name), lists)
    elif isinstance(value, str):
        yield path, storable(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, str(value)
    else:
        raise TypeError("an answer is a text")
