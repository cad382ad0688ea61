"""A draft that is kept although a page sends less: what is empty overwrites nothing that was filled in.

The page that sends may be an old one, or may have been opened twice.
"""

from collections.abc import Iterable, Mapping

from evaluation.forms.reading import TRACE
from evaluation.protocols.base import Kind, Over, Question
from evaluation.protocols.entries import is_blank
from evaluation.protocols.entry_form import UNDECIDED, read_row, read_rows
from evaluation.protocols.questions import RESERVED
from evaluation.protocols.values import RANKING_CONFIRMED, RANKING_START

Fields = Mapping[str, str]


def merge_drafts(questions: Iterable[Question], stored: Fields, sent: Fields) -> dict[str, str]:
    """The fields that were sent, with those of the stored draft in the place of what is empty in them."""
    merged = dict(sent)
    is_empty = not any(_says(name, value) for name, value in sent.items())
    for question in questions:
        key = question.key
        before, now = _fields_of(key, stored), _fields_of(key, sent)
        if question.kind in (Kind.RANKING, Kind.ENTRIES):
            if before and _is_untouched(question, now):
                merged = {name: value for name, value in merged.items() if name not in now} | before
                merged |= _trace_of(key, stored)
            continue
        if not is_empty and (question.is_flag or question.over == Over.CHOICE):
            continue  # a box that is not ticked says so
        for name, value in before.items():
            if value.strip() and not sent.get(name, "").strip():
                merged[name] = value
        if merged.get(key) != sent.get(key):
            merged |= _trace_of(key, stored)
    return merged


def _trace_of(key: str, stored: Fields) -> dict[str, str]:
    """How the answer came about, which goes with it."""
    name = f"{TRACE}.{key}"
    return {name: stored[name]} if name in stored else {}


def _says(name: str, value: str) -> bool:
    return bool(value.strip()) and name.partition(".")[0] not in RESERVED


def _fields_of(key: str, fields: Fields) -> dict[str, str]:
    return {name: value for name, value in fields.items() if name.partition(".")[0] == key}


def _is_untouched(question: Question, fields: Fields) -> bool:
    """An order as it was first shown, and a set of which no entry was decided."""
    if not fields:
        return True
    parts = {name.partition(".")[2]: value for name, value in fields.items()}
    if question.kind == Kind.ENTRIES:
        rows, _ = read_rows(question.key, parts)
        return all(row.get("keep") == UNDECIDED or is_blank(read_row(row)) for row in rows.values())
    start = parts.get(RANKING_START, "").split(",")
    return not parts.get(RANKING_CONFIRMED) and all(
        parts.get(part) == str(place) for place, part in enumerate(start, 1)
    )
