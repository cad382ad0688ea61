"""Models on a study's overview: their cost, and the runs, of judges and pipelines, that wait for a person."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Q
from django.urls import reverse

from evaluation.counting import counted
from evaluation.extension import Concern
from evaluation.models import Outcome, Progress, Study
from judging.generation.pipelines import PIPELINES
from judging.models import Run, RunState
from judging.models.run import ACTIVE
from judging.services.calls.budget import study_budget
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import study_spent
from judging.services.runs.progress import runs_progress

# The newest runs, and at most so many more that go on or have stopped.
SHOWN, WATCHED = 8, 50


def judge_figures(study: Study) -> dict[str, Any]:
    runs = _watched_runs(study)
    progress = runs_progress(runs)
    budget = study_budget(study)
    return {
        "runs": [
            {
                "run": run.pk,
                "label": _label(run),
                "pipeline": _is_of_pipeline(run),
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


def _watched_runs(study: Study) -> list[Run]:
    runs = (
        Run.objects.filter(Q(judging__isnull=False) | Q(generating__isnull=False), study=study)
        .select_related("judging__judge__endpoint", "judging__rater", "generating", "study")
        .order_by("-pk")
    )
    newest = list(runs[:SHOWN])
    unfinished = runs.filter(state__in=(*ACTIVE, RunState.STOPPED)).exclude(pk__in=[run.pk for run in newest])
    return newest + list(unfinished[:WATCHED])


def _is_of_pipeline(run: Run) -> bool:
    return hasattr(run, "generating")


def _label(run: Run) -> str:
    if not _is_of_pipeline(run):
        return f"{run.judging}, {run.judging.get_purpose_display()}"
    key = run.generating.pipeline
    return f"{PIPELINES[key].label if key in PIPELINES else key}, pipeline"


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
        page = (
            reverse("admin:evaluation_study_generation_run", args=[study.slug, run["run"]])
            if run.get("pipeline")
            else reverse("admin:judging_run_change", args=[run["run"]])
        )
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
