"""Attention checks, the qualification, skips, and problems that are reported."""

import pytest
from django.urls import reverse

from annotator.models import AssignmentState, Slot, SlotState
from annotator.selectors import get_participant
from annotator.services.submitting import (
    CannotSkip,
    report_problem,
    said_after,
    skip,
    skips_left,
)
from evaluation import design
from evaluation.models import ItemFlag, Judgment
from evaluation.selectors import counting_judgments
from evaluation.services import verify_study
from tests.crowd import before, come, filled_in, hand_in, make_crowd_study
from tests.factories import NO_STEPS, launch, make_study
from tests.participation.people import ONE_ARM, now_of, with_checks, with_pass_mark

pytestmark = pytest.mark.django_db


def test_checks_come_where_the_plan_says_and_fill_no_place():
    study = with_checks(2, checks=2)
    study.items_per_participant = 5
    study.save()
    for name in "abc":
        participant = come(study, name)
        plan = design.check_positions(study.seed, participant.pk, 5, 2)
        met, judged = [], 0
        while (assignment := before(participant.token)) is not None:
            if assignment.item.role == "attention":
                met.append(judged)
                assert assignment.slot is None
            else:
                judged += 1
            hand_in(participant.token, preference="tie")
        assert (met, judged) == (plan, 5)
        assert now_of(participant.token) == ("done", "completed")
    checks = Judgment.objects.filter(item__role="attention")
    assert checks.count() == 6
    assert not counting_judgments(study).filter(item__role="attention").exists()
    assert list(verify_study(study)) == []


@pytest.mark.parametrize(
    ("allowed", "end"),
    [(None, "completed"), (0, "failed_attention"), (1, "failed_attention"), (2, "completed")],
)
def test_failed_checks_end_the_way_once_there_are_too_many(allowed, end):
    study = with_checks(2, checks=2, allowed_failures=allowed)
    participant = come(study, "a")
    failed = 0
    while (assignment := before(participant.token)) is not None:
        failed += assignment.item.role == "attention"
        hand_in(participant.token, preference="r1")
    assert now_of(participant.token) == ("done", end)
    assert failed == (1 if allowed == 0 else 2)
    assert participant.submissions.get().outcome == end
    assert counting_judgments(study).count() == Judgment.objects.filter(item__role="main").count()


def test_a_passed_check_is_not_counted_as_failed():
    study = with_checks(1, checks=1, allowed_failures=0)
    token = come(study, "a").token
    while before(token) is not None:
        hand_in(token, preference="tie")
    assert now_of(token) == ("done", "completed")


@pytest.mark.parametrize(
    ("given", "end"),
    [(("r2", "r2", "r1"), ("items", "")), (("r2", "r1", "r1"), ("done", "failed_qualification"))],
)
def test_qualification(given, end):
    study = with_pass_mark()
    token = come(study, "a").token
    for preference in given:
        assert now_of(token) == ("qualification", "")
        hand_in(token, preference=preference)
    assert now_of(token) == end
    assert (before(token) is None) == (end[0] == "done")
    assert not counting_judgments(study).exists()
    assert Slot.objects.filter(state=SlotState.RESERVED).count() == (end[0] == "items")


def test_a_second_attempt_at_qualifying_counts_for_itself():
    study = with_pass_mark(attempts=2)
    token = come(study, "a").token
    first = [before(token).item]
    hand_in(token, preference="r2")
    for _ in range(2):
        first.append(before(token).item)
        last = hand_in(token, preference="r1")
    assert now_of(token) == ("qualification", "")
    assert said_after(last) == "try-again"
    again = []
    for preference in ("r2", "r1", "r2"):
        again.append(before(token).item)
        last = hand_in(token, preference=preference)
    assert again == first
    assert now_of(token) == ("items", "")
    assert said_after(last) == ""
    judged = Judgment.objects.filter(item__role="qualification").order_by("pk")
    assert list(judged.values_list("replicate", flat=True)) == [0, 0, 0, 1, 1, 1]
    assert not counting_judgments(study).exists()


