"""manage.py delete_rehearsal STUDY: deletes a draft's rehearsal with everything in it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.studies.rehearsals import delete_rehearsal, rehearsal_of


class Command(AssayCommand):
    help = (
        "Deletes a rehearsal, named by its slug or by its draft's, with everything that was simulated in it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the rehearsal, or the draft that was rehearsed, by its slug")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        rehearsal = study if study.is_rehearsal else rehearsal_of(study)
        if rehearsal is None:
            raise CommandError(f"{study.title} has no rehearsal, and is none.")
        slug = rehearsal.slug
        try:
            delete_rehearsal(rehearsal, by=server_account())
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{rehearsal.title} was deleted.")
        return {"deleted": slug}
