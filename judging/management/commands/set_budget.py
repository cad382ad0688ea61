"""Set the budget that all of a study's model calls hold together, or show it, with what was spent."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.refusals import FieldsRefused
from evaluation.services.history import server_account
from judging.management.studies import amount, refusal
from judging.services.calls.budget import set_study_budget, study_budget
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import spending_of, study_spent


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("amount", nargs="?", help="the most that may be spent; none: no limit")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study, wanted = study_named(options["slug"]), options["amount"]
        if wanted is not None:
            try:
                most = None if wanted == "none" else amount(wanted)
                set_study_budget(study, most, by=server_account())
            except FieldsRefused as refused:
                raise refusal(refused.by_field) from None
        budget, spent, rows = study_budget(study), study_spent(study.pk), spending_of(study)
        limit = "no limit" if budget is None else f"of {format_amount(budget)}"
        self.stdout.write(f"{study.title}: {format_amount(spent)} spent, {limit}")
        for row in rows:
            self.stdout.write(
                f"  {row.model}, {row.purpose}: {row.calls:,} calls, {row.prompt_tokens:,} and "
                f"{row.completion_tokens:,} tokens, cost {format_amount(row.cost)}"
            )
        return {"study": study.slug, "budget": budget, "spent": spent, "spending": rows}
