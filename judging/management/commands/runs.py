"""List a study's judge runs: state, calls, outcomes, tokens, money."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from judging.management.studies import study_of
from judging.selectors import runs_of
from judging.services import runs_progress


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_of(options["slug"])
        runs = list(runs_of(study))
        if not runs:
            self.stdout.write(f"No judge has run on {study.title} yet.")
        progress = runs_progress(runs)
        for run in runs:
            at = progress[run.pk]
            outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in at.outcomes.items()) or "none final"
            figures = ", in the figures" if run.rater.in_figures else ""
            self.stdout.write(
                f"{run.pk:>5}  {run.judge!s:<24} {run.purpose:<6} {run.state_text:<9} "
                f"{at.final:,} of {at.total:,} calls ({outcomes}), {at.tokens:,} tokens, cost {at.spent:.4f}{figures}"
            )
            if at.reason:
                self.stdout.write(f"       {at.reason}")
