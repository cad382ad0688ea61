"""Make four judges of one: with and without the guideline, with and without worked examples."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused
from judging.management.studies import judge_facts, refusal
from judging.models import Judge
from judging.services.conditions import create_conditions


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("judge", help="its newest version")
        parser.add_argument(
            "--demonstrations", type=int, default=3, metavar="N", help="worked examples where there are some"
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        judge = Judge.objects.filter(study=study, name=options["judge"]).order_by("-version").first()
        if judge is None:
            raise CommandError(f"{study.title} has no judge {options['judge']!r}.")
        try:
            made = create_conditions(judge, demonstrations=options["demonstrations"])
        except FieldsRefused as refused:
            raise refusal(refused.by_field) from None
        self.stdout.write(f"{study.title} has the judges {', '.join(map(str, made))}.")
        return {"study": study.slug, "judges": [judge_facts(each) for each in made]}
