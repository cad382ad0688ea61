"""Drafts, leases that run out, and work that comes late."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Slot
from annotator.services.work.drafts import save_draft
from annotator.services.work.skip import skip
from annotator.services.work.submit import advance_participant, get_assignment, submit
from evaluation.models import Judgment
from evaluation.selectors import counting_judgments
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.people import now_of
from tests.crowd import before, come, filled_in, hand_in, lapse

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("compiled_and_built_in_audit")]


def test_a_draft_is_kept_and_extends_the_lease(live):
    token = come(live, "a").token
    assignment = before(token)
    lapse(study=live)
    until = save_draft(token, assignment.pk, {"justification": "Half a"})
    assert until > timezone.now() + timedelta(minutes=live.lease_minutes - 1)
    assert Slot.objects.get(pk=assignment.slot_id).leased_until == until
    assert before(token).draft == {"justification": "Half a"}
    hand_in(token)
    assert Assignment.objects.get(pk=assignment.pk).draft == {}
    assert save_draft(token, assignment.pk, {"justification": "Too late"}) is None


def test_a_draft_of_a_lost_place_is_refused(single):
    late = come(single, "a").token
    assignment = before(late)
    lapse(study=single)
    assert before(come(single, "b").token).slot == assignment.slot
    assert save_draft(late, assignment.pk, {"justification": "Half a"}) is None
    assert get_assignment(late, assignment.pk).draft == {}


def test_work_after_the_lease_counts_if_nobody_took_the_place(single):
    token = come(single, "a").token
    lapse(study=single)
    assert hand_in(token).surplus is False
    assert counting_judgments(single).count() == 1


def test_late_work_counts_if_the_place_was_given_back(single):
    late = come(single, "a").token
    assignment = before(late)
    lapse(study=single)
    taker = come(single, "b").token
    assert get_assignment(late, assignment.pk).state == AssignmentState.EXPIRED
    skip(taker, before(taker).pk)
    submit(late, assignment.pk, filled_in(assignment))
    assert counting_judgments(single).get().rater == Participant.objects.get(token=late).rater
    assert now_of(late) == ("done", "completed")
    assert list(verify_study(single)) == []


@pytest.mark.parametrize("taker_is_done", [False, True])
def test_late_work_is_kept_and_not_counted_if_the_place_was_taken(single, taker_is_done):
    late = come(single, "a")
    assignment = before(late.token)
    lapse(study=single)
    taker = come(single, "b")
    if taker_is_done:
        hand_in(taker.token)
    submit(late.token, assignment.pk, filled_in(assignment))
    kept = Judgment.objects.get(rater=late.rater)
    assert kept.surplus
    assert kept.answers.exists()
    assert now_of(late.token) == ("done", "completed"), "they did what they were paid for"
    if not taker_is_done:
        hand_in(taker.token)
    assert counting_judgments(single).get().rater == taker.rater
    assert list(verify_study(single)) == []


def test_late_work_beside_new_work_leaves_the_new_alone(live):
    slow = come(live, "a").token
    late = before(slow)
    lapse(study=live)
    take_over(live, late)
    advance_participant(slow)
    current = before(slow)
    assert current.pk != late.pk
    submit(slow, late.pk, filled_in(late))
    assert before(slow) == current
    hand_in(slow)
    hand_in(slow)
    assert now_of(slow) == ("done", "completed")
    assert Judgment.objects.filter(rater__participant__token=slow).count() == 3


def take_over(study, assignment):
    """Somebody else gets the place."""
    other = come(study, "other")
    assert before(other.token).slot == assignment.slot
