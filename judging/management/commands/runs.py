"""List the runs of a study's judges and pipelines: state, calls, outcomes, tokens, money."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from judging.management.studies import run_facts
from judging.models import Run, WorkKind
from judging.selectors import runs_of
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import exact_sum
from judging.services.groups.run_groups import groups_of
from judging.services.runs.progress import runs_progress


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        of_pipelines = Run.objects.filter(study=study, generating__isnull=False).select_related("generating")
        runs = [*runs_of(study), *of_pipelines.order_by("-pk")]
        if not runs:
            self.stdout.write(f"No judge or pipeline has run on {study.title} yet.")
        progress = runs_progress(runs)
        groups: dict[int | None, Any] = {group.pk: group for group in groups_of(study)}
        for run in runs:
            if group := groups.pop(run.group_id, None):
                budget = "" if group.budget is None else f" of a budget of {format_amount(group.budget)}"
                spent = format_amount(exact_sum(group.spent))
                self.stdout.write(f"{group.runs_n} judges together: {spent} spent{budget}")
            at = progress[run.pk]
            outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in at.outcomes.items()) or "none final"
            judging = None if run.work == WorkKind.GENERATION else run.judging
            what, purpose = (run.generating, "pipeline") if judging is None else (judging, judging.purpose)
            figures = ", in the figures" if judging and judging.rater.in_figures else ""
            self.stdout.write(
                f"{run.pk:>5}  {what!s:<24} {purpose:<8} {run.state_text:<9} "
                f"{at.final:,} of {at.total:,} calls ({outcomes}), {at.tokens:,} tokens, cost {at.spent:.4f}{figures}"
            )
            for line in (at.reason, at.held_back):
                if line:
                    self.stdout.write(f"       {line}")
        return {"study": study.slug, "runs": [run_facts(run) for run in runs]}
