"""manage.py export STUDY --format FORMAT --out PATH."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.exports.study_export import export_to
from evaluation.dumps.formats import FORMATS
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import file_facts
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import log_copy


class Command(AssayCommand):
    help = "Writes a study as Assay's JSONL, or its answers as a table (docs/formats.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's slug.")
        parser.add_argument("--format", choices=list(FORMATS), default="jsonl")
        parser.add_argument(
            "--out", required=True, help="A path, or - for standard output (not for Parquet and XLSX)."
        )
        add_progress_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        study, out = study_named(options["study"]), options["out"]
        if options["json"] and out == "-":
            raise CommandError(
                "--json and the export can't both go to standard output: name a file with --out."
            )
        try:
            with ProgressBar(shown=options["progress"], unit="item") as watch:
                export_to(study, format=options["format"], path=out, watch=watch)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        log_copy(study, f"an export as {options['format']}, by a command")
        written = {} if out == "-" else file_facts(Path(out))
        return {"study": study.slug, "format": options["format"], **written}
