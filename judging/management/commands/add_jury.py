"""Add a jury to a study: a judge of each persona or model, with the same settings otherwise."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused
from judging.management.commands import add_judge
from judging.management.studies import judge_facts, refusal
from judging.models import Combination
from judging.services.juries import PERSONAS, create_jury, read_persona


class Command(add_judge.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--persona", action="append", dest="personas", default=[],
            metavar="NAME=TEMPERATURE[ by MODEL[@ENDPOINT]][:TEXT]",
            help="a member; may be repeated; "
            + ", ".join(f"{each.name}={each.temperature}" for each in PERSONAS)
            + " if left out",
        )  # fmt: skip
        parser.add_argument("--combination", choices=Combination.values, default=Combination.MAJORITY)

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        try:
            personas = [read_persona(each) for each in options["personas"]] or PERSONAS
        except ValueError as problem:
            raise CommandError(f"--persona {problem}") from None
        try:
            jury = create_jury(
                study,
                name=options["name"],
                combination=options["combination"],
                personas=personas,
                **self._fields(options, None),
            )
        except FieldsRefused as refused:
            raise refusal(refused.by_field) from None
        members = list(jury.judges.order_by("pk"))
        names = ", ".join(each.name for each in members)
        self.stdout.write(f"{study.title} has the {jury}: {names}.")
        return {"study": study.slug, "jury": jury.name, "judges": [judge_facts(each) for each in members]}
