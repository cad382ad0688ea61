"""manage.py delete_study SLUG [--title TITLE] [--reason TEXT] [--by USERNAME]: deletes a study with all in it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.studies.deletion import delete_study


class Command(AssayCommand):
    help = "Deletes a draft or a closed study with everything in it. One with judgments asks for its title."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--title", default="", help="the study's title, as it has judgments")
        parser.add_argument("--reason", default="", help="recorded with the line that stays")
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["slug"], by, right="own")
        try:
            said = delete_study(
                study, by=by or server_account(), title=options["title"], reason=options["reason"]
            )
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(said)
        return {"deleted": options["slug"]}