def test_attempts_come_to_an_end():
    study = with_pass_mark(attempts=2)
    token = come(study, "a").token
    for _ in range(6):
        assert now_of(token) == ("qualification", "")
        hand_in(token, preference="r1")
    assert now_of(token) == ("done", "failed_qualification")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"warn": True}, "check-failed"),
        ({"warn": False}, ""),
        ({}, ""),
        ({"warn": True, "allowed_failures": 0}, ""),
    ],
)
def test_a_failed_check_may_be_followed_by_a_warning(rule, said):
    study = with_checks(1, checks=1, **rule)
    token = come(study, "a").token
    done = hand_in(token)
    while done.item.role != "attention":
        assert said_after(done) == ""
        done = hand_in(token)
    assert said_after(done) == said


def test_the_page_after_a_failed_check_says_so(client):
    study = with_checks(1, checks=1, warn=True)
    token = come(study, "a").token
    while (assignment := before(token)).item.role != "attention":
        hand_in(token)
    address = reverse("annotator:submit", args=[token, assignment.pk])
    page = client.post(address, form_of(assignment), follow=True).content.decode()
    assert "One of the items was there to see whether you read with care" in page


def form_of(assignment):
    """A complete form, as a browser sends it, with an answer that the check does not want."""
    data = filled_in(assignment)
    cells = {f"satisfied.{part}": value for part, value in data.pop("satisfied", {}).items()}
    return {**data, **cells, "preference": "r1"}


def test_a_skip_gives_the_place_back_and_another_item(live):
    token = come(live, "a").token
    first = before(token)
    skip(token, first.pk)
    assert before(token).item.query_id != first.item.query_id
    assert Slot.objects.get(pk=first.slot_id).state == SlotState.OPEN
    judgment = Judgment.objects.get()
    assert (judgment.outcome, judgment.item, judgment.answers.count()) == ("skipped", first.item, 0)
    following = before(token)
    skip(token, first.pk)
    assert before(token) == following
    assert Judgment.objects.count() == 1


def test_skips_have_a_limit():
    study = make_crowd_study("skips", queries=6, arms=ONE_ARM, skips={"per_participant": 2})
    participant = come(study, "a")
    for left in (2, 1):
        assert skips_left(participant) == left
        skip(participant.token, before(participant.token).pk)
    assert skips_left(participant) == 0
    assert get_participant(participant.token).skipped == 2
    with pytest.raises(CannotSkip):
        skip(participant.token, before(participant.token).pk)
    assert before(participant.token).state == AssignmentState.RESERVED
    assert Judgment.objects.count() == 2


def test_training_can_t_be_skipped():
    study = launch(make_study("trained", arms=ONE_ARM, checks=0), steps=NO_STEPS | {"training": True})
    token = come(study, "a").token
    with pytest.raises(CannotSkip):
        skip(token, before(token).pk)


def test_a_check_is_skipped_like_an_item_and_comes_again():
    """It must not be told from an item; who skips it meets the next one."""
    study = with_checks(2, checks=1)
    participant = come(study, "a")
    while (first := before(participant.token)).item.role != "attention":
        hand_in(participant.token)
    skip(participant.token, first.pk)
    second = before(participant.token)
    assert (second.item.role, second.item == first.item) == ("attention", False)
    assert skips_left(participant) == 2
    assert list(verify_study(study)) == []


def test_an_item_that_is_skipped_often_is_flagged_once():
    skips = {"per_participant": 1, "flag_after": 2}
    study = make_crowd_study("flags", queries=1, arms=ONE_ARM, redundancy=1, skips=skips)
    for number in range(3):
        assert ItemFlag.objects.count() == (number >= 2)
        token = come(study, f"p{number}").token
        skip(token, before(token).pk)
        assert now_of(token) == ("done", "full"), "who has judged nothing and finds nothing met a full study"
    flag = ItemFlag.objects.get()
    assert (flag.item, flag.reason, flag.note) == (study.items.get(), "skipped", "skipped 2 times")


def test_a_participant_reports_a_problem(live):
    token = come(live, "a").token
    report_problem(token, before(token).pk, "  The text is cut off.  ")
    flag = ItemFlag.objects.get()
    assert (flag.item, flag.reason, flag.note) == (before(token).item, "reported", "The text is cut off.")
