"""Lists the notes on a study's items and judgments, writes one, or deletes one for good."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import Item, Judgment, Note, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_copy
from evaluation.services.notes import add_note, delete_note


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument(
            "--item", default="", metavar="KEY", help="the notes on this item; or what --write is on"
        )
        parser.add_argument("--judgment", type=int, metavar="ID", help="a judgment of the item")
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument("--write", metavar="TEXT")
        chosen.add_argument("--delete", type=int, metavar="ID")
        add_by_argument(parser, "whose note it is; needed to write or delete one")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        is_written, is_deleted = options["write"] is not None, options["delete"] is not None
        if (is_written or is_deleted) and by is None:
            raise CommandError("A note is somebody's: say with --by whose.")
        if options["judgment"] is not None and not is_written:
            raise CommandError("--judgment says what --write is on.")
        try:
            if is_written:
                note = add_note(
                    _item(study, options), text=options["write"], by=by, judgment=_judgment(study, options)
                )
                self.stdout.write(f"Wrote note {note.pk}.")
            elif is_deleted:
                delete_note(_note(study, options["delete"]), by=by)
                self.stdout.write(f"Deleted note {options['delete']}.")
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        log_copy(study, "notes, by a command", by=by)
        notes = study.notes.select_related("item", "by").defer("item__stimulus").order_by("-pk")
        if options["item"]:
            notes = notes.filter(item__key=options["item"])
        for each in notes:
            self.stdout.write(f"{each.pk}  {each.item.key}  {each.by or ''}  {each.text}")
        return {"study": study.slug, "notes": [_facts(each) for each in notes]}


def _note(study: Study, pk: int) -> Note:
    note = study.notes.select_related("study", "item", "judgment__rater").filter(pk=pk).first()
    if note is None:
        raise CommandError(f"{study.title} has no note {pk}.")
    return note


def _item(study: Study, options: dict[str, Any]) -> Item:
    if not options["item"]:
        raise CommandError("Say with --item what the note is on.")
    item = study.items.select_related("study").filter(key=options["item"]).first()
    if item is None:
        raise CommandError(f"{study.title} has no item {options['item']!r}.")
    return item


def _judgment(study: Study, options: dict[str, Any]) -> Judgment | None:
    if options["judgment"] is None:
        return None
    judgment = study.judgments.filter(pk=options["judgment"], item__key=options["item"]).first()
    if judgment is None:
        raise CommandError(f"{options['item']} has no judgment {options['judgment']}.")
    return judgment


def _facts(note: Note) -> dict[str, Any]:
    by = str(note.by or "")
    return {
        "id": note.pk,
        "item": note.item.key,
        "judgment": note.judgment_id,
        "text": note.text,
        "by": by,
        "at": note.at,
    }
