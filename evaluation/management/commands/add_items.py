"""Adds items to a study that is live or paused, as a revision of their own; shows what they come to first."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.imports.new_system import AGAINST, NewSystemSource
from evaluation.dumps.lines import FileSource
from evaluation.dumps.tables.addition import open_addition
from evaluation.dumps.tables.source import Opened
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.management.table_arguments import (
    add_map_argument,
    add_skip_argument,
    described,
    leave_out_rows,
    map_from,
)
from evaluation.models import Study
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("file", type=Path, help="items, or with --system its responses (docs/formats.md)")
        add_map_argument(parser, "the study's, or a guess")
        add_skip_argument(parser)
        parser.add_argument(
            "--system", default="", metavar="NAME", help="the file holds responses of this new system"
        )
        parser.add_argument("--label", default="", help="how reports call the system")
        parser.add_argument("--family", default="", help="the system's family")
        parser.add_argument(
            "--against", choices=AGAINST, default="all", help="whom it is compared with (all)"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be added and write nothing"
        )
        parser.add_argument("--yes", action="store_true", help="don't ask for confirmation")
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        try:
            opened = _opened(study, options)
            for line in described(opened):
                self.stdout.write(line)
            source = opened.source
            if said := leave_out_rows(source, study, options["skip_bad_rows"]):
                self.stdout.write(said)
            for sentence in preview_items(source, study).sentences():
                self.stdout.write(sentence)
            if options["dry_run"]:
                self.stdout.write("Nothing was added.")
                return study_facts(study) | {"revision": None}
            if not options["yes"] and sys.stdin.isatty() and not self.confirmed("Add them?"):
                self.stdout.write("Nothing was added.")
                return study_facts(study) | {"revision": None}
            addition, revision = add_items(source, study, by=by)
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was added."])) from None
        self.stdout.write(f"{addition.done(revision.number)} Its hash: {revision.hash[:12]}")
        return study_facts(study) | {"revision": revision.number, "hash": revision.hash}


def _opened(study: Study, options: dict[str, Any]) -> Opened:
    if not options["system"]:
        table_map = map_from(options["map"], options["by"])
        return open_addition(options["file"], study, table_map=table_map)
    names = {name: options[name] for name in ("system", "against", "label", "family")}
    return Opened(NewSystemSource(FileSource(options["file"]), study, **names))
