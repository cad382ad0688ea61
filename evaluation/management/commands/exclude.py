"""Leaves a rater or one judgment out of every figure, or takes that back with --undo."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.models import Exclusion, Judgment, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude, restore
from evaluation.services.history import server_account


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--rater", metavar="PSEUDONYM")
        chosen.add_argument("--judgment", type=int, metavar="ID")
        parser.add_argument("--reason", required=True)
        parser.add_argument("--undo", action="store_true")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        chosen = self._chosen(study, options)
        if options["undo"]:
            standing = Exclusion.objects.filter(study=study, undone_at=None, **chosen).first()
            if standing is None:
                raise CommandError("There is no standing exclusion of it.")
            restore(standing, reason=options["reason"], by=server_account())
            self.stdout.write("Restored: every figure counts it again.")
            return {"study": study.slug, "exclusion": standing.pk, "excluded": False}
        try:
            made = exclude(study=study, reason=options["reason"], by=server_account(), **chosen)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write("Excluded: no figure counts it any more.")
        return {"study": study.slug, "exclusion": made.pk, "excluded": True}

    @staticmethod
    def _chosen(study: Study, options: dict[str, Any]) -> dict[str, Any]:
        if options["rater"]:
            rater = Rater.objects.filter(study=study, pseudonym=options["rater"]).first()
            if rater is None:
                raise CommandError(f"The study has no rater {options['rater']!r}.")
            return {"rater": rater}
        judgment = Judgment.objects.filter(study=study, pk=options["judgment"]).first()
        if judgment is None:
            raise CommandError(f"The study has no judgment {options['judgment']}.")
        return {"judgment": judgment}
