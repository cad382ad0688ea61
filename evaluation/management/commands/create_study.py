"""Makes a draft from an entry of the library of forms, with its items to try or without them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.library.entries import begin_from_entry, find_entry, library
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import member_named
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("--from", dest="entry", metavar="ENTRY", help="an entry of the library")
        wanted.add_argument("--list", action="store_true", help="list the library's entries")
        parser.add_argument("--slug", default="", help="of the study; without it the entry's")
        parser.add_argument("--title", default="", help="of the study; without it the entry's")
        parser.add_argument("--owner", default="", metavar="USERNAME", help="who will own the study")
        parser.add_argument("--without-items", action="store_true", help="leave out the items to try")

    def perform(self, options: dict[str, Any]) -> Outcome:
        if options["list"]:
            entries = library().values()
            for entry in entries:
                items = counted(len(entry.items), "item")
                self.stdout.write(f"{entry.key}\n  {entry.name} ({entry.source}; {items} to try)")
            named = [{"entry": each.key, "name": each.name, "items": len(each.items)} for each in entries]
            return {"entries": named}
        try:
            entry = find_entry(options["entry"])
            study = begin_from_entry(
                entry,
                slug=options["slug"] or entry.key,
                title=options["title"],
                owner=member_named(options["owner"]),
                items=not options["without_items"],
            )
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was made."])) from None
        self.stdout.write(
            f"{study.slug} is a draft with {counted(study.items.count(), 'item')}: {study.title}"
        )
        return study_facts(study) | {"items": study.items.count()}
