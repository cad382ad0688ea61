"""Sets of condition-answer-citation entries: what a calibration's stimulus holds and its judgment gives back.

A drafted set is the text of a response, as JSON; a judgment answers the question of kind `entries` with one answer
per entry, parts e1, e2, ..., in the order that was settled on. Whatever reads a set (form, import, judge, draft) goes
through `clean_entries`, so that equal sets are equal texts.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypedDict

from evaluation.canonical import canonical_json
from evaluation.protocols.base import (
    MAX_TEXT,
    AnswerValue,
    Kind,
    Problem,
    Stimulus,
    normalize_text,
)

MAX_ENTRIES = 30
# What an entry says, in the order of the form; `origins` is beside it.
FIELDS = ("condition", "answers", "citations", "reason")
# The name of an entry in one of the model's revisions, which are not in the stimulus.
REVISED = re.compile(r"m[1-9][0-9]{0,2}\.e[1-9][0-9]?", re.ASCII)


class Quotation(TypedDict):
    """A citation of something that is not among the item's fragments."""

    title: str
    text: str


# The number of one of the item's fragments (the query's documents, from 1), or a quotation.
Citation = int | Quotation


class Entry(TypedDict):
    """Any of these may be blank: what the fragments don't say is left out.

    `origins` names the drafted entries that it came from ("r1.e2": the second of the first response's), several where
    they were merged, none where it was added; "m1.e3" is the third of the model's first revision. While a form is
    filled in, every entry of a revision is one of those; of a judgment, those alone that came from nothing before them.
    """

    condition: str
    answers: list[str]
    citations: list[Citation]
    reason: str
    origins: list[str]


class Decision(StrEnum):
    """The fate of a drafted entry."""

    ACCEPTED = "accepted"
    EDITED = "edited"
    MERGED = "merged"
    REJECTED = "rejected"


# --- reading and writing --------------------------------------------------------------------------------------------


def clean_entries(value: Any, fragments: int | None, where: str) -> tuple[list[Entry], list[Problem]]:
    """The entries in a JSON list, in one spelling, and everything that is wrong with it.

    `fragments` is how many there are to cite, None where that is not known; `where` begins the problems' paths.
    """
    if not isinstance(value, list):
        return [], [Problem("no_entries", where)]
    entries: list[Entry] = []
    problems: list[Problem] = []
    for number, each in enumerate(value, 1):
        entry, wrong = clean_entry(each, fragments, f"{where}.e{number}")
        entries.append(entry)
        problems += wrong
    return entries, problems


def clean_entry(value: Any, fragments: int | None, where: str) -> tuple[Entry, list[Problem]]:
    """An entry in one spelling: without blank answers and what appears twice; what is left out is blank."""
    entry: Entry = {"condition": "", "answers": [], "citations": [], "reason": "", "origins": []}
    if not isinstance(value, Mapping):
        return entry, [Problem("not_an_entry", where)]
    if problems := _shape_problems(value, where):
        return entry, problems
    citations, problems = _clean_citations(value.get("citations", ()), fragments, f"{where}.citations")
    # An answer is one line of a form.
    lines = (" ".join(normalize_text(answer).split()) for answer in value.get("answers", ()))
    entry = {
        "condition": _one_text(value.get("condition", "")),
        "answers": [line for line in lines if line],
        "citations": citations,
        "reason": _one_text(value.get("reason", "")),
        "origins": list(dict.fromkeys(value.get("origins", ()))),
    }
    if len(write_entry(entry)) > MAX_TEXT:
        problems.append(Problem("too_long", where, {"limit": MAX_TEXT}))
    return entry, problems


