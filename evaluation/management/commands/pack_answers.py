"""manage.py pack_answers S: packs a study's answers anew, for reports that read others than are stored."""

from argparse import ArgumentParser
from typing import Any

from evaluation.management.base import AssayCommand
from evaluation.management.studies import study_named
from evaluation.services.packing import repack_answers


class Command(AssayCommand):
    help = "Packs a study's answers anew, where verify says that reports read others than are stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's slug.")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        self.stdout.write(f"{study.slug}: packed the answers of {repack_answers(study):,} judgments.")
