"""Print the map of a composite judge's latest complete run as JSON: its member by category, and how well it agrees."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from judging.models import Judge
from judging.services.derived.composite import latest_map


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name", help="the judge")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        judge = Judge.objects.filter(study=study, name=options["name"]).order_by("-version").first()
        found = latest_map(judge) if judge else None
        if found is None:
            raise CommandError(f"{options['name']} has no map: it is no composite judge with a complete run.")
        if not options["json"]:
            self.stdout.write(json.dumps(found, indent=2, ensure_ascii=False))
        return found
