"""How a way ends: nothing left, a study that is paused or closed, withdrawing."""

import pytest
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Slot, SlotState
from annotator.selectors.participants import get_participant
from annotator.selectors.slots import next_release
from annotator.services.admission.entry import enter
from annotator.services.work.leave import finish_now, withdraw
from annotator.services.work.skip import skip
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation.models import Exclusion, Judgment
from evaluation.selectors import counting_judgments
from evaluation.services.exclusions import exclude
from evaluation.services.studies.launch import close_study, pause_study, resume_study
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.people import ONE_ARM, count_with_checks, now_of, with_pass_mark
from tests.crowd import before, come, filled_in, hand_in, lapse, make_crowd_study
from tests.factories import NO_STEPS, launch, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def held():
    """Two items: one person is at the first; another has judged the second and waits."""
    study = make_crowd_study("held", queries=2, arms=ONE_ARM, redundancy=1, items_per_participant=2)
    holder = come(study, "holder")
    waiting = come(study, "waiting")
    hand_in(waiting.token)
    return study, holder, waiting


def test_who_could_still_get_what_others_hold_waits(held):
    study, holder, waiting = held
    assert now_of(waiting.token) == ("items", "")
    assert before(waiting.token) is None
    release = next_release(get_participant(waiting.token), timezone.now())
    assert release == Slot.objects.get(holder__participant=holder).leased_until
    lapse(study=study)
    advance_participant(waiting.token)
    assert before(waiting.token) is not None


def test_who_only_waits_for_others_may_finish_with_what_they_judged(held):
    study, holder, waiting = held
    finish_now(waiting.token)
    assert now_of(waiting.token) == ("done", "completed")
    assert waiting.submissions.get().outcome == "completed"
    hand_in(holder.token)
    assert now_of(holder.token) == ("done", "completed")
    assert counting_judgments(study).count() == 2
    assert list(verify_study(study)) == []


def test_who_finishes_gets_an_item_that_has_become_free_instead(held):
    study, _, waiting = held
    lapse(study=study)
    finish_now(waiting.token)
    assert now_of(waiting.token) == ("items", "")
    assert before(waiting.token) is not None


def test_nobody_finishes_without_a_judgment():
    study = make_crowd_study("held", queries=2, arms=ONE_ARM, redundancy=1, items_per_participant=2)
    token = come(study, "skips").token
    come(study, "holder")
    skip(token, before(token).pk)
    assert (now_of(token), before(token)) == (("items", ""), None)
    finish_now(token)
    assert now_of(token) == ("items", "")


def test_nobody_finishes_with_an_item_before_them_or_in_a_paused_study(held):
    study, holder, waiting = held
    finish_now(holder.token)
    pause_study(study)
    finish_now(waiting.token)
    assert now_of(holder.token) == now_of(waiting.token) == ("items", "")


def test_comments_come_before_the_end_of_who_finishes():
    study = make_study(
        "words", queries=2, arms=ONE_ARM, training=False, checks=0, redundancy=1, items_per_participant=2
    )
    launch(study, steps=NO_STEPS | {"comments": True})
    come(study, "holder")
    waiting = come(study, "waiting")
    hand_in(waiting.token)
    finish_now(waiting.token)
    assert now_of(waiting.token) == ("comments", "")


def test_what_was_judged_in_an_earlier_visit_ends_no_later_one():
    study = make_crowd_study(
        "visits", queries=3, arms=ONE_ARM, redundancy=1, items_per_participant=1, visits=2
    )
    ann = come(study, "ann")
    hand_in(ann.token)
    come(study, "bob")
    again = enter(study, Visit("prolific", "ann", "panel-study", "visit-ann-2"))
    assert again.visit_number == 2
    # What they had runs out, and others take it.
    lapse(holder__participant=again)
    come(study, "cem")
    finish_now(ann.token)
    assert now_of(ann.token) == ("items", "")
    lapse(study=study)
    advance_participant(ann.token)
    hand_in(ann.token)
    assert now_of(ann.token) == ("done", "completed")


def test_who_finishes_a_later_visit_has_completed_both():
    study = make_crowd_study(
        "visits", queries=4, arms=ONE_ARM, redundancy=1, items_per_participant=2, visits=2
    )
    ann = come(study, "ann")
    hand_in(ann.token)
    hand_in(ann.token)
    come(study, "bob")
    enter(study, Visit("prolific", "ann", "panel-study", "visit-ann-2"))
    hand_in(ann.token)
    assert now_of(ann.token) == ("items", "")
    finish_now(ann.token)
    assert now_of(ann.token) == ("done", "completed")
    visits = ann.submissions.order_by("visit_number").values_list("visit_number", "outcome")
    assert list(visits) == [(1, "completed"), (2, "completed")]
    assert list(verify_study(study)) == []


def test_a_check_that_is_due_comes_before_finishing():
    """It was skipped, and one more item is to come between."""
    study = make_study(
        "checked", queries=2, arms=ONE_ARM, training=False, checks=1, redundancy=1, items_per_participant=2
    )
    launch(study, steps=NO_STEPS | {"attention": {"checks": 1}})
    come(study, "holder")
    waiting = come(study, "waiting")
    hand_in(waiting.token)
    check = before(waiting.token)
    assert check.item.role == "attention"
    skip(waiting.token, check.pk)
    assert before(waiting.token) is None
    finish_now(waiting.token)
    assert before(waiting.token).item.role == "attention"
    hand_in(waiting.token, preference="tie")
    finish_now(waiting.token)
    assert now_of(waiting.token) == ("done", "completed")


