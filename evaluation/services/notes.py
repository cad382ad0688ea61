"""Notes on items and judgments: written by editors, read by every member, deleted by who wrote them and by owners."""

from typing import Any

from django.db import transaction

from evaluation.models import Item, Judgment, Note
from evaluation.permissions import get_study_for, is_owner
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.storable import storable

LONGEST_NOTE = 5_000


def add_note(item: Item, *, text: str, by: Any, judgment: Judgment | None = None) -> Note:
    """Write a note on an item, or on a judgment of it. Refused without a text."""
    study = item.study
    text = storable(text).strip()
    if not text:
        raise Refused("A note needs a text.")
    if len(text) > LONGEST_NOTE:
        raise Refused(f"The note is too long: {LONGEST_NOTE:,} characters at most.")
    with transaction.atomic():
        get_study_for(by, study.slug, right="write")
        note = Note.objects.create(study=study, item=item, judgment=judgment, text=text, by=by)
        log_action(study=study, by=by, message=f"Wrote a note on {_subject(note)}.")
    return note


def delete_note(note: Note, *, by: Any) -> None:
    """Delete a note for good: one's own, or as an owner any."""
    with transaction.atomic():
        get_study_for(by, note.study.slug, right="write")
        if note.by_id != by.pk and not is_owner(by, note.study):
            raise Refused("Only an owner can delete what somebody else has written.")
        log_action(study=note.study, by=by, message=f"Deleted a note on {_subject(note)}.")
        note.delete()


def _subject(note: Note) -> str:
    if note.judgment is None:
        return f"item {note.item.key}"
    return f"{note.judgment.rater}'s judgment of {note.item.key}"
