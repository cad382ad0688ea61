"""Forty at once, on PostgreSQL, in threads: whatever they do, every item ends with its judgments and nobody waits."""

import os
import threading
from collections import Counter

import pytest
from django.db import connection
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from annotator.models import ArmFront, Assignment, AssignmentState, Participant, Slot, SlotState, Submission
from annotator.platforms import Visit
from annotator.selectors import arm_places
from annotator.services import fronts
from annotator.services.drafts import save_draft
from annotator.services.entry import enter
from annotator.services.skipping import skip
from annotator.services.submitting import go_on, submit
from evaluation.models import Judgment, Outcome
from evaluation.selectors import counting_judgments
from evaluation.services import PAPER_ARMS, pause_study, resume_study, verify_study
from tests.crowd import (
    HONEST,
    Person,
    at_once,
    before,
    come,
    come_back_late,
    figures,
    filled_in,
    hand_in,
    lapse,
    make_crowd_study,
    open_places,
)

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
ONE_ARM = PAPER_ARMS[1:2]


@pytest.fixture
def postgres(db):
    if connection.vendor == "postgresql":
        return
    if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
        pytest.fail("DATABASE_URL names no PostgreSQL")
    pytest.skip("DATABASE_URL names no PostgreSQL")


@pytest.mark.parametrize(
    ("arms", "queries"), [(ONE_ARM, 60), (PAPER_ARMS, 20)], ids=["one arm", "three arms"]
)
@pytest.mark.parametrize("crowd", [1, 2])
def test_forty_at_once(owner, arms, queries, crowd):
    study = make_crowd_study("crowd", owner=owner, queries=queries, arms=arms, items_per_participant=5)
    people = [Person(study, 1_000 * crowd + number) for number in range(40)]
    at_once(*(person.live for person in people))
    people += until_nothing_is_left(study, first=1_000 * crowd + 100)
    late = come_back_late(people)

    done = sum((person.done for person in people), Counter())
    assert min(done[habit] for habit in people[0].habits) > 0, "every habit was met"
    assert late
    assert all(assignment.judgment.surplus for assignment in late)
    found = figures(study)
    assert found["counting"] == 180
    assert (found["items"], found["per_item"]) == (60, [3])
    assert found["most_encounters_per_query"] == found["most_judgments_per_query"] == 1
    assert found["order_difference_per_item"] == 1
    assert found["order_difference_per_stratum"] <= 1
    assert list(verify_study(study)) == []


def test_no_open_place_is_ever_before_the_front_of_its_arm(owner, monkeypatch):
    """At no moment while forty claim, give back and take over, each claim moving the front on."""
    monkeypatch.setattr(fronts, "STRIDE", 1)
    study = make_crowd_study("fronts", owner=owner, queries=20, arms=PAPER_ARMS, items_per_participant=5)
    habits = {"submit": 10, "skip": 10, "late": 5, "late_at_once": 5, "withdraw": 3, "abandon": 2}
    people = [Person(study, 3_000 + number, habits) for number in range(40)]
    passed_over = Slot.objects.filter(
        state=SlotState.OPEN,
        rank__lt=Subquery(ArmFront.objects.filter(arm=OuterRef("arm")).values("first_open")),
    )
    over, found = threading.Event(), []

    def watch():
        while not over.is_set():
            found.extend(passed_over.values_list("pk", flat=True))
        connection.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        at_once(*(person.live for person in people))
    finally:
        over.set()
        watcher.join()
    assert found == []
    until_nothing_is_left(study, first=3_100)
    assert figures(study)["per_item"] == [3]
    assert max(ArmFront.objects.values_list("first_open", flat=True)) > 1


def until_nothing_is_left(study, first):
    """Leases of those who are gone run out, and others come, until every place is filled."""
    came = []
    for wave in range(20):
        lapse(study=study)
        if not open_places(study):
            return came
        new = [Person(study, first + 20 * wave + number, HONEST) for number in range(10)]
        at_once(*(person.live for person in new))
        came += new
    pytest.fail(f"{open_places(study)} places are left")


def small_study(owner, **fields):
    fields.setdefault("arms", ONE_ARM)
    return make_crowd_study("small", owner=owner, **({"queries": 4, "items_per_participant": 4} | fields))


