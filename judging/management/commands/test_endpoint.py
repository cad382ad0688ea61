"""Tests an endpoint here and now: its models, one short call, and what the model can do."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.refusals import Refused
from evaluation.tasks import work_on_job
from judging.backends import CHAT
from judging.management.studies import endpoint_of
from judging.services.endpoints.connection_test import KINDS, begin_test, findings, last_test


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--model", default="", help="to ask; without it the models are listed")
        parser.add_argument("--kind", choices=list(KINDS), default=CHAT.key)

    def perform(self, options: dict[str, Any]) -> Outcome:
        endpoint = endpoint_of(options["name"])
        try:
            work_on_job(begin_test(endpoint, options["model"], options["kind"], by=None).pk)
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        found = last_test(endpoint).found
        if problem := found.get("problem"):
            raise CommandError(problem)
        self.stdout.write(f"{endpoint} answers.")
        if models := found.get("models"):
            self.stdout.write(f"Models: {', '.join(map(str, models))}")
        for label, answer in findings(found.get("able") or {}):
            self.stdout.write(f"{label}: {answer}")
        return {"endpoint": endpoint.name, **found}
