"""manage.py import_study FILE --slug S: reads an Assay dump in."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from evaluation.dumps import FileSource
from evaluation.management.import_command import add_import_arguments, refusal, run_import, summary
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import Refused


class Command(BaseCommand):
    help = "Reads a study from Assay's JSONL (docs/formats.md). Anything wrong, and nothing is imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--protocol", default="", choices=sorted(PROTOCOLS), help="By default what the file says."
        )
        add_import_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            source = FileSource(options["file"])
        except Refused as refused:
            raise refusal(refused) from None
        study = run_import(source, options, unit="B", protocol=options["protocol"])
        self.stdout.write(summary(study))
