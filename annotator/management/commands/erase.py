"""Erases a participant with every copy of what they gave: `manage.py erase STUDY PSEUDONYM --reason WHY`."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotator.models import Participant
from annotator.services.erasing import ErasurePlan, erase_participant, plan_erasure
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import Refused

MENTIONS = "Words of others that name them, to be looked at by you:"


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's slug")
        parser.add_argument("pseudonym", help="of whom to erase, as the study's participants are listed")
        parser.add_argument("--reason", default="", help="for the study's history; without the person's name")
        slots = parser.add_mutually_exclusive_group()
        slots.add_argument(
            "--deal-again", action="store_true", default=None, help="the slots of their judgments open again"
        )
        slots.add_argument(
            "--retire",
            action="store_false",
            dest="deal_again",
            help="the slots of their judgments are retired",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what it would come to, and erase nothing"
        )
        add_by_argument(parser, "on behalf of this member, who must own the study")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by, right="own")
        people = Participant.objects.filter(study=study, rater__pseudonym=options["pseudonym"])
        participant = people.select_related("study", "rater").first()
        if participant is None:
            raise CommandError(f"The study has no participant {options['pseudonym']!r}.")
        plan = plan_erasure(participant, by=by)
        if options["dry_run"]:
            self._show(plan)
            return _facts(plan, erased=False)
        try:
            said = erase_participant(
                participant,
                by=by,
                reason=options["reason"],
                typed=options["pseudonym"],
                deal_again=options["deal_again"],
            )
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        self.stdout.write(said)
        self._list(MENTIONS, plan.mentions)
        self._list("Out of reach:", plan.out_of_reach)
        return _facts(plan, erased=True)

    def _show(self, plan: ErasurePlan) -> None:
        self._list("Erased:", plan.goes)
        self._list("Copies:", plan.copies)
        self._list("Kept:", plan.stays)
        self._list(MENTIONS, plan.mentions)
        self._list("Out of reach:", plan.out_of_reach)
        self._list("Not possible now:", plan.problems)

    def _list(self, title: str, sentences: list[str]) -> None:
        if sentences:
            self.stdout.write("\n".join([title, *(f"- {each}" for each in sentences)]))


def _facts(plan: ErasurePlan, *, erased: bool) -> Outcome:
    names = ("goes", "copies", "stays", "mentions", "out_of_reach", "problems")
    return {"erased": erased} | {name: getattr(plan, name) for name in names}
