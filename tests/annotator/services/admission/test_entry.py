"""Who is taken in, as whom, and into which arm."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.models import Assignment, Panel, PanelRecord, Participant, Submission
from annotator.panels.platforms import get_platform, platform_of_params
from annotator.panels.services.arrivals import departure_of
from annotator.selectors.arms import arm_places
from annotator.services.admission.entry import StudyFull, StudyNotOpen, enter
from annotator.services.work.leave import withdraw
from annotator.services.work.progress import finish
from annotator.visit import Visit
from evaluation.models import Rater
from evaluation.services.exclusions import exclude
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.launch import close_study, pause_study
from tests.crowd import come, hand_in, lapse, make_crowd_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("compiled_and_built")]


def test_the_same_person_on_a_new_visit_is_a_new_submission_of_the_same_participant(live):
    visits = [Visit("prolific", "p", "s", session) for session in ("v1", "v1", "v2")]
    people = {enter(live, visit).pk for visit in visits}
    assert len(people) == 1
    assert list(Submission.objects.order_by("pk").values_list("external_id", flat=True)) == ["v1", "v2"]
    assert Rater.objects.filter(kind="person").count() == 1


def test_whoever_comes_by_the_bare_link_is_somebody_new(live):
    assert come(live).pk != come(live).pk


def test_a_visit_survives_the_entry_form():
    params = {"PROLIFIC_PID": " p ", "STUDY_ID": "s", "SESSION_ID": "v" * 200}
    prolific = platform_of_params(params)
    visit = prolific.read_visit(params, {})
    assert (visit.platform, visit.external_id, len(visit.session_id)) == ("prolific", "p", 120)
    assert prolific.read_visit(prolific.visit_params(visit, {}), {}) == visit
    assert platform_of_params({"STUDY_ID": "s"}) is get_platform("link")
    assert platform_of_params({}).visit_params(Visit("link"), {}) == {}


@pytest.mark.parametrize("outcome", ["completed", "failed_qualification", "failed_attention"])
def test_work_that_was_handed_in_belongs_to_the_visit_that_did_it(live, outcome):
    there = come(live, "a")
    finish(there, outcome)
    back = enter(live, Visit("prolific", "a", "panel-study", "another visit"))
    assert (back, back.outcome) == (there, outcome)
    first, second = Submission.objects.order_by("pk")
    assert (first.outcome, first.is_late) == (outcome, False)
    assert (second.outcome, second.is_late) == ("", True)
    assert departure_of(back).code == live.completion_codes.get(outcome, "")
    assert Assignment.objects.filter(participant=there).count() == 1


def test_who_has_withdrawn_has_done_so_for_every_visit(live):
    there = come(live, "a")
    withdraw(there.token)
    enter(live, Visit("prolific", "a", "panel-study", "another visit"))
    assert list(Submission.objects.values_list("outcome", flat=True)) == ["withdrawn", "withdrawn"]


@pytest.mark.parametrize(
    ("status", "excluded", "outcome"),
    [("timed_out", False, "completed"), ("returned", False, "completed"), ("timed_out", True, ""),
     ("approved", False, ""), ("rejected", False, ""), ("active", False, "")],
)  # fmt: skip
def test_who_went_back_too_late_can_hand_in_on_a_further_visit(live, status, excluded, outcome):
    """The panel says that the visit in which they completed is over and unpaid; so it is not paid twice."""
    panel = Panel.objects.create(study=live, platform="prolific", external_id="panel-study")
    there = come(live, "a")
    hand_in(there.token)
    there.refresh_from_db()
    finish(there, "completed")
    PanelRecord.objects.create(
        panel=panel, external_id="visit-a", participant_id="a", submission=there.submissions.get(),
        status=status, status_at=timezone.now(),
    )  # fmt: skip
    if excluded:
        exclude(study=live, rater=there.rater, reason="Left out.")
    enter(live, Visit("prolific", "a", "panel-study", "another visit"))
    assert there.submissions.get(external_id="another visit").outcome == outcome


@pytest.mark.parametrize("change", [pause_study, close_study])
def test_a_study_that_is_not_live_takes_nobody_in_but_lets_those_back_who_were_there(live, change):
    here = come(live, "a")
    change(live)
    with pytest.raises(StudyNotOpen):
        come(live, "b")
    assert come(live, "a") == here
    assert Participant.objects.count() == Rater.objects.count() == 1


def test_a_full_study_takes_nobody_in(single):
    hand_in(come(single, "a").token)
    with pytest.raises(StudyFull):
        come(single, "b")
    assert Participant.objects.count() == Rater.objects.count() == 1


def test_arms_are_drawn_by_open_places_less_what_was_promised():
    study = make_crowd_study("arms", queries=6, arms=PAPER_ARMS, redundancy=1)
    drawn = [come(study, f"p{number}").arm.key for number in range(6)]
    assert sorted(Counter(drawn).values()) == [2, 2, 2]
    assert [places.free for places in arm_places(study, timezone.now())] == [0, 0, 0]


def test_who_left_long_ago_is_promised_nothing():
    study = make_crowd_study("arms", queries=3, arms=PAPER_ARMS, redundancy=1)
    gone = come(study, "gone")
    old = timezone.now() - timedelta(minutes=study.lease_minutes + 1)
    Participant.objects.update(consented_at=old)
    Assignment.objects.update(reserved_at=old)
    lapse(study=study)
    places = {each.arm: each.promised for each in arm_places(study, timezone.now())}
    assert places[gone.arm_id] == 0
