"""Notes on a line's item, or on a judgment of it."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from django.utils import timezone

from evaluation.services.imports import ImportedNote


def prepare_notes(records: Sequence[dict[str, Any]]) -> tuple[list[ImportedNote], list[str]]:
    """The notes, of today where no day is given, and the problems of those that can't be read."""
    notes, problems = [], []
    for number, record in enumerate(records):
        try:
            day = date.fromisoformat(record["day"]) if "day" in record else None
        except ValueError:
            problems.append(f"notes[{number}]: {record['day']!r} is not a date that exists")
            continue
        text, at = (
            record["text"].strip(),
            timezone.now() if day is None else datetime.combine(day, time(), UTC),
        )
        if text:
            notes.append(ImportedNote(text, at))
        else:
            problems.append(f"notes[{number}]: has no text")
    return notes, problems
