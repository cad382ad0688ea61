"""Add the judges of a paper to a study, by the models that judge."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import Refused
from judging.management.studies import endpoint_of, judge_facts
from judging.services.presets import PRESETS, ModelChoice, make_judges


class Command(AssayCommand):
    help = "Adds the judges of a paper to a study (docs/judges.md, Presets). Each can be edited until it has run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--preset", choices=list(PRESETS), required=True)
        parser.add_argument(
            "--model", action="append", default=[], metavar="ENDPOINT:MODEL", dest="models",
            help="a model that judges; may be repeated",
        )  # fmt: skip

        parser.add_argument(
            "--jury",
            default="",
            metavar="NAME",
            help="the models are members of this jury, which is one rater",
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        models = [_model(each) for each in options["models"]]
        try:
            made = make_judges(study, PRESETS[options["preset"]], models, jury=options["jury"])
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        for judge in made:
            self.stdout.write(str(judge))
        return {"study": study.slug, "judges": [judge_facts(each) for each in made]}


def _model(text: str) -> ModelChoice:
    endpoint, separator, model = text.partition(":")
    if not separator or not model.strip():
        raise CommandError(f"--model {text}: a model is ENDPOINT:MODEL.")
    return ModelChoice(endpoint_of(endpoint), model.strip())
