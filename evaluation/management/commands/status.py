"""Pauses, resumes, closes, reopens or archives a study."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.studies.launch import (
    archive_study,
    close_study,
    pause_study,
    reopen_study,
    resume_study,
    unarchive_study,
)

MOVES = {
    "archive": archive_study,
    "close": close_study,
    "pause": pause_study,
    "reopen": reopen_study,
    "resume": resume_study,
    "unarchive": unarchive_study,
}


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("move", choices=sorted(MOVES))
        parser.add_argument("--reason", default="", help="as the history gives it")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        try:
            MOVES[options["move"]](study, by=server_account(), reason=options["reason"])
        except Refused as wrong:
            raise CommandError(str(wrong)) from None
        aside = ", archived" if study.archived_at else ""
        self.stdout.write(f"{study.title} is {study.status}{aside}.")
        return study_facts(study)
