"""manage.py import_study FILE --slug S: reads a study from Assay's JSONL, or from a table of any kind."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.tables.source import open_source
from evaluation.extension import extensions
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.import_command import add_import_arguments, refusal, run_import, summary, written
from evaluation.management.outcomes import study_facts
from evaluation.management.table_arguments import (
    add_map_argument,
    add_skip_argument,
    described,
    drops_texts,
    leave_out_rows,
    leaves_rows,
    map_from,
)
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import Refused
from evaluation.services.table_maps import keep_table_map


class Command(AssayCommand):
    help = (
        "Reads a study from Assay's JSONL, or its items from CSV, TSV, XLSX, JSON, JSONL, Parquet or the folder of a "
        "data set, whose columns it guesses (docs/formats.md). Anything wrong, and nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--protocol", default="", choices=sorted(PROTOCOLS), help="By default what the file says."
        )
        add_map_argument(parser, "guessed")
        parser.add_argument("--save-map", type=Path, help="Where to write the map that was used.")
        parser.add_argument(
            "--sheet", default="", help="The workbook's sheet, or the data set's split, to read."
        )
        add_skip_argument(parser)
        parser.add_argument(
            "--yes", action="store_true", help="Don't ask about columns of texts or votes that are not used."
        )
        add_import_arguments(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        for kind in [file for each in extensions() for file in each.study_files().values()]:
            if options["file"].is_file() and kind.tells(options["file"]):
                raise CommandError(f"{options['file']} is {kind.name}. Open it with: {kind.command}")
        try:
            opened = open_source(
                options["file"],
                protocol=options["protocol"],
                table_map=map_from(options["map"], options["owner"]),
                sheet=options["sheet"],
            )
        except Refused as refused:
            raise refusal(refused) from None
        for line in described(opened):
            self.stdout.write(line)
        if opened.map is not None and options["save_map"]:
            options["save_map"].write_text(
                json.dumps(opened.map.as_json(), ensure_ascii=False, indent=1) + "\n", "utf-8"
            )
        # Scripts have nobody to ask; what is not used was printed.
        asks = drops_texts(opened) and not options["yes"] and sys.stdin.isatty()
        if asks and not self.confirmed("Import it without these texts?"):
            self.stdout.write("Nothing was imported.")
            return {"study": None}
        try:
            if said := leave_out_rows(opened.source, None, options["skip_bad_rows"]):
                self.stdout.write(said)
        except Refused as refused:
            raise refusal(refused) from None
        unit = "B" if opened.sheet is None else opened.source.unit
        try:
            study = run_import(opened.source, options, unit=unit, protocol=options["protocol"])
        except CommandError as refused:
            of_a_row = opened.sheet is not None and str(refused).startswith(f"{opened.sheet.unit} ")
            if not of_a_row or not leaves_rows(opened.source, None):
                raise
            hint = "--skip-bad-rows FILE imports the others, and writes these to the file."
            raise CommandError(f"{refused}\n{hint}") from None
        if opened.map is not None:
            keep_table_map(study, opened.map.as_json())
        self.stdout.write(summary(study))
        return study_facts(study) | {"written": written(study)}
