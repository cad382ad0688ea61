"""Says which of their submitted answers participants may revise until their visit ends: it holds at once."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import study_facts
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import GoingBack
from evaluation.services.history import server_account
from evaluation.services.studies.revisable import set_revisable


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("which", choices=GoingBack.values)
        add_by_argument(parser)

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        set_revisable(study, options["which"], by=by or server_account())
        self.stdout.write(f"Participants in {study.title} may revise: {study.get_going_back_display()}.")
        return study_facts(study) | {"going_back": study.going_back}
