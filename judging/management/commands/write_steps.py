"""Have a judge's model write its evaluation steps from its criteria; a judge that has run becomes a new version."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from judging.management.studies import judge_facts
from judging.models import Judge
from judging.services.evaluation_steps import write_steps


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name", help="name of a judge")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        judge = Judge.objects.filter(study=study, name=options["name"]).order_by("-version").first()
        if judge is None:
            raise CommandError(f"{study.title} has no judge {options['name']}.")
        try:
            written = write_steps(judge)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{written} has these evaluation steps:")
        for number, step in enumerate(written.options["steps"], 1):
            self.stdout.write(f"  {number}. {step}")
        return {"study": study.slug, **judge_facts(written), "steps": written.options["steps"]}
