"""Anchor runs on a schedule: the same version of a judge on the same items, past the cache, by itself."""

import logging
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.history import log_action, server_account
from judging.models import ACTIVE, AnchorSchedule, Judge, Purpose, Run, RunState
from judging.services.calls.budget import study_budget
from judging.services.calls.costs import format_amount
from judging.services.calls.ledger import study_spent
from judging.services.estimates.run_estimate import estimate
from judging.services.runs.judge_runs import batch_refusals, start_run

logger = logging.getLogger(__name__)
# One that could not start is tried again after a day, however rare it is.
AGAIN = timedelta(days=1)


def set_anchors(judge: Judge, *, user: Any = None, **fields: Any) -> AnchorSchedule:
    """Give a version of a judge its schedule, or change it; the first run is due at once, the next as it says.

    `user` is the member who asks, None whoever runs the server.
    """
    schedule = AnchorSchedule.objects.filter(judge=judge).first() or AnchorSchedule(
        judge=judge, created_by=user
    )
    for name, value in fields.items():
        setattr(schedule, name, value)
    problems: dict[str, list[str]] = {}
    try:
        schedule.full_clean(exclude=["judge", "created_by"])
    except ValidationError as invalid:
        problems |= invalid.message_dict
    if schedule.budget is not None and schedule.budget <= 0:
        problems["budget"] = ["A budget must be more than zero."]
    if not judge.asks_model:
        problems[""] = ["Only a judge that asks a model can drift."]
    elif schedule.by_batch and (refused := batch_refusals(judge)):
        problems["by_batch"] = refused
    if problems:
        raise FieldsRefused(problems)
    schedule.problem = ""
    with transaction.atomic():
        schedule.save()
        said = f"Anchor runs of {judge}: {schedule}."
        log_action(study=judge.study, by=user or server_account(), message=said)
    return schedule


def stop_anchors(judge: Judge, *, user: Any = None) -> bool:
    """End a judge's schedule; its runs stay. False if it had none."""
    with transaction.atomic():
        deleted, _ = AnchorSchedule.objects.filter(judge=judge).delete()
        if deleted:
            said = f"Ended the anchor runs of {judge}."
            log_action(study=judge.study, by=user or server_account(), message=said)
    return bool(deleted)


def start_due_anchors() -> list[Run]:
    """Start the anchor runs that are due. One that can't start says why on its schedule, and is tried again."""
    due = AnchorSchedule.objects.filter(next_at__lte=timezone.now()).order_by("pk")
    started = [_start(pk) for pk in due.values_list("pk", flat=True)]
    return [run for run in started if run is not None]


def _start(pk: int) -> Run | None:
    """Start one, unless another process has meanwhile."""
    with transaction.atomic():
        rows = AnchorSchedule.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
        schedule = rows.select_related("judge__study", "judge__endpoint__trusted_by").filter(pk=pk).first()
        now = timezone.now()
        if schedule is None or schedule.next_at > now:
            return None
        judge, run = schedule.judge, None
        try:
            _require_room(schedule)
            with transaction.atomic():
                run = start_run(
                    judge.study,
                    judge,
                    user=schedule.created_by,
                    purpose=Purpose.ANCHOR,
                    budget=schedule.budget,
                    max_items=schedule.max_items,
                    by_batch=schedule.by_batch,
                )
        except Refused as refused:
            schedule.problem = str(refused)[:500]
            logger.warning("The anchor run of judge %s did not start: %s", judge.pk, refused)
        else:
            schedule.problem = ""
        schedule.next_at = now + (timedelta(days=schedule.every_days) if run else AGAIN)
        schedule.save(update_fields=["problem", "next_at"])
        return run


def _require_room(schedule: AnchorSchedule) -> None:
    """Refused where the one before is not over, or the study's budget has no room for what it would cost."""
    judge = schedule.judge
    going = (*ACTIVE, RunState.PAUSED, RunState.STOPPED)
    before = Run.objects.filter(
        judging__judge=judge, judging__purpose=Purpose.ANCHOR, state__in=going
    ).first()
    if before is not None:
        raise Refused(f"The anchor run before it, run {before.pk}, is {before.state_text}.")
    budget = study_budget(judge.study)
    if budget is None:
        return
    left = budget - study_spent(judge.study_id)
    cost = estimate(
        judge.study, judge, max_items=schedule.max_items, by_batch=schedule.by_batch, uses_cache=False
    ).cost
    if cost > left:
        rest = f"has {format_amount(left)} left" if left > 0 else "is spent"
        said = f"The study's budget of {format_amount(budget)} {rest}"
        raise Refused(f"{said}; an anchor run is estimated at {format_amount(cost)}.")
