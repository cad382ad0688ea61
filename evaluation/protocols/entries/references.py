"""Reference sets of entries: a query's references that are sets, as an export or a system's response writes them."""

from collections.abc import Mapping
from typing import Any

from evaluation.protocols.base import Stimulus
from evaluation.protocols.entries.sets import (
    Entry,
    clean_entries,
    find_draft_problems,
    fragments_of,
    read_json,
)


def reference_set(stimulus: Stimulus) -> list[Entry] | None:
    """The entries of the query's first reference that is a set; None where no reference is one, or it is empty.

    A reference is a set if it is an object with `entries`, or a text that is their JSON.
    """
    for reference in stimulus["query"].get("references") or ():
        entries, problems = clean_entries(_given(reference), fragments_of(stimulus) or None, "references")
        if entries and not problems:
            return entries
    return None


def response_set(stimulus: Stimulus, part: str) -> list[Entry] | None:
    """The entries of one response, which may be none at all; None where it is no set of entries."""
    [text] = [response["text"] for response in stimulus["responses"] if response["part"] == part]
    if find_draft_problems(text, fragments_of(stimulus), "responses"):
        return None
    return clean_entries(read_json(text), None, "")[0]


def entry_part(number: int, part: str) -> str:
    """The key of an entry of a response: "e2.r1" is the second of the first response."""
    return f"e{number}.{part}"


def entry_parts(stimulus: Stimulus) -> dict[str, Entry]:
    """The entries of each response that is a set by their keys, one response after the other."""
    return {
        entry_part(number, response["part"]): entry
        for response in stimulus["responses"]
        for number, entry in enumerate(response_set(stimulus, response["part"]) or (), 1)
    }


def _given(reference: Any) -> Any:
    if isinstance(reference, Mapping):
        return reference["entries"] if "entries" in reference else read_json(str(reference.get("text") or ""))
    return read_json(str(reference))
