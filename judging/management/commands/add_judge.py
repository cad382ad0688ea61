"""Add a judge to a study: a model at an endpoint, and how it is asked. One that is there becomes a new version."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused
from judging.backends import BACKENDS
from judging.management.studies import endpoint_of, given, judge_facts, refusal
from judging.models import Judge, Orders, Rationale, SelfPreference, Verdict
from judging.services.judges import create_judge, edit_judge

SETTINGS = (
    "backend", "model", "temperature", "max_tokens", "verdict", "rationale", "orders", "samples", "self_preference",
    "own_system", "own_family", "reference_from",
)  # fmt: skip


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name")
        parser.add_argument("--backend", choices=list(BACKENDS))
        parser.add_argument("--endpoint", help="name of an endpoint")
        parser.add_argument("--model", help="the model's name at the endpoint")
        parser.add_argument("--temperature", type=float)
        parser.add_argument("--max-tokens", type=int)
        parser.add_argument("--extra", help="further parameters of the request, as JSON")
        parser.add_argument(
            "--questions", help="keys of the questions to ask, with commas; all but texts if left out"
        )
        parser.add_argument("--verdict", choices=Verdict.values)
        parser.add_argument("--rationale", choices=Rationale.values)
        parser.add_argument("--with-reference", action="store_true", default=None, help="show the reference")
        parser.add_argument(
            "--reference-from",
            help="key of the system whose responses are the references, instead of people's",
        )
        parser.add_argument("--one-call-per-question", action="store_true", default=None)
        parser.add_argument("--template", metavar="FILE", help="a prompt instead of the derived one")
        parser.add_argument("--orders", choices=Orders.values)
        parser.add_argument("--samples", type=int)
        parser.add_argument("--self-preference", choices=SelfPreference.values)
        parser.add_argument("--own-system", help="key of the system that is this judge's own model")
        parser.add_argument("--own-family")
        parser.add_argument(
            "--set", action="append", metavar="OPTION=VALUE", dest="options", default=[],
            help="an option of this kind of judge: JSON, or text as it stands; may be repeated",
        )  # fmt: skip
        parser.add_argument("--price-prompt", help="per million tokens")
        parser.add_argument("--price-completion", help="per million tokens")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        existing = Judge.objects.filter(study=study, name=options["name"]).order_by("-version").first()
        fields = self._fields(options, existing)
        try:
            if existing is None:
                judge = create_judge(study, name=options["name"], **fields)
            else:
                judge = edit_judge(existing, **fields)
        except FieldsRefused as refused:
            raise refusal(refused.by_field) from None
        self.stdout.write(f"{study.title} has the judge {judge}.")
        return {"study": study.slug, **judge_facts(judge)}

    def _fields(self, options: dict[str, Any], existing: Judge | None) -> dict[str, Any]:
        fields = given(options, *SETTINGS, "with_reference", "one_call_per_question")
        if options["endpoint"]:
            fields["endpoint"] = endpoint_of(options["endpoint"])
        if options["extra"] is not None:
            try:
                fields["extra"] = json.loads(options["extra"])
            except ValueError:
                raise CommandError("--extra is not JSON.") from None
        if options["questions"] is not None:
            fields["questions"] = [key.strip() for key in options["questions"].split(",") if key.strip()]
        if options["template"] is not None:
            try:
                with open(options["template"], encoding="utf-8") as file:
                    fields["template"] = file.read()
            except OSError as error:
                raise CommandError(f"{options['template']}: {error.strerror}.") from None
        if options["options"]:
            same = existing is not None and fields.get("backend", existing.backend) == existing.backend
            before = existing.options if existing is not None and same else {}
            fields["options"] = {**before, **dict(map(_option, options["options"]))}
        for name in ("price_prompt", "price_completion"):
            if options[name] is not None:
                fields[name] = _money(options[name])
        return fields


def _option(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise CommandError(f"--set {text}: an option is NAME=VALUE.")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def _money(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"{text!r} is not a price.") from None