def test_same_assignment_submitted_at_once_gives_one_judgment(owner):
    study = small_study(owner, queries=12, items_per_participant=12)
    token = come(study, "a").token
    for number in range(1, 13):
        assignment = before(token)
        data = filled_in(assignment)
        results = at_once(*[lambda a=assignment, d=data: submit(token, a.pk, d)] * 3)
        assert {each.state for each in results} == {AssignmentState.SUBMITTED}
        assert Judgment.objects.count() == counting_judgments(study).count() == number
    assert Slot.objects.filter(state=SlotState.FILLED).count() == 12


def test_skip_and_submit_at_once_have_one_effect(owner):
    study = small_study(owner, queries=10, items_per_participant=10, skips={"per_participant": 99})
    token = come(study, "a").token
    for number in range(1, 9):
        assignment = before(token)
        data = filled_in(assignment)
        at_once(
            lambda a=assignment, d=data: submit(token, a.pk, d),
            lambda a=assignment: skip(token, a.pk),
            lambda a=assignment: skip(token, a.pk),
        )
        assert Judgment.objects.count() == number
        state = Assignment.objects.get(pk=assignment.pk).state
        outcome = {AssignmentState.SUBMITTED: Outcome.OK, AssignmentState.SKIPPED: Outcome.SKIPPED}[state]
        assert Judgment.objects.get(item=assignment.item_id).outcome == outcome
    assert list(verify_study(study)) == []


def test_same_visit_entered_at_once_gives_one_participant(owner):
    study = small_study(owner)
    visit = Visit("prolific", "p", "s", "v")
    people = at_once(*[lambda: enter(study, visit)] * 8)
    assert len({person.pk for person in people}) == Participant.objects.count() == 1
    assert Submission.objects.count() == 1
    assert Assignment.objects.count() == 1


def test_entering_at_once_promises_no_arm_more_than_it_has(owner):
    """Arms are drawn, but not those whose places are all promised: twelve people take what is there for twelve."""
    study = small_study(owner, queries=12, arms=PAPER_ARMS, redundancy=1, items_per_participant=3)
    people = at_once(*[lambda name=f"p{n}": come(study, name) for n in range(12)])
    drawn = Counter(person.arm_id for person in people)
    assert sorted(drawn.values()) == [4, 4, 4]
    assert [places.free for places in arm_places(study, timezone.now())] == [0, 0, 0]


def test_claimer_and_late_submitter_race_for_a_place(owner):
    """Fifty times: who let the lease run out submits just when another looks for a place and finds that one."""
    study = small_study(owner, queries=110, redundancy=1, items_per_participant=1)
    for number in range(50):
        late = come(study, f"late-{number}")
        assignment, claimer = before(late.token), idle(study, f"claimer-{number}")
        data = filled_in(assignment)
        lapse(pk=assignment.slot_id)
        submitted, _ = at_once(
            lambda a=assignment, d=data, t=late.token: submit(t, a.pk, d), lambda t=claimer.token: go_on(t)
        )
        taken = before(claimer.token)
        lost = taken.slot_id == assignment.slot_id
        assert submitted.judgment.surplus == lost
        hand_in(claimer.token)
        counting = counting_judgments(study).filter(item=assignment.item_id)
        assert [judgment.rater_id for judgment in counting] == [(claimer if lost else late).rater_id]
    assert list(verify_study(study)) == []


def idle(study, name):
    """A participant at work who has nothing before them just now."""
    participant = come(study, name)
    pause_study(study)
    skip(participant.token, before(participant.token).pk)
    resume_study(study)
    assert before(participant.token) is None
    return participant


def test_draft_saved_while_the_place_is_claimed(owner):
    """A late draft and a claim of the same place end, whoever is first: the place has one holder."""
    study = small_study(owner, queries=110, redundancy=1, items_per_participant=1)
    for number in range(30):
        late = come(study, f"late-{number}")
        assignment, claimer = before(late.token), idle(study, f"claimer-{number}")
        lapse(pk=assignment.slot_id)
        kept, _ = at_once(
            lambda a=assignment, t=late.token: save_draft(t, a.pk, {"justification": "Half a"}),
            lambda t=claimer.token: go_on(t),
        )
        taken = before(claimer.token)
        assert (kept is None) == (taken.slot_id == assignment.slot_id)
        assert (before(late.token) is None) == (kept is None)
        hand_in(claimer.token)
        if kept:
            hand_in(late.token)
    assert list(verify_study(study)) == []
