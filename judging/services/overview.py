"""Models on a study's overview: their cost, and the runs, of judges and pipelines, that wait for a person."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse

from evaluation.counting import counted
from evaluation.extension import Concern
from evaluation.models import Outcome, Progress, Study
from judging.generation.pipelines import PIPELINES
from judging.models import Call, CallState, Run, RunState
from judging.models.run import ACTIVE
from judging.services.calls.budget import study_budget
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import study_spent

# The newest runs, and at most so many more that go on or have stopped.
SHOWN, WATCHED = 8, 50


def judge_figures(study: Study) -> dict[str, Any]:
    runs = _watched_runs(study)
    final = Call.objects.filter(run__in=runs, state=CallState.FINAL).order_by()
    counts = {
        (run, outcome): n
        for run, outcome, n in final.values("run", "outcome")
        .annotate(n=Count("pk"))
        .values_list("run", "outcome", "n")
    }
    budget = study_budget(study)
    return {
        "runs": [
            {
                "run": run.pk,
                "label": _label(run),
                "pipeline": _is_of_pipeline(run),
                "reason": run.reason_text,
                "stopped": run.state == RunState.STOPPED,
                "unread": counts.get((run.pk, Outcome.UNPARSED), 0),
                "failed": counts.get((run.pk, Outcome.FAILED), 0),
            }
            for run in runs
        ],
        "spent_models": str(study_spent(study.pk)),
        "budget_models": None if budget is None else str(budget),
    }


def _watched_runs(study: Study) -> list[Run]:
    runs = (
        Run.objects.filter(Q(judging__isnull=False) | Q(generating__isnull=False), study=study)
        .select_related("judging__judge", "generating")
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
    runs = progress.figures.get("runs", ())
    yield from _stopped(study, [run for run in runs if run["stopped"]])
    for run in runs:
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
                _page(study, run),
                right="view",
                news=f"failed {run['run']}" if run["failed"] else "",
            )


def _stopped(study: Study, runs: Sequence[Mapping[str, Any]]) -> Iterator[Concern]:
    """Each is news; those of one kind that stopped for the same reason are shown as one."""
    alike: dict[tuple[bool, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        alike.setdefault((run.get("pipeline", False), run["reason"]), []).append(run)
    for (is_pipeline, reason), group in alike.items():
        if len(group) > 1:
            lists = "admin:evaluation_study_generation" if is_pipeline else "admin:judging_run_list"
            yield Concern(
                f"{len(group)} runs stopped: {reason}" if reason else f"{len(group)} runs stopped.",
                "Look at the runs",
                reverse(lists, args=[study.slug]),
                right="view",
            )
        for run in group:
            yield Concern(
                f"{run['label']}: stopped. {reason}".strip(),
                "Look at the run",
                _page(study, run),
                right="view",
                news=f"stopped {run['run']}",
                shown=len(group) == 1,
            )


def _page(study: Study, run: Mapping[str, Any]) -> str:
    if run.get("pipeline"):
        return reverse("admin:evaluation_study_generation_run", args=[study.slug, run["run"]])
    return reverse("admin:judging_run_change", args=[run["run"]])
