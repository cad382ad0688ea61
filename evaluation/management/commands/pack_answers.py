"""manage.py pack_answers S: packs a study's answers anew, for reports that read others than are stored."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.models import Study
from evaluation.services.packing import repack_answers


class Command(BaseCommand):
    help = "Packs a study's answers anew, where verify says that reports read others than are stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's slug.")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.visible().filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        self.stdout.write(f"{study.slug}: packed the answers of {repack_answers(study):,} judgments.")
