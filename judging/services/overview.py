"""The judges on a study's overview: the models' cost, and the newest runs that wait for a person."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.urls import reverse

from evaluation.counting import counted
from evaluation.extension import Concern
from evaluation.models import Outcome, Progress, Study
from judging.models import RunState
from judging.selectors import runs_of
from judging.services.calls.budget import study_budget
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import study_spent
from judging.services.runs.progress import runs_progress

# The newest runs.
SHOWN = 8


def judge_figures(study: Study) -> dict[str, Any]:
    runs = list(runs_of(study)[:SHOWN])
    progress = runs_progress(runs)
    budget = study_budget(study)
    return {
        "runs": [
            {
                "run": run.pk,
                "label": f"{run.judging}, {run.judging.get_purpose_display()}",
                "reason": progress[run.pk].reason,
                "stopped": run.state == RunState.STOPPED,
                "unread": progress[run.pk].outcomes.get(Outcome.UNPARSED, 0),
                "failed": progress[run.pk].outcomes.get(Outcome.FAILED, 0),
            }
            for run in runs
        ],
        "spent_models": str(study_spent(study.pk)),
        "budget_models": None if budget is None else str(budget),
    }


def judge_needs(study: Study, progress: Progress) -> Iterator[Concern]:
    spent, budget = (progress.figures.get(key) for key in ("spent_models", "budget_models"))
    if spent and budget and Decimal(spent) >= Decimal(budget):
        yield Concern(
            f"The budget for models, {format_amount(Decimal(budget))}, is spent, and their runs stop. People's pay is "
            "not counted in it.",
            "Set the budget",
            reverse("admin:judging_judge_budget", args=[study.slug]),
            news=f"budget {budget}",
        )
    for run in progress.figures.get("runs", ()):
        page = reverse("admin:judging_run_change", args=[run["run"]])
        if run["stopped"]:
            yield Concern(
                f"{run['label']}: stopped. {run['reason']}".strip(),
                "Look at the run",
                page,
                right="view",
                news=f"stopped {run['run']}",
            )
        said = [
            counted(run[key], *words)
            for key, words in (
                ("unread", ("reply that can't be read", "replies that can't be read")),
                ("failed", ("failed call",)),
            )
            if run[key]
        ]
        if said:
            yield Concern(
                f"{run['label']}: {', '.join(said)}.",
                "Look at the run",
                page,
                right="view",
                news=f"failed {run['run']}" if run["failed"] else "",
            )
