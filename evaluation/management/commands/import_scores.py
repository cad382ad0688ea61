"""manage.py import_scores STUDY FILE --judge NAME: takes numbers that a script has computed as a judge's measures."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.imports.scores import COLUMNS, import_scores
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.import_command import refusal
from evaluation.management.studies import study_named
from evaluation.protocols.base import DIRECTIONS
from evaluation.refusals import Refused
from evaluation.services.scores import scores_summary


class Command(AssayCommand):
    help = (
        "Takes a table of scores (CSV, TSV, XLSX, JSON, JSONL or Parquet) as a judge's measures: a row per score, "
        f"with the columns {', '.join(COLUMNS)}. Anything wrong, and nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's slug.")
        parser.add_argument("file", type=Path)
        parser.add_argument("--judge", required=True, help="The name under which figures show who gave them.")
        parser.add_argument(
            "--name", default="", help="The measure's name, where the file has no such column."
        )
        parser.add_argument("--direction", default=DIRECTIONS[0], choices=[*DIRECTIONS, "none"])
        parser.add_argument("--low", type=float, default=None, help="The least that a score can be.")
        parser.add_argument("--high", type=float, default=None, help="The most that a score can be.")
        parser.add_argument(
            "--measures", type=Path, default=None,
            help="A JSON list of measures (name, label, subject, low, high, direction), where they differ.",
        )  # fmt: skip

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        try:
            rater = import_scores(
                study,
                options["file"],
                judge=options["judge"],
                name=options["name"],
                declared=_declared(options["measures"]),
                direction="" if options["direction"] == "none" else options["direction"],
                low=options["low"],
                high=options["high"],
            )
        except Refused as refused:
            raise refusal(refused) from None
        self.stdout.write(scores_summary(rater))
        return {"study": study.slug, "rater": rater.pseudonym, "judgments": rater.judgments.count()}


def _declared(path: Path | None) -> list[Any]:
    if path is None:
        return []
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} can't be read: {error}.") from None
    if not isinstance(found, list):
        raise CommandError(f"{path}: this must be a list of measures.")
    return found
