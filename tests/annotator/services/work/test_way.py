"""The way of a participant through the steps of a study, and what judging records."""

import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState
from annotator.services.work.drafts import save_draft
from annotator.services.work.leave import leave_comments
from annotator.services.work.problem_reports import report_problem
from annotator.services.work.skip import skip
from annotator.services.work.submit import NotYours, advance_participant, submit
from evaluation.models import ItemFlag, Judgment, Study
from evaluation.protocols import AnswersInvalid
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.people import ONE_ARM, now_of
from tests.crowd import before, come, filled_in, hand_in, make_crowd_study
from tests.factories import NO_STEPS, launch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("compiled_and_built")]


def test_the_whole_way(draft):
    """Instructions, training in all three forms, items with a check among them, comments, done."""
    steps = {"instructions": True, "training": True, "attention": {"checks": 1}, "comments": True}
    study = launch(draft, steps=NO_STEPS | steps, items_per_participant=4)
    token = come(study, "a").token
    assert now_of(token) == ("instructions", "")
    assert before(token) is None

    advance_participant(token)
    arms = []
    for _ in range(3):
        assert now_of(token) == ("training", "")
        done = hand_in(token, preference="tie")
        arms.append(done.item.arm.key)
        assert done.passed is False
        assert before(token) is None, "training waits until the feedback was read"
        advance_participant(token)
    assert sorted(arms) == sorted(arm["key"] for arm in PAPER_ARMS)

    roles = []
    while (assignment := before(token)) is not None:
        roles.append(assignment.item.role)
        hand_in(token, preference="tie")
    assert Counter(roles) == {"main": 4, "attention": 1}
    assert now_of(token) == ("comments", "")
    leave_comments(token, " Thank you. ")
    leave_comments(token, "Again.")
    participant = Participant.objects.get()
    assert (participant.step, participant.outcome, participant.comments) == (
        "done",
        "completed",
        "Thank you.",
    )
    assert participant.submissions.get().outcome == "completed"
    assert list(verify_study(study)) == []


def test_steps_that_the_study_leaves_out_are_passed_over(live):
    token = come(live, "a").token
    assert now_of(token) == ("items", "")
    for _ in range(3):
        hand_in(token)
    assert now_of(token) == ("done", "completed")


def test_judging_follows_the_promise_at_consent(live):
    token = come(live, "a").token
    Study.objects.update(items_per_participant=1)
    for _ in range(3):
        hand_in(token)
    assert now_of(token) == ("done", "completed")
    assert Judgment.objects.count() == 3


def test_a_judgment_carries_what_was_asked_and_shown(live):
    participant = come(live, "a")
    assignment = before(participant.token)
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(seconds=90))
    submit(participant.token, assignment.pk, filled_in(assignment, preference="r2"), visible_ms=40_000)
    judgment = Judgment.objects.get()
    assert (judgment.rater, judgment.revision) == (participant.rater, live.revisions.get())
    assert judgment.shown == assignment.order == assignment.slot.order
    assert 90_000 <= judgment.duration_ms < 100_000
    assert judgment.visible_ms == 40_000
    answers = {
        (each.question, each.part): each.label or each.text or each.number for each in judgment.answers.all()
    }
    assert answers == {
        ("preference", ""): "r2",
        ("justification", ""): "It says more about it.",
        **{("satisfied", part): 1.0 for part in ("f1.r1", "f1.r2", "f2.r1", "f2.r2")},
    }


def test_refused_answers_change_nothing(live):
    token = come(live, "a").token
    assignment = before(token)
    with pytest.raises(AnswersInvalid) as refusal:
        submit(token, assignment.pk, {"preference": "left"})
    assert len(refusal.value.problems) == 6
    assert not Judgment.objects.exists()
    assert before(token) == assignment
    assert Slot.objects.get(pk=assignment.slot_id).state == SlotState.RESERVED


def test_a_second_submit_changes_nothing(live):
    token = come(live, "a").token
    first = hand_in(token, preference="r1")
    next_step = before(token)
    again = submit(token, first.pk, filled_in(first, preference="r2"))
    assert again.state == AssignmentState.SUBMITTED
    assert Judgment.objects.get().answers.get(question="preference").label == "r1"
    assert before(token) == next_step


@pytest.mark.parametrize("action", [submit, save_draft], ids=["submit", "draft"])
def test_nobody_reaches_another_s_assignment(live, action):
    mine, theirs = come(live, "a"), come(live, "b")
    assignment = before(theirs.token)
    for token, pk in [(mine.token, assignment.pk), ("stranger", assignment.pk), (mine.token, uuid.uuid4())]:
        with pytest.raises(NotYours):
            action(token, pk, filled_in(assignment))
    with pytest.raises(NotYours):
        skip(mine.token, assignment.pk)
    with pytest.raises(NotYours):
        report_problem(mine.token, assignment.pk, "Broken.")
    assert before(theirs.token).draft == {}
    assert not Judgment.objects.exists()
    assert not ItemFlag.objects.exists()


def test_once_per_item_lets_a_participant_meet_a_query_again():
    study = make_crowd_study(
        "pairs", queries=1, arms=ONE_ARM, systems=("a", "b", "c"), items_per_query=3, once_per="item"
    )
    token = come(study, "a").token
    for _ in range(3):
        hand_in(token)
    assert now_of(token) == ("done", "completed")
    assert Judgment.objects.values("item").distinct().count() == 3
