"""Show a study's places for judgments; change their number per item; add places for excluded judgments; count each
arm's slots again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Count

from annotator.models import Slot, SlotState
from annotator.services.slots.in_play import recount
from annotator.services.slots.redundancy import change_redundancy
from annotator.services.slots.replacements import replace_excluded
from evaluation.counting import counted
from evaluation.management.base import AssayCommand
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--redundancy", type=int, metavar="N", help="judgments per item from now on")
        parser.add_argument("--replace-excluded", action="store_true", help="re-collect excluded judgments")

        parser.add_argument(
            "--recount",
            action="store_true",
            help="recount the slots in play per arm, which decide how newcomers are spread over the arms",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["slug"])
        if options["redundancy"] is not None:
            try:
                change_redundancy(study, options["redundancy"], by=server_account())
            except Refused as wrong:
                raise CommandError(str(wrong)) from None
        if options["replace_excluded"]:
            n = replace_excluded(study, by=server_account())
            self.stdout.write(f"{counted(n, 'slot')} added for excluded judgments.")
        if options["recount"]:
            recount(study)
            self.stdout.write("The slots in play were recounted.")
        counts = dict(Slot.objects.filter(study=study).order_by().values_list("state").annotate(Count("pk")))
        shown = ", ".join(f"{counts.get(state, 0)} {state}" for state in SlotState.values)
        self.stdout.write(f"{study.title}: redundancy {study.redundancy}; slots {shown}.")
