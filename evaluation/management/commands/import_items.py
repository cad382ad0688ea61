"""Puts a file's items in place of those that a draft has: Assay's JSONL, or a table of any kind."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.dumps.imports.draft_items import import_items
from evaluation.dumps.tables.source import arms_of, open_source
from evaluation.dumps.tables.study_design import design_of
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.import_command import refusal
from evaluation.management.outcomes import study_facts
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.management.table_arguments import (
    add_map_argument,
    add_skip_argument,
    described,
    leave_out_rows,
    map_from,
)
from evaluation.refusals import Refused
from evaluation.services.history import server_account


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("file", type=Path)
        add_map_argument(parser, "guessed")
        parser.add_argument("--sheet", default="", help="the workbook's sheet to read")
        add_skip_argument(parser)
        parser.add_argument(
            "--replace-broken", action="store_true", help="delete first what a killed import has left behind"
        )
        add_progress_argument(parser)
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        if study.is_frozen:
            raise CommandError(f"{study.title} was launched, so its items are frozen: add_items adds some.")
        try:
            opened = open_source(
                options["file"],
                protocol=study.protocol,
                table_map=map_from(options["map"], options["by"]),
                arms=arms_of(study),
                design=design_of(study),
                sheet=options["sheet"],
            )
            for line in described(opened):
                self.stdout.write(line)
            if said := leave_out_rows(opened.source, study, options["skip_bad_rows"]):
                self.stdout.write(said)
            with ProgressBar(shown=options["progress"], unit=opened.source.unit) as watch:
                n = import_items(
                    opened.source,
                    study,
                    by=by or server_account(),
                    table_map=opened.map.as_json() if opened.map else {},
                    replace_broken=options["replace_broken"],
                    watch=watch,
                )
        except Refused as refused:
            raise refusal(refused) from None
        self.stdout.write(f"{counted(n, 'item is', 'items are')} in {study.title}.")
        return study_facts(study) | {"items": n}