def _shape_problems(value: Mapping[str, Any], where: str) -> list[Problem]:
    """Problems that keep an object from being read as an entry."""
    unknown = value.keys() - Entry.__annotations__.keys()
    problems = [
        Problem("entry_unknown", where, {"name": str(name)[:80]}) for name in sorted(unknown, key=str)
    ]
    problems += [
        Problem("not_text", f"{where}.{name}")
        for name in ("condition", "reason")
        if not isinstance(value.get(name, ""), str)
    ]
    problems += [
        Problem("not_texts", f"{where}.{name}")
        for name in ("answers", "origins")
        if not _are_texts(value.get(name, []))
    ]
    if not isinstance(value.get("citations", []), list):
        problems.append(Problem("no_citations", f"{where}.citations"))
    return problems


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _clean_citations(
    given: Sequence[Any], fragments: int | None, where: str
) -> tuple[list[Citation], list[Problem]]:
    """Fragments by number first, then quotations in their order; each once."""
    numbers: set[int] = set()
    quoted: list[Citation] = []
    problems = []
    for each in given:
        if isinstance(each, Mapping):
            quotation = _clean_quoted(each)
            if quotation is None:
                problems.append(Problem("not_a_quotation", where))
            elif any(quotation.values()) and quotation not in quoted:
                quoted.append(quotation)
        elif _is_number(each) and each >= 1 and (fragments is None or each <= fragments):
            numbers.add(each)
        else:
            params = {"value": str(each)[:40], "fragments": fragments or 0}
            problems.append(Problem("no_fragment", where, params))
    return [*sorted(numbers), *quoted], problems


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _clean_quoted(value: Mapping[str, Any]) -> Quotation | None:
    title, text = value.get("title", ""), value.get("text", "")
    if not isinstance(title, str) or not isinstance(text, str) or value.keys() - {"title", "text"}:
        return None
    return {"title": _one_text(title), "text": _one_text(text)}


def _one_text(text: str) -> str:
    """Spell a text as a form would send it back: what nobody touched must stay equal."""
    return normalize_text(text).replace("\r", "\n").strip()


def find_set_problems(
    entries: Mapping[str, Entry], drafted: Collection[str], where: str, *, least: int = 1
) -> list[Problem]:
    """Problems with a set of clean entries as a whole; `drafted` are the names that may be origins."""
    problems = []
    if len(entries) < least:
        problems.append(Problem("entries_missing", where))
    if len(entries) > MAX_ENTRIES:
        problems.append(Problem("too_many_entries", where, {"limit": MAX_ENTRIES, "found": len(entries)}))
    for row, entry in entries.items():
        if is_blank(entry):
            problems.append(Problem("entry_blank", f"{where}.{row}"))
        problems += [
            Problem("unknown_origin", f"{where}.{row}.origins", {"value": origin[:40]})
            for origin in entry["origins"]
            if origin not in drafted and not REVISED.fullmatch(origin)
        ]
    return problems


def find_draft_problems(text: str, fragments: int, where: str) -> list[Problem]:
    """Problems that keep a response's text from being a drafted set, which may be empty."""
    entries, problems = clean_entries(read_json(text), fragments, where)
    rows = {f"e{number}": entry for number, entry in enumerate(entries, 1)}
    problems = problems or find_set_problems(rows, (), where, least=0)
    add_origins = [row for row, entry in rows.items() if entry["origins"]]
    return problems + [Problem("entry_unknown", f"{where}.{row}", {"name": "origins"}) for row in add_origins]


def read_set(text: str) -> list[Entry]:
    """The entries of a response's text that `find_draft_problems` has nothing against."""
    return clean_entries(read_json(text), None, "")[0]


def read_json(text: str) -> Any:
    """The value in a text; None where there is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def write_set(entries: Sequence[Entry]) -> str:
    """A drafted set as a response's text; origins are a judgment's and no draft's."""
    return canonical_json([{name: entry[name] for name in FIELDS} for entry in entries]).decode()  # type: ignore[literal-required]


def read_entry(text: str) -> Entry:
    """The entry in an answer's text."""
    entry: Entry = json.loads(text)
    return entry


def write_entry(entry: Entry) -> str:
    """The text of one entry's answer."""
    return canonical_json(entry).decode()


def read_answers(answers: Sequence[AnswerValue]) -> list[Entry]:
    """The set that a judgment settled on, in its order."""
    found = [answer for answer in answers if answer.kind == Kind.ENTRIES and answer.text is not None]
    found.sort(key=lambda answer: int(answer.part.removeprefix("e")))
    return [read_entry(answer.text or "") for answer in found]


def is_blank(entry: Mapping[str, Any]) -> bool:
    """True for an entry without any content."""
    return not any(entry[name] for name in FIELDS)


def fragments_of(stimulus: Stimulus) -> int:
    """The number of fragments to cite."""
    return len(stimulus["query"].get("documents") or [])


# --- drafts and what became of them ---------------------------------------------------------------------------------


def drafted_sets(stimulus: Stimulus) -> dict[str, list[Entry]]:
    """The set of each response; every entry has its own name as its origin."""
    return {
        response["part"]: add_origins(read_set(response["text"]), response["part"])
        for response in stimulus["responses"]
    }


def add_origins(entries: Sequence[Entry], origin: str) -> list[Entry]:
    """A draft's entries, each with its own name as its origin ("r1", or "m2" of the model's second revision)."""
    return [{**entry, "origins": [f"{origin}.e{number}"]} for number, entry in enumerate(entries, 1)]


