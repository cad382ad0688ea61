"""A judge's next run on a study that items were added to: the complete one goes on, with what it has not judged."""

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from evaluation.models import Item, Study
from judging.models import Call, Judge, Purpose, Run, RunGroup, RunState
from judging.services.calls.judged_items import judged_items
from judging.services.calls.workload import workload_of
from judging.services.derived import derivation_of
from judging.services.endpoints.prices import prices_of
from judging.services.runs.lifecycle import move_run


def extendable_run(study: Study, judge: Judge) -> Run | None:
    """The judge's latest complete main run over all items, if it was this version, asked in today's words, and items
    have come in since. One that is derived from others is made anew."""
    if derivation_of(judge) is not None:
        return None
    runs = Run.objects.filter(
        study=study,
        judging__judge__name=judge.name,
        judging__purpose=Purpose.MAIN,
        state=RunState.COMPLETE,
    )
    run = runs.select_related("judging__revision").order_by("-pk").first()
    if run is None or run.judging.judge_id != judge.pk or run.judging.max_items is not None:
        return None
    latest = study.revisions.order_by("-number").values_list("spec_hash", flat=True).first()
    if run.judging.revision.spec_hash != latest or not waiting_items(run).exists():
        return None
    return run


def waiting_items(run: Run) -> QuerySet[Item]:
    """The study's items that the run has no call on."""
    return judged_items(run.study).exclude(Exists(Call.objects.filter(run=run.pk, item=OuterRef("pk"))))


def extend_run(
    run: Run, *, budget: Decimal | None, in_flight: int | None, by_batch: bool, group: RunGroup | None
) -> Run:
    """Open a complete run again for the items that it has no call on; the budget is for these alone.

    Its rater stays the same, and what it has judged stays judged.
    """
    first = waiting_items(run).values_list("pk", flat=True)[0]
    price_prompt, price_completion = prices_of(run.judging.judge, by_batch=by_batch)
    changes: dict[str, Any] = {
        "last_subject": first - 1,
        "budget": None if budget is None else run.spent + budget,
        "in_flight": in_flight,
        "by_batch": by_batch,
        "group": group,
        "price_prompt": price_prompt,
        "price_completion": price_completion,
        "reason": "",
    }
    with transaction.atomic():
        move_run(run, (RunState.COMPLETE,), RunState.PENDING, **changes)
        workload_of(run).follow_state(run)
    return run
