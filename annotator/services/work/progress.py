"""The participant's way from consent to completion: the next step, and the next item."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, ParticipantOutcome, Step
from annotator.selectors.slots import next_release
from annotator.services.slots.claim import claim_slot
from annotator.services.slots.in_play import bring_back
from evaluation import design
from evaluation.models import Item, Outcome, Role, Status

ORDER = [Step.INSTRUCTIONS, Step.TRAINING, Step.QUALIFICATION, Step.ITEMS, Step.COMMENTS, Step.DONE]


def has_step(spec: dict[str, Any], step: Step) -> bool:
    """True of the study's own steps; items and the end always are."""
    return step in (Step.ITEMS, Step.DONE) or bool(spec["steps"].get(step.value))


def next_step(spec: dict[str, Any], step: str) -> Step:
    """The next step that the study has."""
    place = ORDER.index(Step(step)) + 1
    return next(each for each in ORDER[place:] if has_step(spec, each))


def first_step(spec: dict[str, Any]) -> Step:
    return next(each for each in ORDER if has_step(spec, each))


def advance(
    participant: Participant, now: datetime, *, judged: int, checked: int, waits: bool = True
) -> None:
    """Give a participant who has nothing before them the next thing: an item, a later step, or their outcome.

    The caller has locked the participant; `judged` and `checked` count what they have submitted in their present visit.
    Without `waits`, items that others hold are none for them.
    """
    while participant.step not in (Step.INSTRUCTIONS, Step.COMMENTS, Step.DONE):
        if _work_left(participant, now, judged, checked, waits=waits):
            bring_back(participant)
            return
        if participant.step == Step.DONE:
            return
        enter_step(participant, next_step(participant.revision.spec, participant.step))


def enter_step(participant: Participant, step: Step) -> None:
    if step == Step.DONE:
        finish(participant, ParticipantOutcome.COMPLETED)
        return
    participant.step = step
    participant.save(update_fields=["step"])


def finish(participant: Participant, outcome: str) -> None:
    """The end of the way; the latest visit ends with the same outcome."""
    now = timezone.now()
    participant.step, participant.outcome, participant.ended_at = Step.DONE, outcome, now
    participant.save(update_fields=["step", "outcome", "ended_at"])
    latest = participant.submissions.order_by("-entered_at").first()
    if latest is not None:
        latest.outcome, latest.ended_at = outcome, now
        latest.save(update_fields=["outcome", "ended_at"])


def _work_left(participant: Participant, now: datetime, judged: int, checked: int, *, waits: bool) -> bool:
    """Reserve what the participant's step still has for them, or end their way; true if there is something."""
    if participant.study.status == Status.CLOSED:
        if judged == 0:
            finish(participant, ParticipantOutcome.FULL)
        return False
    if participant.step in (Step.TRAINING, Step.QUALIFICATION):
        first = _first_attempt(participant)
        attempt = (
            max(first, _latest_attempt(participant)) if participant.step == Step.QUALIFICATION else first
        )
        if _reserve_next(participant, participant.step, now, attempt):
            return True
        if participant.step == Step.QUALIFICATION and not _qualified(participant, attempt):
            if attempt + 1 - first < _qualification(participant).get("attempts", 1):
                return _reserve_next(participant, participant.step, now, attempt + 1)
            finish(participant, ParticipantOutcome.FAILED_QUALIFICATION)
        return False
    return _next_item(participant, now, judged, checked, waits=waits)


def _qualification(participant: Participant) -> dict[str, Any]:
    rule: dict[str, Any] = participant.revision.spec["steps"]["qualification"]
    return rule


def _first_attempt(participant: Participant) -> int:
    """The number of the present visit's first attempt at their step, from 0: behind those of earlier visits."""
    if participant.visit_number == 1:
        return 0
    met = Assignment.objects.filter(participant=participant, item__role=participant.step)
    latest = met.filter(visit_number__lt=participant.visit_number).aggregate(latest=Max("attempt"))["latest"]
    return 0 if latest is None else latest + 1


def _latest_attempt(participant: Participant) -> int:
    """The number of the participant's latest attempt at qualifying, from 0."""
    met = Assignment.objects.filter(participant=participant, item__role=Role.QUALIFICATION)
    return met.aggregate(latest=Max("attempt"))["latest"] or 0


def _reserve_next(participant: Participant, role: str, now: datetime, attempt: int = 0) -> bool:
    """Reserve the first item of a slotless role that the participant has not met in this attempt."""
    met = Assignment.objects.filter(participant=participant, attempt=attempt).values("item")
    items = Item.objects.filter(study=participant.study_id, role=role, withdrawn_at=None).exclude(pk__in=met)
    item = items.exclude(stimulus_hash="").order_by("position", "pk").first()
    if item is None:
        return False
    reserve_slotless(participant, item, now, attempt)
    return True


