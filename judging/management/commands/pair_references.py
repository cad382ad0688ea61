"""manage.py pair_references S: pairs of each response with the human-written reference, in a draft."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.studies.reference_pairs import add_reference_pairs


class Command(AssayCommand):
    help = (
        "Adds to a draft a system that stands for people, whose responses are the queries' human-written references, "
        "and a pair of it with each response (docs/judges.md, Reference)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="a draft, by its slug")
        parser.add_argument(
            "--system", action="append", default=[], help="of this system alone; may be repeated"
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        try:
            added = add_reference_pairs(study, systems=options["system"])
        except Refused as cannot:
            raise CommandError(str(cannot)) from None
        self.stdout.write(f"Added {added}")
        return {"study": study.slug, "items": study.items.count()}