def test_who_has_judged_something_is_done_when_nothing_is_left(held):
    study, holder, waiting = held
    hand_in(holder.token)
    advance_participant(waiting.token)
    assert now_of(waiting.token) == now_of(holder.token) == ("done", "completed")
    assert Judgment.objects.filter(item__study=study).count() == 2


def test_who_has_judged_nothing_met_a_full_study():
    study = make_crowd_study("full", queries=1, arms=ONE_ARM, redundancy=2, items_per_participant=1)
    first, second = come(study, "a"), come(study, "b")
    skip(second.token, before(second.token).pk)
    assert now_of(second.token) == ("done", "full")
    assert second.submissions.get().outcome == "full"
    assert now_of(first.token) == ("items", "")


def test_paused_lets_running_work_finish_and_gives_nothing_new(live):
    token = come(live, "a").token
    pause_study(live)
    hand_in(token)
    assert counting_judgments(live).count() == 1
    advance_participant(token)
    assert (now_of(token), before(token)) == (("items", ""), None)
    resume_study(live)
    advance_participant(token)
    assert before(token) is not None


def test_paused_shows_no_check_either():
    study = count_with_checks(3, checks=2)
    token = come(study, "a").token
    pause_study(study)
    hand_in(token)
    assert before(token) is None
    assert not Assignment.objects.filter(item__role="attention").exists()


def test_paused_lets_those_go_who_are_through(single):
    token = come(single, "a").token
    pause_study(single)
    hand_in(token)
    assert now_of(token) == ("done", "completed")


@pytest.mark.parametrize(("judged", "end"), [(1, "completed"), (0, "full")])
def test_closed_ends_the_way(live, judged, end):
    token = come(live, "a").token
    close_study(live)
    if judged:
        hand_in(token)
    else:
        skip(token, before(token).pk)
    assert now_of(token) == ("done", end)


def test_closed_before_qualification_is_nobody_s_failure():
    study = with_pass_mark()
    token = come(study, "a").token
    close_study(study)
    hand_in(token, preference="r2")
    assert now_of(token) == ("done", "full")


def test_withdrawing_frees_the_place_and_keeps_what_was_judged(live):
    participant = come(live, "a")
    hand_in(participant.token)
    held = before(participant.token)
    withdraw(participant.token)
    assert now_of(participant.token) == ("done", "withdrawn")
    assert Slot.objects.get(pk=held.slot_id).state == SlotState.OPEN
    assert Assignment.objects.get(pk=held.pk).state == AssignmentState.RETURNED
    assert counting_judgments(live).count() == 1
    assert participant.submissions.get().outcome == "withdrawn"
    submit(participant.token, held.pk, filled_in(held))
    assert counting_judgments(live).count() == 1


def test_withdrawing_may_leave_out_what_was_judged_and_has_it_judged_anew(live):
    participant = come(live, "a")
    done = hand_in(participant.token)
    withdraw(participant.token, leave_out_judgments=True)
    assert not counting_judgments(live).exists()
    assert Slot.objects.get(replaces=done.slot).order == done.order
    assert Exclusion.objects.get().reason == "The participant withdrew."


def test_nothing_is_taken_late_from_who_has_withdrawn(single):
    """Another tab with an expired item is still open."""
    late = come(single, "a").token
    assignment = before(late)
    lapse(study=single)
    taker = come(single, "b").token
    withdraw(late, leave_out_judgments=True)
    skip(taker, before(taker).pk)
    submit(late, assignment.pk, filled_in(assignment))
    assert not Judgment.objects.exclude(outcome="skipped").exists()
    assert Slot.objects.get().state == SlotState.OPEN


def test_who_is_excluded_already_can_withdraw(live):
    participant = come(live, "a")
    hand_in(participant.token)
    exclude(study=live, rater=participant.rater, reason="Spam.")
    withdraw(participant.token, leave_out_judgments=True)
    assert now_of(participant.token) == ("done", "withdrawn")
    assert Exclusion.objects.count() == 1
    assert Slot.objects.exclude(replaces=None).count() == 1


def test_withdrawing_twice_changes_nothing(live):
    participant = come(live, "a")
    hand_in(participant.token)
    for _ in range(2):
        withdraw(participant.token, leave_out_judgments=True)
    assert Exclusion.objects.count() == 1
    assert Slot.objects.exclude(replaces=None).count() == 1


def test_the_wish_to_leave_judgments_out_may_come_later(live):
    """Also when the first request broke off between the two."""
    participant = come(live, "a")
    hand_in(participant.token)
    withdraw(participant.token)
    withdraw(participant.token, leave_out_judgments=True)
    assert not counting_judgments(live).exists()


def test_who_has_finished_can_t_withdraw_any_more(single):
    participant = come(single, "a")
    hand_in(participant.token)
    withdraw(participant.token, leave_out_judgments=True)
    assert now_of(participant.token) == ("done", "completed")
    assert counting_judgments(single).count() == 1
