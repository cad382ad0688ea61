"""A study on Prolific: what is said before it is drafted, what is sent, and what is read back."""

import os
import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone

from annotator.models import Panel, SlotState
from annotator.panels.platforms.errors import PanelError, PanelUnreachable
from annotator.panels.services import recruiting, study_draft
from annotator.panels.services.panel_settings import set_panel
from annotator.panels.services.preflight import draft_problems
from annotator.panels.services.recruitment_filters import set_filters
from annotator.selectors.arms import people_needed
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Status
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories
from tests.annotator.panels.recruits import CODES, RULES, drafted_as, make, problems_of

STRICT = factories.NO_STEPS | {"attention": {"checks": 1, "allowed_failures": 0}}
pytestmark = pytest.mark.django_db


@pytest.fixture
def panel(study):
    return study_draft.draft_on_panel(study)


# --- drafting --------------------------------------------------------------------------------------------------------


def test_a_draft_says_what_the_study_is(prolific, study):
    panel = study_draft.draft_on_panel(study)
    sent = drafted_as(prolific)
    assert sent["name"] == "Pairs of answers"
    assert sent["external_study_url"] == (
        "https://assay.example.org/s/pairs/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    # 4 items x 3 judgments by people who do 3 each; money in cents.
    assert (sent["total_available_places"], sent["reward"], sent["estimated_completion_time"]) == (4, 525, 21)
    assert sent["filters"] == []
    assert "research@example.org" in sent["description"]
    codes = {
        each["code"]: (each["code_type"], each["actions"][0]["action"]) for each in sent["completion_codes"]
    }
    assert codes == {
        "C-DONE": ("COMPLETED", "MANUALLY_REVIEW"),
        "C-NO": ("NO_CONSENT", "REQUEST_RETURN"),
        "C-FULL": ("OTHER", "REQUEST_RETURN"),
        "C-OUT": ("OTHER", "MANUALLY_REVIEW"),
    }
    [there] = prolific.studies.values()
    assert (panel.external_id, panel.status, panel.places) == (there["id"], "UNPUBLISHED", 4)
    assert panel.drafted_at is not None
    with pytest.raises(WrongState):
        set_panel(study, "link", {}, "keep")


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"completion_codes": CODES | {"full": ""}}, "“study full” has no completion code"),
        ({"completion_codes": CODES | {"full": "C-DONE"}}, "'C-DONE' is used for several outcomes: completed, full"),
        ({"completion_codes": CODES | {"full": "C FULL"}}, "'C FULL' must have 1 to 40 characters and no spaces"),
        ({"steps": STRICT, "checks": 1}, "“failed attention checks” has no"),
        ({"pay": None}, "has no pay"),
        ({"contact": " "}, "participants must be able to reach you"),
    ],
)  # fmt: skip
def test_what_a_study_lacks_is_said_before_anything_is_sent(prolific, rules, said):
    study = make(**rules)
    [problem] = problems_of(study_draft.draft_on_panel, study)
    assert said in problem
    assert prolific.requests == []


def test_an_outcome_that_nobody_can_come_to_needs_no_code(prolific):
    steps = factories.NO_STEPS | {"consent": False, "attention": {"checks": 1, "allowed_failures": None}}
    codes = {name: code for name, code in CODES.items() if name != "no_consent"}
    assert draft_problems(make(steps=steps, checks=1, completion_codes=codes)) == []


