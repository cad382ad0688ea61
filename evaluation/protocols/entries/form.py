"""The form fields of a set of entries.

A row's fields are "e3.condition", "e3.answers" (a line each), "e3.cite.4" (ticked), "e3.quoted" (JSON of the citations
that are no fragments), "e3.origins", "e3.place", "e3.was" (the place that it was shown at) and "e3.keep". A row's
number is its own for good, and not its place. "e3.merge" is ticked where there are no scripts to merge: with the one
above it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.protocols.base import Data, Problem
from evaluation.protocols.entries.sets import Entry, clean_entry, is_blank, merge_entries, read_json

FORM_FIELD = re.compile(
    r"(e[1-9][0-9]{0,2})\.(condition|answers|reason|quoted|origins|place|was|keep|merge|cite\.[1-9][0-9]{0,2})",
    re.ASCII,
)
# What `keep` says: that the row is in the set, that it is not, or that nobody has decided so far.
KEEP, REJECT, UNDECIDED = "1", "0", ""


def read_form(key: str, data: Data) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
    """The kept rows of a form as entries that have not been cleaned, by row id and in their order.

    A row that came from no draft and says nothing was never filled in: it is left out.
    """
    rows, problems = read_rows(key, data)
    rows = apply_merges(rows)
    problems += [
        Problem("nothing_above", f"{key}.{row}") for row in order_rows(rows) if rows[row].get("merge")
    ]
    kept = [row for row in order_rows(rows) if rows[row].get("keep", KEEP) != REJECT]
    problems += [Problem("undecided", f"{key}.{row}") for row in kept if rows[row].get("keep") == UNDECIDED]
    entries = {row: entry_of(rows[row]) for row in kept}
    return {row: entry for row, entry in entries.items() if entry["origins"] or not is_blank(entry)}, problems


def read_rows(key: str, data: Data) -> tuple[dict[str, dict[str, str]], list[Problem]]:
    """The fields of every row of a form by their names, by row id."""
    rows: dict[str, dict[str, str]] = {}
    problems = []
    for name, value in data.items():
        found = FORM_FIELD.fullmatch(name)
        if found is None or not isinstance(value, str):
            problems.append(Problem("unknown_part", key, {"part": name[:80]}))
        else:
            rows.setdefault(found[1], {})[found[2]] = value
    return rows, problems


def apply_merges(rows: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The rows with those that are to be merged in the row above them, as the page's script does it: the upper one has
    the words, citations and origins of both, and the lower one is no longer in the set.

    Above it is the nearest row that is in the set. One that has none stays as it is, still to be merged.
    """
    found = {name: dict(row) for name, row in rows.items()}
    above = ""
    for name in order_rows(found):
        row = found[name]
        entry = read_row(row)
        if not entry["origins"] and is_blank(entry):
            row.pop("merge", None)
        elif row.get("merge") and above:
            upper = found[above]
            merged = fields_of(merge_entries([read_row(upper), entry]), KEEP)
            found[above] = merged | {each: upper[each] for each in ("place", "was") if each in upper}
            found[name] = {each: row[each] for each in row if each != "merge"} | {"keep": REJECT}
        elif row.get("keep", KEEP) != REJECT:
            above = name
    return found


def read_row(row: Mapping[str, str]) -> Entry:
    """A row in one spelling, as far as it can be read."""
    return clean_entry(entry_of(row), None, "")[0]


def fields_of(entry: Entry, keep: str) -> dict[str, str]:
    """An entry as a form would send it."""
    quoted = [each for each in entry["citations"] if not isinstance(each, int)]
    return {
        "condition": entry["condition"],
        "answers": "\n".join(entry["answers"]),
        "reason": entry["reason"],
        "quoted": json.dumps(quoted, ensure_ascii=False) if quoted else "",
        "origins": " ".join(entry["origins"]),
        "keep": keep,
        **{f"cite.{each}": "on" for each in entry["citations"] if isinstance(each, int)},
    }


def order_rows(rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The rows' ids in order; a row without a place stands last.

    Of two at one place, the one that was moved there gets it: the other makes way to the side that it came from.
    """

    def standing(row: str) -> tuple[int, int, int]:
        place = _number(rows[row].get("place", ""), 10**6)
        was = _number(rows[row].get("was", ""), place)
        return place, (place > was) - (place < was), int(row[1:])

    return sorted(rows, key=standing)


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else otherwise


def entry_of(row: Mapping[str, str]) -> dict[str, Any]:
    """A row as an entry that has not been cleaned."""
    return {
        "condition": row.get("condition", "").strip(),
        "answers": [line for line in row.get("answers", "").splitlines() if line.strip()],
        "citations": [*_ticked(row), *_form_quoted(row.get("quoted", ""))],
        "reason": row.get("reason", "").strip(),
        "origins": row.get("origins", "").split(),
    }


def _ticked(row: Mapping[str, str]) -> Iterator[int]:
    return (int(name.removeprefix("cite.")) for name in row if name.startswith("cite."))


def _form_quoted(text: str) -> list[Any]:
    """The quotations in a row's hidden field; what is no list is taken as one citation, which is none."""
    found = read_json(text) if text.strip() else []
    return found if isinstance(found, list) else [None]
