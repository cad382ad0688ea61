"""Prints a paper's published figures beside those computed from its release.

The release is imported as by `import_published`, and taken back when everything is computed; `--keep` keeps it as a
study.
"""

from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from analytics.reports.common import NothingToReport
from analytics.reproduce.formats import FORMATS
from analytics.reproduce.registry import REPRODUCTIONS
from analytics.reproduce.release_input import release_input
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.import_command import refusal
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", choices=sorted(REPRODUCTIONS))
        parser.add_argument(
            "path", type=Path, nargs="+", help="the release's file or folder; several of alpaca_eval"
        )
        parser.add_argument("--format", choices=sorted(FORMATS), default="md")
        parser.add_argument(
            "--as-published",
            action="store_true",
            help="also compute the release's own reading where it differs from ours",
        )
        parser.add_argument("--keep", default="", metavar="SLUG", help="keep the release as a study")

    def perform(self, options: dict[str, Any]) -> Outcome:
        reproduction = REPRODUCTIONS[options["release"]]
        path, *beside = options["path"]
        for each in options["path"]:
            if not each.exists():
                raise CommandError(f"{each} is not there.")
        try:
            with release_input(
                reproduction.key,
                path,
                beside,
                figures=reproduction.figures,
                as_published=options["as_published"],
                keep=options["keep"],
            ) as given:
                found = reproduction.compute(given)
        except Refused as refused:
            raise refusal(refused) from None
        except NothingToReport:
            raise CommandError(
                f"{path} has no judgments of {options['release']}; docs/papers.md says which path is needed."
            ) from None
        if options["json"]:
            return {"figures": orjson.loads(FORMATS["json"](found))}
        self.stdout.write(FORMATS[options["format"]](found))
        return {}
