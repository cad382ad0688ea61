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
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from evaluation.services.history import server_account


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--redundancy", type=int, metavar="N", help="judgments per item from now on")
        parser.add_argument("--replace-excluded", action="store_true", help="re-collect excluded judgments")
        parser.add_argument("--reason", default="", help="for either, as the history gives it")
        parser.add_argument(
            "--recount",
            action="store_true",
            help="recount the slots in play per arm, which decide how newcomers are spread over the arms",
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        why = {"by": server_account(), "reason": options["reason"]}
        if options["redundancy"] is not None:
            try:
                change_redundancy(study, options["redundancy"], **why)
            except Refused as wrong:
                raise CommandError(str(wrong)) from None
        added = 0
        if options["replace_excluded"]:
            added = replace_excluded(study, **why)
            self.stdout.write(f"{counted(added, 'slot')} added for excluded judgments.")
        if options["recount"]:
            recount(study)
            self.stdout.write("The slots in play were recounted.")
        counts = dict(Slot.objects.filter(study=study).order_by().values_list("state").annotate(Count("pk")))
        shown = ", ".join(f"{counts.get(state, 0)} {state}" for state in SlotState.values)
        self.stdout.write(f"{study.title}: redundancy {study.redundancy}; slots {shown}.")
        slots = {state: counts.get(state, 0) for state in SlotState.values}
        return study_facts(study) | {"redundancy": study.redundancy, "slots": slots, "added": added}