def reserve_slotless(participant: Participant, item: Item, now: datetime, attempt: int = 0) -> Assignment:
    """An encounter that fills no place; which response comes first is drawn by seed, participant and item."""
    n = item.n_responses
    seed = participant.revision.spec["seed"]
    start = int(design.generator(seed, "slotless", participant.pk, item.key).integers(design.n_orders(n)))
    return Assignment.objects.create(
        participant=participant,
        item=item,
        attempt=attempt,
        order=design.presented_order(n, start + attempt),
        visit_number=participant.visit_number,
        reserved_at=now,
    )


def _qualified(participant: Participant, attempt: int) -> bool:
    """Each attempt counts for itself."""
    passed = Assignment.objects.filter(
        participant=participant, item__role=Role.QUALIFICATION, attempt=attempt, passed=True
    )
    mark: int = _qualification(participant)["pass_mark"]
    return passed.count() >= mark


def _next_item(participant: Participant, now: datetime, judged: int, checked: int, *, waits: bool) -> bool:
    check = _find_check(participant) if _check_is_due(participant, judged, checked) else None
    if judged >= participant.quota:
        # Also while the study is paused: a check takes no place, and nobody who is through waits for it.
        return check is not None and _reserve_check(participant, check, now)
    if participant.study.status == Status.PAUSED:
        return True  # nothing new now, but it may go on
    if check is not None and check.may_come_now:
        return _reserve_check(participant, check, now)
    if claim_slot(participant, now) is not None:
        return True
    if waits and next_release(participant, now) is not None:
        return True
    if check is not None:
        return _reserve_check(participant, check, now)
    if judged == 0:
        finish(participant, ParticipantOutcome.FULL)
    return False


def _check_is_due(participant: Participant, judged: int, checked: int) -> bool:
    rule = participant.revision.spec["steps"].get("attention")
    if not rule:
        return False
    seed = participant.revision.spec["seed"]
    positions = design.check_positions(
        seed, participant.pk, participant.quota, rule.get("checks", 1), participant.visit_number
    )
    return checked < sum(1 for position in positions if position <= judged)


@dataclass(frozen=True)
class _Check:
    """An attention check for a participant, and the attempt number, from 0.

    One that comes again can be told from an item, which never does; launch advises a pool large enough. Right after it
    was skipped it would stand out most: one more item comes between, if there is one.
    """

    item: Item
    attempt: int = 0
    may_come_now: bool = True


def _find_check(participant: Participant) -> _Check | None:
    """An attention check in the form that the participant works with, drawn by the seed; where they have met all,
    the one again that they skipped or gave back longest ago, so that nobody gets through unchecked by that."""
    met = Assignment.objects.filter(participant=participant).values("item")
    checks = Item.objects.filter(study=participant.study_id, role=Role.ATTENTION, withdrawn_at=None).exclude(
        stimulus_hash=""
    )
    if participant.arm_id is not None:
        checks = checks.filter(arm=participant.arm_id)
    items = list(checks.exclude(pk__in=met).order_by("pk"))
    if not items:
        return _unanswered_check(participant)
    rng = design.generator(participant.revision.spec["seed"], "check", participant.pk, len(items))
    return _Check(items[int(rng.integers(len(items)))])


def _unanswered_check(participant: Participant) -> _Check | None:
    met = Assignment.objects.filter(participant=participant, item__role=Role.ATTENTION)
    answered = met.filter(state=AssignmentState.SUBMITTED).values("item")
    given_back = met.filter(state__in=[AssignmentState.SKIPPED, AssignmentState.RETURNED])
    left = given_back.filter(item__withdrawn_at=None).exclude(item__in=answered)
    latest = {each.item_id: each for each in left.select_related("item").order_by("ended_at")}
    if not latest:
        return None
    oldest = min(latest.values(), key=lambda each: each.ended_at or each.reserved_at)
    since = Assignment.objects.filter(participant=participant, ended_at__gt=oldest.ended_at)
    between = since.filter(state=AssignmentState.SUBMITTED, item__role=Role.MAIN)
    return _Check(oldest.item, oldest.attempt + 1, between.exists())


def _reserve_check(participant: Participant, check: _Check, now: datetime) -> bool:
    reserve_slotless(participant, check.item, now, check.attempt)
    return True


def counts(participant: Participant) -> tuple[int, int]:
    """The numbers of items and attention checks that the participant has submitted in their present visit."""
    done = Assignment.objects.filter(
        participant=participant, visit_number=participant.visit_number, state=AssignmentState.SUBMITTED
    )
    row = done.aggregate(
        judged=Count("pk", filter=Q(item__role=Role.MAIN)),
        checked=Count("pk", filter=Q(item__role=Role.ATTENTION)),
    )
    return row["judged"], row["checked"]


def failed_checks(participant: Participant, visit_number: int) -> int:
    return Assignment.objects.filter(
        participant=participant,
        visit_number=visit_number,
        item__role=Role.ATTENTION,
        passed=False,
        judgment__outcome=Outcome.OK,
    ).count()
