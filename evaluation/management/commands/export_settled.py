"""manage.py export_settled S --out PATH: the settled sets of a calibration, a JSON line per query."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.dumps.exports.settled_sets import settled_lines, settled_sets
from evaluation.dumps.exports.study_export import atomic_file
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import file_facts
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import log_copy


class Command(AssayCommand):
    help = (
        "Writes query, fragments and condition-answer-citation entries of every query that one set settles, "
        "and says how many are not settled (docs/formats.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "study", help="The study's slug: a resolver's, or one with one calibrator per query."
        )
        parser.add_argument("--out", type=Path, required=True, help="A path.")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        try:
            found = settled_sets(study)
            with atomic_file(options["out"]) as out:
                out.writelines(settled_lines(found))
        except Refused as refused:
            raise CommandError(str(refused)) from None
        log_copy(study, "settled sets, by a command")
        self.stdout.write(str(found))
        return {"study": study.slug, "queries": len(found.sets), **file_facts(options["out"])}
