"""Runs of several judges that are started together, all or none, and share a budget."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, DecimalField, QuerySet, Sum
from django.db.models.functions import Coalesce

from evaluation.models import Study
from evaluation.refusals import Refused, WrongState
from judging.models import ACTIVE, Judge, Purpose, Run, RunGroup, RunState
from judging.services.calls.budget import require_budget
from judging.services.calls.costs import ZERO
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import resume_run

# Runs over a study's items; revisions are asked for by participants, of one judge at a time.
GROUPED = (Purpose.MAIN, Purpose.TRIAL, Purpose.ANCHOR)
UNFINISHED = (*ACTIVE, RunState.PAUSED, RunState.STOPPED)


def start_runs(
    study: Study,
    judges: Sequence[Judge],
    *,
    user: Any = None,
    purpose: str = Purpose.MAIN,
    budget: Decimal | None = None,
    max_items: int | None = None,
    in_flight: int | None = None,
    by_batch: bool = False,
) -> RunGroup:
    """A run of each judge, or none: Refused with every reason, after the judge's name.

    As batches, those that ask no model answer at once all the same.
    """
    problems = group_problems(judges)
    if purpose not in GROUPED:
        problems.append("Several judges are run over the items: main, trial or anchor.")
    if problems:
        raise Refused(*problems)
    if budget is not None:
        require_budget(budget, "budget")
    with transaction.atomic():
        group = RunGroup.objects.create(study=study, budget=budget, created_by=user)
        for judge in judges:
            try:
                start_run(
                    study,
                    judge,
                    user=user,
                    purpose=purpose,
                    max_items=max_items,
                    in_flight=in_flight,
                    by_batch=by_batch and judge.asks_model,
                    group=group,
                )
            except Refused as refused:
                problems += [f"{judge}: {problem}" for problem in refused.problems]
        if problems:
            raise Refused(*problems)
    return group


def group_problems(judges: Sequence[Judge]) -> list[str]:
    """Why these judges are no group, whatever each of them could do by itself."""
    if len(judges) < 2:
        return ["Choose at least two judges."]
    if len({judge.pk for judge in judges}) < len(judges):
        return ["Choose each judge once."]
    return []


def unfinished_group(study: Study, judges: Sequence[Judge], purpose: str) -> RunGroup | None:
    """The latest group of these very judges and this purpose of which a run is unfinished."""
    wanted = {judge.pk for judge in judges}
    runs = Run.objects.filter(group__study=study, judging__purpose=purpose, state__in=UNFINISHED)
    for group in RunGroup.objects.filter(pk__in=runs.values("group")).order_by("-pk"):
        if set(group.runs.values_list("judging__judge", flat=True)) == wanted:
            return group
    return None


def set_group_budget(group: RunGroup, budget: Decimal | None) -> list[Run]:
    """Set the most that a group's runs may cost together; None: no limit.

    More money resumes the runs that its lack has stopped; they are returned, for whoever wants them worked on to queue.
    """
    if budget is not None:
        require_budget(budget, "budget")
    with transaction.atomic():
        locked = RunGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
        before, locked.budget = locked.budget, budget
        locked.save(update_fields=["budget"])
    group.budget = budget
    if before is None or (budget is not None and budget <= before):
        return []
    # Behind the group's own transaction: who reserves or stops locks the run before the group.
    resumed = []
    for run in group.runs.filter(state=RunState.STOPPED, stopped_by_group=True).order_by("pk"):
        try:
            resume_run(run)
        except WrongState:  # somebody else was faster
            continue
        resumed.append(run)
    return resumed


def groups_of(study: Study) -> QuerySet[RunGroup]:
    """A study's groups, newest first, with the number of their runs and what these have spent."""
    groups = RunGroup.objects.filter(study=study).order_by("-pk")
    money = DecimalField(max_digits=14, decimal_places=8)
    return groups.annotate(runs_n=Count("runs"), spent=Coalesce(Sum("runs__spent"), ZERO, output_field=money))
