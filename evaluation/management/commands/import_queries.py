"""Reads queries from a table into a draft, which is made if there is none: what pipelines start from."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from evaluation.dumps.imports.queries import add_queries, read_queries
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.import_command import refusal
from evaluation.management.outcomes import study_facts
from evaluation.management.table_arguments import add_map_argument, map_from
from evaluation.models import Arm, Study
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import Refused
from evaluation.services.studies.creation import PAPER_ARMS, create_study


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--slug", required=True)
        parser.add_argument(
            "--protocol", default="pairwise", choices=sorted(PROTOCOLS), help="of a new draft"
        )
        parser.add_argument("--title", default="", help="of a new draft; by default the slug")
        parser.add_argument("--owner", default="", help="User name of who will own a new draft.")
        add_map_argument(parser, "guessed")
        parser.add_argument("--sheet", default="", help="The workbook's sheet, or the data set's split.")

    def perform(self, options: dict[str, Any]) -> Outcome:
        try:
            table_map = map_from(options["map"], options["owner"])
            records, described = read_queries(options["file"], sheet=options["sheet"], table_map=table_map)
            with transaction.atomic():
                study = Study.objects.visible().filter(slug=options["slug"]).first() or _draft(options)
                added = add_queries(study, records, file_name=options["file"].name)
        except Refused as refused:
            raise refusal(refused) from None
        for line in described:
            self.stdout.write(line)
        self.stdout.write(f"{study.slug}: {added} In all: {study.queries.count():,}.")
        return study_facts(study) | {"queries": study.queries.count()}


def _draft(options: dict[str, Any]) -> Study:
    owner = None
    if options["owner"]:
        owner = get_user_model().objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user {options['owner']!r}.")
    try:
        study = create_study(
            slug=options["slug"], title=options["title"] or options["slug"], protocol=options["protocol"],
            owner=owner,
        )  # fmt: skip
    except ValidationError as invalid:
        raise Refused(*invalid.messages) from None
    Arm.objects.create(study=study, **PAPER_ARMS[0])
    return study