@pytest.mark.parametrize(
    ("address", "api", "said"),
    [
        ("http://127.0.0.1:8000", "https://api.prolific.com/api/v1", "participants can't reach"),
        ("http://assay.example.org", "https://api.prolific.com/api/v1", "it must use https"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:9/api/v1", ""),
    ],
)
def test_participants_must_be_able_to_get_here(study, settings, address, api, said):
    settings.ASSAY_PUBLIC_URL, settings.ASSAY_PROLIFIC_URL = address, api
    found = draft_problems(study)
    assert [said in each for each in found] == [True] * bool(said)


def test_a_study_that_is_not_launched_or_has_nothing_to_do_is_not_drafted(prolific, study):
    draft = factories.make_study("other", **RULES)
    assert "launch it first" in problems_of(study_draft.draft_on_panel, draft)[0]
    study.slots.update(state=SlotState.RETIRED)
    assert (
        "The study has no open slots: nobody is needed" in problems_of(study_draft.draft_on_panel, study)[0]
    )


def test_without_a_token_nothing_is_asked(study, settings):
    settings.ASSAY_PROLIFIC_TOKEN = ""
    assert problems_of(study_draft.draft_on_panel, study) == ["ASSAY_PROLIFIC_TOKEN is not set."]


def test_a_study_is_drafted_once(prolific, study, panel):
    assert "The study is already drafted on Prolific, as" in problems_of(study_draft.draft_on_panel, study)[0]
    assert len(prolific.studies) == 1


@pytest.mark.parametrize("fault", ["act_then_hang_up", "act_then_500"])
def test_a_draft_whose_answer_was_lost_is_taken_up_again(prolific, study, fault):
    prolific.fail("POST", "^/studies/$", fault)
    with pytest.raises(PanelError):
        study_draft.draft_on_panel(study)
    assert not Panel.objects.exclude(drafted_at=None).exists()
    study.pay = Decimal("6.00")
    study.save(update_fields=["pay"])
    panel = study_draft.draft_on_panel(study)
    assert len(prolific.studies) == 1
    assert prolific.studies[panel.external_id]["reward"] == 600


def test_what_was_published_there_meanwhile_is_not_drafted_over(prolific, study):
    prolific.fail("POST", "^/studies/$", "act_then_hang_up")
    with pytest.raises(PanelUnreachable):
        study_draft.draft_on_panel(study)
    [there] = prolific.studies.values()
    there["status"] = "ACTIVE"
    assert "which is recruiting" in problems_of(study_draft.draft_on_panel, study)[0]


def test_two_do_not_draft_at_once(prolific, study):
    panel = set_panel(study, "prolific", {}, "keep")
    Panel.objects.filter(pk=panel.pk).update(status=study_draft.DRAFTING, status_at=timezone.now())
    assert "Somebody is drafting" in problems_of(study_draft.draft_on_panel, study)[0]
    assert prolific.requests == []
    # Whoever began was killed.
    long_ago = timezone.now() - study_draft.DRAFTING_FOR - timedelta(seconds=1)
    Panel.objects.filter(pk=panel.pk).update(status_at=long_ago)
    assert study_draft.draft_on_panel(study).external_id in prolific.studies


@pytest.mark.parametrize("fault", ["", "500"])
def test_who_took_too_long_to_draft_leaves_it_to_the_next(prolific, study, monkeypatch, fault):
    """Another began meanwhile, since the first was taken for dead: theirs stays theirs, also if the first fails."""
    really = study_draft._create_or_adopt
    began = timezone.now() + timedelta(minutes=20)

    def overtaken(client, fields):
        Panel.objects.update(status_at=began)
        if fault:
            prolific.fail("GET", "^/studies/$", fault, times=9)
        return really(client, fields)

    monkeypatch.setattr(study_draft, "_create_or_adopt", overtaken)
    with pytest.raises(PanelError if fault else Refused):
        study_draft.draft_on_panel(study)
    panel = Panel.objects.get()
    assert (panel.status, panel.status_at, panel.drafted_at) == (study_draft.DRAFTING, began, None)


def test_codes_that_change_while_the_study_is_drafted_are_not_fixed(prolific, study, monkeypatch):
    kept = study_draft._keep_draft

    def change_first(*args):
        type(study).objects.update(completion_codes=CODES | {"completed": "C-OTHER"})
        monkeypatch.setattr(study_draft, "_keep_draft", kept)
        kept(*args)

    monkeypatch.setattr(study_draft, "_keep_draft", change_first)
    assert "were changed while" in problems_of(study_draft.draft_on_panel, study)[0]
    study.refresh_from_db()
    panel = study_draft.draft_on_panel(study)
    there = {each["code"] for each in prolific.studies[panel.external_id]["completion_codes"]}
    assert there == set((CODES | {"completed": "C-OTHER"}).values())


@pytest.fixture
def postgres(transactional_db):
    if connection.vendor == "postgresql":
        return
    if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
        pytest.fail("DATABASE_URL names no PostgreSQL")
    pytest.skip("DATABASE_URL names no PostgreSQL")


def waits_for_a_lock():
    with connection.cursor() as cursor:
        # The locks of rows name no database; who waits for one holds others in this one.
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_locks "
            "WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
        )
        [waiting] = cursor.fetchone()
    return waiting > 0


@pytest.mark.postgres
@pytest.mark.usefixtures("postgres")
def test_whom_it_takes_is_not_changed_while_the_draft_made_from_it_is_kept(prolific, monkeypatch):
    study = make()
    set_filters(study, {"approval_rate": 90})
    really, refused = study_draft._claim, []

    def change():
        try:
            set_filters(type(study).objects.get(pk=study.pk), {"approval_rate": 50})
        except Refused as why:
            refused.extend(why.problems)
        finally:
            connection.close()

    other = threading.Thread(target=change)

    def change_in_between(panel, at):
        """Once it was looked whether it is still the same; the other is through then, or waits."""
        other.start()
        while other.is_alive() and not waits_for_a_lock():
            other.join(0.01)
        return really(panel, at)

    monkeypatch.setattr(study_draft, "_claim", change_in_between)
    panel = study_draft.draft_on_panel(study)
    other.join()
    panel.refresh_from_db()
    assert panel.drafted["filters"][0]["selected_range"] == {"lower": 90}
    assert panel.whom == {"approval_rate": 90}
    assert refused == ["The study was drafted in the meantime; reload the page first."]