def drafted_entries(stimulus: Stimulus) -> dict[str, Entry]:
    """Every drafted entry by its name ("r1.e2"), in the order of the sets."""
    return {entry["origins"][0]: entry for entries in drafted_sets(stimulus).values() for entry in entries}


def inherit_origins(number: int, before: Sequence[Entry], after: Sequence[Entry]) -> list[Entry]:
    """The entries of the model's revision of this number with the origins of those of `before` that they came from.

    `after` has the origins that the model named. What it left alone is what it was, whether it says so or not; what
    is new and came from nothing is the revision's own.
    """
    return [
        {**entry, "origins": _origins_before(entry, before, [f"m{number}.e{place}"])}
        for place, entry in enumerate(after, 1)
    ]


def _origins_before(entry: Entry, before: Sequence[Entry], own: list[str]) -> list[str]:
    same = [each["origins"] for each in before if same_content(each, entry)]
    if not same:
        return entry["origins"] or own
    is_said = any(origins and set(origins) <= set(entry["origins"]) for origins in same)
    return entry["origins"] if is_said else same[0]


def revision_origins(revisions: Mapping[int, Sequence[Entry]]) -> dict[str, list[str]]:
    """The origins of every entry of these revisions, which are given by number: {"m1.e2": ["r1.e1"]}."""
    return {
        f"m{number}.e{place}": entry["origins"]
        for number, entries in revisions.items()
        for place, entry in enumerate(entries, 1)
    }


def trace_origins(entry: Entry, known: Mapping[str, Sequence[str]]) -> Entry:
    """The entry with the origins of a revision's entries in their place (`revision_origins`)."""
    found = [before for origin in entry["origins"] for before in known.get(origin, [origin])]
    return {**entry, "origins": list(dict.fromkeys(found))}


def trace_answer_origins(
    answers: Iterable[AnswerValue], known: Mapping[str, Sequence[str]]
) -> list[AnswerValue]:
    """A judgment's answers as they are kept: its entries are told by what they came from in the end."""
    return [
        replace(answer, text=write_entry(trace_origins(read_entry(answer.text or ""), known)))
        if answer.kind == Kind.ENTRIES
        else answer
        for answer in answers
    ]


def decisions(stimulus: Stimulus, entries: Sequence[Entry]) -> dict[str, Decision]:
    """The fate of every drafted entry, by its name."""
    return {origin: _decision(origin, entry, entries) for origin, entry in drafted_entries(stimulus).items()}


def _decision(origin: str, drafted: Entry, entries: Sequence[Entry]) -> Decision:
    # Where several sets have the same entry, taking one of them takes what all of them say.
    taken = [entry for entry in entries if len(entry["origins"]) == 1]
    if any(same_content(entry, drafted) for entry in taken):
        return Decision.ACCEPTED
    kept = [entry for entry in entries if origin in entry["origins"]]
    alone = [entry for entry in kept if len(entry["origins"]) == 1]
    return Decision.EDITED if alone else Decision.MERGED if kept else Decision.REJECTED


def same_content(one: Entry, other: Entry) -> bool:
    """True if two entries say the same, whatever their origins."""
    return not differing_fields([one, other])


def differing_fields(entries: Sequence[Entry]) -> frozenset[str]:
    """The fields in which these entries are not all the same."""
    return frozenset(
        name
        for name in FIELDS
        if any(entry[name] != entries[0][name] for entry in entries[1:])  # type: ignore[literal-required]
    )


def merge_entries(entries: Sequence[Entry]) -> Entry:
    """One entry of several: each different condition, answer, citation and reason once, in their order."""
    answers = [answer for entry in entries for answer in entry["answers"]]
    origins = [origin for entry in entries for origin in entry["origins"]]
    numbers: set[int] = set()
    quoted: list[Citation] = []
    for citation in (citation for entry in entries for citation in entry["citations"]):
        if isinstance(citation, int):
            numbers.add(citation)
        elif citation not in quoted:
            quoted.append(citation)
    return {
        "condition": _joined([entry["condition"] for entry in entries], "; "),
        "answers": list(dict.fromkeys(answers)),
        "citations": [*sorted(numbers), *quoted],
        "reason": _joined([entry["reason"] for entry in entries], "\n"),
        "origins": list(dict.fromkeys(origins)),
    }


def _joined(texts: Sequence[str], glue: str) -> str:
    return glue.join(dict.fromkeys(text for text in texts if text))
