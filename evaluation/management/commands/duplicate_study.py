"""Copies a study as a draft: its settings, its items, its judges; never its judgments or its people."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import Refused
from evaluation.services.studies.duplication import (
    ALONG,
    EXTENTS,
    USUALLY_ALONG,
    duplicate_study,
    what_came_along,
)


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument(
            "--copy", choices=list(EXTENTS), default="items",
            help="settings alone, with items (the default), or with items and judges",
        )  # fmt: skip
        parser.add_argument(
            "--along", nargs="*", choices=ALONG, default=list(USUALLY_ALONG),
            help="what comes along of its recruitment (by default platform and eligibility); none without a word",
        )  # fmt: skip
        parser.add_argument("--slug", default="", help="of the copy; without it the study's, and -copy")
        parser.add_argument("--title", default="")
        add_by_argument(parser, "who will own the copy; with no more than their rights")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        items, judges = EXTENTS[options["copy"]]
        try:
            copy = duplicate_study(
                study,
                by=by,
                items=items,
                judges=judges,
                along=options["along"],
                title=options["title"],
                slug=options["slug"],
            )
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was copied."])) from None
        self.stdout.write(f"{copy.slug} is a draft with {counted(copy.items.count(), 'item')}: {copy.title}")
        self.stdout.write(what_came_along(copy))
        return study_facts(copy) | {"items": copy.items.count()}
