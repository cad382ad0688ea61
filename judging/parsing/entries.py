"""Entries that a judge calibrated: a JSON list, each naming the drafted entries that it came from."""

import json
import re
from collections.abc import Sequence
from typing import Any

from evaluation.protocols.entries.sets import FIELDS
from evaluation.storable import storable_json
from judging.parsing.json_values import refuse_constant, strict_object
from judging.parsing.rejection import reject
from judging.prompting.cells import AnswerCell
from judging.prompting.view import View
from judging.prompting.wording import ORIGINS_FIELD

# A drafted entry as a prompt calls it: the response's number in the order shown, and the entry's.
NUMBERED = re.compile(r"[1-9][0-9]?\.[1-9][0-9]?", re.ASCII)


def read_entries(name: str, cell: AnswerCell, view: View, said: str) -> list[dict[str, Any]]:
    """The entries in a JSON list; each names the drafted entries that it came from as the judge saw them."""
    try:
        entries = json.loads(said, object_pairs_hook=strict_object, parse_constant=refuse_constant)
        if not isinstance(entries, list) or not all(each.keys() == set(cell.entries) for each in entries):
            raise ValueError("other names than asked for")
        return [
            {field: storable_json(each[field]) for field in FIELDS}
            | {"origins": _origins(each.get(ORIGINS_FIELD, []), view)}
            for each in entries
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return reject(f"{name}: {said[:80]!r} is not the list of entries that was asked for.")


def _origins(names: Sequence[str], view: View) -> list[str]:
    """Drafted entries by their canonical names: "2.1" is entry 1 of what was shown as Response 2."""
    found = []
    for name in names:
        response, _, entry = name.partition(".")
        if not NUMBERED.fullmatch(name) or int(response) > len(view.order):
            raise ValueError(f"{name!r} is no drafted entry")
        found.append(f"{view.order[int(response) - 1]}.e{entry}")
    return found
