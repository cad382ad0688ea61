"""manage.py derive_resolver S --slug NEW: a draft in which one person settles what several calibrators made."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.studies.resolver import derive_resolver


class Command(AssayCommand):
    help = (
        "Makes a draft out of the sets that two calibrators or more gave for the same query; whoever judges it "
        "resolves them (docs/protocols/condition_calibration.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the calibrators' study, by its slug")
        parser.add_argument("--slug", default="", help="of the draft; without it the study's, and -resolving")
        parser.add_argument("--title", default="")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["study"])
        try:
            derived = derive_resolver(
                study, slug=options["slug"] or f"{study.slug}-resolving", title=options["title"]
            )
        except Refused as cannot:
            raise CommandError(str(cannot)) from None
        self.stdout.write(f"{derived} Launch it with: manage.py launch {derived.study.slug}")
        return study_facts(derived.study) | {"items": derived.study.items.count()}
