"""manage.py export_bundle STUDY FILE.zip."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.reports.bundle.writing import export_bundle
from analytics.reports.common import TIES
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import file_facts
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.management.studies import study_to_write
from evaluation.refusals import Refused
from evaluation.services.history import log_copy


class Command(AssayCommand):
    help = "Writes a study with its figures as one archive that `replicate` reads (docs/replication.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="The study's slug.")
        parser.add_argument("file", type=Path, help="The archive to write.")
        parser.add_argument(
            "--ties",
            choices=TIES,
            default="half",
            help="How a tie counts in expected win rates (default: half).",
        )
        add_progress_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        study, path = study_to_write(options["study"]), options["file"]
        try:
            with ProgressBar(shown=options["progress"], unit="file") as watch:
                export_bundle(study, path, ties=options["ties"], watch=watch)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        log_copy(study, "a bundle, by a command")
        self.stderr.write(f"{path}: {path.stat().st_size:,} bytes")
        return {"study": study.slug, **file_facts(path)}
