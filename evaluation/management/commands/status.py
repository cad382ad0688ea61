"""Pauses, resumes or closes a study."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.models import Study
from evaluation.refusals import WrongState
from evaluation.services import close_study, pause_study, resume_study

MOVES = {"pause": pause_study, "resume": resume_study, "close": close_study}


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("move", choices=sorted(MOVES))

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.visible().filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['slug']!r}.")
        try:
            MOVES[options["move"]](study)
        except WrongState as wrong:
            raise CommandError(str(wrong)) from None
        self.stdout.write(f"{study.title} is {study.status}.")
