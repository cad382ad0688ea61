"""Merging of drafts: an empty field overwrites nothing that was filled in elsewhere.

The page that sends may be an old one, may have been opened twice, or its form may be sent once more by a browser. So
an empty field counts only where the page had something in it: then it was emptied on purpose.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from evaluation.forms.input.posted_fields import HELD, TRACE, read_trace
from evaluation.protocols.base import Kind, QuestionSpec
from evaluation.protocols.entries.form import UNDECIDED, read_row, read_rows
from evaluation.protocols.entries.sets import is_blank
from evaluation.protocols.kinds.ranking import RANKING_CONFIRMED, RANKING_START
from evaluation.protocols.requirements.questions import RESERVED

Fields = Mapping[str, str]
# Answered as a whole: every field of theirs always holds something.
WHOLE = (Kind.RANKING, Kind.ENTRIES)


def merge_drafts(questions: Iterable[QuestionSpec], stored: Fields, sent: Fields) -> dict[str, str]:
    """The fields that were sent, with those of the stored draft in the place of what is empty in them and always was
    on the page that sent them (`HELD`)."""
    held = frozenset(sent.get(HELD, "").split())
    merged = {name: value for name, value in sent.items() if name != HELD}
    for question in questions:
        key = question.key
        before, now = _fields_of(key, stored), _fields_of(key, merged)
        if question.kind in WHOLE:
            if before and not _is_worked_on(question, now, sent, held):
                merged = {name: value for name, value in merged.items() if name not in now} | before
                merged |= _trace_of(key, stored)
            continue
        for name, value in before.items():
            if value.strip() and not sent.get(name, "").strip() and name not in held:
                merged[name] = value
        if merged.get(key) != sent.get(key):
            merged |= _trace_of(key, stored)
    return merged


def held_fields(questions: Iterable[QuestionSpec], data: Mapping[str, Any]) -> str:
    """The value of a page's field `HELD`: the names of the fields that hold something.

    The page's script adds what is filled in later.
    """
    fields = _flat(data)
    whole = {question.key: question for question in questions if question.kind in WHOLE}
    untouched = {key for key, each in whole.items() if _is_untouched(each, _fields_of(key, fields))}
    return " ".join(
        name
        for name, value in fields.items()
        if value.strip() and name.partition(".")[0] not in RESERVED | untouched
    )


def _flat(data: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a form by name, from what `read_fields` made of them."""
    fields: dict[str, str] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            fields |= {f"{key}.{part}": str(each) for part, each in value.items()}
        else:
            fields[key] = str(value)
    return fields


def _trace_of(key: str, stored: Fields) -> dict[str, str]:
    """The fields with the trace of an answer, which belong to it."""
    name = f"{TRACE}.{key}"
    return {name: stored[name]} if name in stored else {}


def _fields_of(key: str, fields: Fields) -> dict[str, str]:
    return {name: value for name, value in fields.items() if name.partition(".")[0] == key}


def _is_worked_on(question: QuestionSpec, now: Fields, sent: Fields, held: Collection[str]) -> bool:
    """True if a page's fields of such a question are its participant's doing, even where they undid everything."""
    if not _is_untouched(question, now):
        return True
    names = {name for name in held if name.partition(".")[0] == question.key}
    if question.kind == Kind.RANKING:
        return bool(now) and (bool(names) or question.key in read_trace(sent))
    return any(not now.get(name, "").strip() for name in names)


def _is_untouched(question: QuestionSpec, fields: Fields) -> bool:
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
