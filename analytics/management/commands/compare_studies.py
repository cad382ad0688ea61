"""Compares two studies, or two views of one: the same figures side by side with their differences."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.reports.common import NothingToReport
from analytics.reports.comparison.cache import compute_comparison
from analytics.reports.comparison.files import FORMATS
from analytics.reports.comparison.sides import ComparisonSide, Sides
from evaluation.filters import NAMES, SAVED, Filters
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused

# In the order of the refusal: the filters, then the saved view that stands for its own.
OPTIONS = (*NAMES, SAVED)


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("a", help="the first study")
        parser.add_argument(
            "b", help="the second study; differences are B less A. May be the same, in another view"
        )
        for side in ("a", "b"):
            parser.add_argument(
                f"--view-{side}",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help=f"only these judgments of {side.upper()}, as options of report say; NAME is one of "
                f"{', '.join(NAMES)}; or {SAVED}, a saved view. May be repeated",
            )
        parser.add_argument("--format", choices=sorted(FORMATS), default="md")

    def perform(self, options: dict[str, Any]) -> Outcome:
        a, b = (_side(options[side], options[f"view_{side}"]) for side in ("a", "b"))
        try:
            found = compute_comparison(Sides.of(a, b))
        except NothingToReport as nothing:
            raise CommandError(str(nothing)) from None
        if not options["json"]:
            self.stdout.write(FORMATS[options["format"]](found), ending="")
        return found


def _side(slug: str, view: Sequence[str]) -> ComparisonSide:
    study = study_named(slug)
    given: dict[str, list[str]] = {}
    for each in view:
        name, equals, value = each.partition("=")
        if name not in OPTIONS or not equals or not value:
            raise CommandError(f"{each!r} is no view: write NAME=VALUE, with a name of {', '.join(OPTIONS)}.")
        given.setdefault(name, []).append(value)
    try:
        return ComparisonSide(study, Filters.parse(study, given))
    except FieldsRefused as refused:
        raise CommandError(f"{slug}: {refused}") from None
