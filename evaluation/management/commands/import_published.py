"""manage.py import_published RELEASE PATH --slug S: reads published judgments in."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluation.dumps.published import RELEASES, read_release
from evaluation.dumps.release import BESIDE
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.import_command import add_import_arguments, refusal, run_import, summary, written
from evaluation.management.outcomes import study_facts
from evaluation.refusals import Refused


class Command(AssayCommand):
    help = "Reads a published release of judgments in, and says what was coerced and counted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", choices=sorted(RELEASES))
        parser.add_argument(
            "path", type=Path, nargs="+", help="the release's file or folder; several of alpaca_eval"
        )
        parser.add_argument(
            "--protocol", help="what to make of a release that can be more than one kind of study"
        )
        parser.add_argument("--questions", type=int, help="how many questions an item has (clariq)")
        parser.add_argument("--seed", type=int, help="of what is drawn, and of the study (clariq)")
        add_import_arguments(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        path, *more = options["path"]
        given = {name: options[name] for name in ("protocol", "questions", "seed")}
        try:
            source = read_release(options["release"], path, given | {BESIDE: more or None})
        except Refused as refused:
            raise refusal(refused) from None
        study = run_import(source, options, unit="item")
        self.stdout.write(summary(study))
        for title, counts in source.notes().items():
            for what, number in counts.items():
                self.stdout.write(f"{title}: {number:,} {what}")
        return study_facts(study) | {"written": written(study), "notes": source.notes()}
