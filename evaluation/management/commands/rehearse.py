"""manage.py rehearse STUDY: a copy of a draft, filled by simulated participants."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.progress import ProgressBar, add_progress_argument
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.studies.rehearsing import rehearse


class Command(AssayCommand):
    help = "Rehearses a draft: a copy is launched and filled by simulated participants (docs/admin.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the draft's slug")
        parser.add_argument("--participants", type=int, default=20)
        parser.add_argument("--hurried", type=int, default=20, help="percent of them who hurry")
        parser.add_argument("--random", type=int, default=10, help="percent of them who answer at random")
        add_progress_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        asked = {name: options[name] for name in ("participants", "hurried", "random")}
        try:
            with ProgressBar(shown=options["progress"], unit="participant") as watch:
                rehearsal, said = rehearse(study, asked, by=server_account(), watch=watch)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{rehearsal.slug}: {said}")
        return study_facts(rehearsal)