# --- how many people -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "needed"),
    [
        ({}, 4),
        ({"items_per_participant": 5}, 3),
        # Nobody judges a query twice, so three judgments are three people, however much each of them may do.
        ({"items_per_participant": 100}, 3),
        ({"queries": 1, "items_per_participant": 1, "redundancy": 2}, 2),
        ({"arms": PAPER_ARMS, "items_per_participant": 4}, 9),
    ],
)
def test_places_are_what_the_open_slots_need(rules, needed):
    assert people_needed(make(**rules), timezone.now()) == needed


def test_who_is_at_it_is_not_looked_for_again(study):
    for number in range(3):
        enter(study, Visit("prolific", f"person-{number}", "there", f"visit-{number}"))
    assert people_needed(study, timezone.now()) == 1
    enter(study, Visit("prolific", "person-4", "there", "visit-4"))
    assert people_needed(study, timezone.now()) == 0


# --- moving it -------------------------------------------------------------------------------------------------------


def test_published_paused_started_and_given_more_places(prolific, panel):
    assert recruiting.publish(panel).status == "ACTIVE"
    assert recruiting.pause(panel).status == "PAUSED"
    assert recruiting.start(panel).status == "ACTIVE"
    assert recruiting.add_places(panel, 3, shown=4)
    assert panel.places == 7
    assert prolific.studies[panel.external_id]["total_available_places"] == 7


def test_what_is_so_already_is_not_asked_for(prolific, open_panel):
    recruiting.publish(open_panel)
    assert len(prolific.sent("POST", "/transition/")) == 1


@pytest.mark.parametrize("fault", ["act_then_hang_up", "act_then_500"])
def test_publishing_whose_answer_was_lost_is_looked_up(prolific, panel, fault):
    prolific.fail("POST", "/transition/", fault)
    assert recruiting.publish(panel).status == "ACTIVE"
    assert len(prolific.sent("POST", "/transition/")) == 1


def test_publishing_that_was_not_heard_of_is_an_error(prolific, panel):
    prolific.fail("POST", "/transition/", "hang_up")
    with pytest.raises(PanelUnreachable):
        recruiting.publish(panel)
    panel.refresh_from_db()
    assert panel.status == "UNPUBLISHED"


def test_more_places_are_added_once_whatever_gets_lost(prolific, open_panel):
    prolific.fail("PATCH", "", "act_then_hang_up")
    assert recruiting.add_places(open_panel, 3, shown=4)
    assert not recruiting.add_places(open_panel, 3, shown=4), "the second press of the same page"
    assert open_panel.places == prolific.studies[open_panel.external_id]["total_available_places"] == 7
    assert len(prolific.sent("PATCH", "^/studies/")) == 2, "one was lost and asked again"
    assert "has 7 places, not 5" in problems_of(recruiting.add_places, open_panel, 3, shown=5)[0]
    assert (
        "The number of places is not known yet"
        in problems_of(recruiting.add_places, open_panel, 3, shown=None)[0]
    )
    assert "can't be added" in problems_of(recruiting.add_places, open_panel, 0, shown=7)[0]
    assert prolific.studies[open_panel.external_id]["total_available_places"] == 7


def test_codes_that_somebody_changed_there_keep_it_from_going_on_but_not_from_pausing(prolific, open_panel):
    prolific.studies[open_panel.external_id]["completion_codes"][0]["code"] = "ELSE"
    assert recruiting.pause(open_panel).status == "PAUSED"
    assert "differ from the study's" in problems_of(recruiting.start, open_panel)[0]
    assert "differ from the study's" in problems_of(recruiting.add_places, open_panel, 1, shown=4)[0]


def test_nobody_is_sent_to_a_study_that_takes_nobody(prolific, panel):
    panel.study.status = Status.PAUSED
    assert "nobody could take part" in problems_of(recruiting.publish, panel)[0]
    assert prolific.sent("POST", "/transition/") == []


def test_what_can_not_follow_is_said(panel):
    assert "is a draft on Prolific" in problems_of(recruiting.pause, panel)[0]
    assert (
        "not drafted" in problems_of(recruiting.sync_study, Panel(study=panel.study, platform="prolific"))[0]
    )
