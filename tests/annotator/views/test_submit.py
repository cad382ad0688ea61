"""Submitting: what is taken, what is sent back with everything kept, and that a second or late one moves on."""

import json
import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotator.models import Assignment, Slot
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Judgment
from tests.annotator.conftest import WITH, address, fields, home, text
from tests.annotator.views.test_page import ALL_STEPS, statements
from tests.calibrations import NEW, OLD, calibration_study, form, kept
from tests.crowd import before

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("compiled_and_built_in_audit")]


def test_records_and_moves_on(client, participant):
    target = address(client, participant)
    response = client.post(target, fields(client, participant, preference="tie", visible_ms="3"))
    assert (response.status_code, response["Location"]) == (303, home(participant))
    judgment = Judgment.objects.get()
    assert judgment.answers.get(question="preference").label == "tie"
    assert judgment.visible_ms == 3
    assert address(client, participant) != target


def test_with_context_every_cell_is_recorded(client, make):
    participant = enter(make(arms=WITH, follow_ups=2), Visit("link"))
    given = fields(client, participant) | {"satisfied.f1.r2": "0"}
    assert client.post(address(client, participant), given).status_code == 303
    cells = dict(Judgment.objects.get().answers.filter(question="satisfied").values_list("part", "number"))
    assert cells == {"f1.r1": 1, "f1.r2": 0, "f2.r1": 1, "f2.r2": 1}


def refused_at(target: str) -> str:
    """Where a form that was sent there is shown again, with what is wrong."""
    return f"{target.removesuffix('submit/')}?notice=refused"


def test_a_refusal_is_not_told_of_the_next_item(client, participant):
    """As who goes back to the page that showed it would be, after having put it right."""
    target = address(client, participant)
    refused = client.post(target, {"preference": "no such"})["Location"]
    assert "There is a problem" in client.get(refused).content.decode()
    client.post(target, fields(client, participant, preference="tie"))
    page = client.get(refused, follow=True)
    assert page.redirect_chain == [(home(participant), 303)]
    assert "There is a problem" not in page.content.decode()
    assert address(client, participant) != target


def test_incomplete_form_comes_back_with_everything_kept(client, make):
    participant = enter(make(arms=WITH, follow_ups=2), Visit("link"))
    target = address(client, participant)
    given = {
        "satisfied.f1.r1": "1",
        "satisfied.f2.r2": "0",
        "justification": "Because <b>it</b>",
        "visible_ms": "77",
    }
    response = client.post(target, given)
    assert (response.status_code, response["Location"]) == (303, refused_at(target))
    page = client.get(response["Location"]).content.decode()
    assert "2 choices are missing." in page
    assert 'href="#q-satisfied.f1.r2"' in page
    assert 'id="q-satisfied.f1.r2"' in page
    assert 'href="#q-preference"' in page
    assert 'id="e-satisfied.f2.r1"' in page
    assert "autofocus" in page
    assert "Problem: " in page
    checked = re.findall(r'name="([^"]+)" value="(\w+)"[^>]* checked', page)
    assert checked == [("satisfied.f1.r1", "1"), ("satisfied.f2.r2", "0")]
    assert "1 of 2 met" in page
    assert "Because &lt;b&gt;it&lt;/b&gt;" in page
    assert 'name="visible_ms" value="77"' in page
    assert not Judgment.objects.exists()
    assert Assignment.objects.get().state == "reserved"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"justification": "x"}, "Please choose one."),
        ({"preference": "r1", "justification": "   "}, "Please write a few words."),
        ({"preference": "r9", "justification": "x"}, "Please choose one of the options shown."),
        ({"preference": "r1", "justification": "x" * 20_001}, "please keep it under 20000 characters"),
        ({"preference": "r1", "justification": "x", "extra": "1"}, "not on this page"),
        ({"preference": "r1", "justification": "x", "satisfied.f1.r1": "1"}, "not on this page"),
        ({"preference.r1": "1", "justification": "x"}, "Please choose one of the options shown."),
        ({}, "Please choose one."),
    ],
)
def test_bad_input(client, participant, given, words):
    response = client.post(address(client, participant), given, follow=True)
    assert words in text(response)
    assert not Judgment.objects.exists()


def test_a_refused_form_sent_again_takes_nothing_from_the_draft(client, make):
    """As a browser does that loads the answer to a form again: it sends the form."""
    participant = enter(make(arms=WITH, follow_ups=1), Visit("link"))
    target = address(client, participant)
    blank = {"justification": "", "visible_ms": "900", "trace.justification": ""}
    assert client.post(target, blank).status_code == 303
    given = {"preference": "r2", "satisfied.f1.r1": "1", "justification": "Now with reasons."}
    client.post(address(client, participant, "draft"), given, content_type="application/json")
    page = client.get(client.post(target, blank)["Location"]).content.decode()
    kept = Assignment.objects.get().draft
    assert {name: kept[name] for name in given} == given
    assert "Now with reasons." in page
    assert re.findall(r'name="([^"]+)" value="(\w+)"[^>]* checked', page) == [
        ("satisfied.f1.r1", "1"),
        ("preference", "r2"),
    ]
    assert "1 choice is missing." in page


def test_after_a_refusal_the_page_says_what_is_still_wrong_now(client, participant):
    page = client.post(address(client, participant), {"justification": "x" * 15})["Location"]
    assert "Please choose one." in text(client.get(page))
    client.post(address(client, participant, "draft"), {"preference": "r1"}, content_type="application/json")
    mended = text(client.get(page))
    assert "Please choose one." not in mended
    assert "Please check them and submit them again" in mended
    assert "Please check them and submit them again" not in text(client.get(home(participant)))


def test_a_refusal_shows_no_other_item_and_keeps_the_place(client, participant):
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() + timedelta(seconds=30))
    client.post(address(client, participant), {"justification": "x"})
    assert Assignment.objects.get().state == "reserved"
    assert Slot.objects.get(state="reserved").leased_until > timezone.now() + timedelta(minutes=50)


def test_what_is_refused_late_can_still_be_put_right_and_is_paid(client, make):
    study = make(queries=2, redundancy=1, items_per_participant=2)
    participant = enter(study, Visit("link"))
    target, given = address(client, participant), fields(client, participant)
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() - timedelta(hours=1))
    taker = enter(study, Visit("link"))
    late = client.post(target, given | {"preference": ""})
    assert before(taker.token).item_id == Assignment.objects.get(participant=participant).item_id
    page = client.get(late["Location"])
    assert "Please choose one." in text(page)
    assert given["justification"] in text(page)
    assert f'action="{target}"' in page.content.decode()
    assert client.post(target, given)["Location"] == f"{home(participant)}?notice=late"
    assert Judgment.objects.get().surplus is True
    assert client.get(late["Location"])["Location"] == home(participant)


def test_a_refused_form_that_is_too_large_leaves_the_draft_as_it_was(client, participant):
    target = address(client, participant)
    client.post(target, {"justification": "so far"})
    answer = client.post(target, {"justification": "x" * 1_000_001})
    assert "were too long" in text(client.get(answer["Location"]))
    assert Assignment.objects.get().draft["justification"] == "so far"


@pytest.mark.parametrize("visible", ["", "-5", "1e9", "٣", "9" * 40, "abc"])
def test_nonsense_time_in_view_is_left_out(client, participant, visible):
    response = client.post(address(client, participant), fields(client, participant, visible_ms=visible))
    assert response.status_code == 303
    assert Judgment.objects.get().visible_ms is None


def test_time_in_view_never_exceeds_the_duration(client, participant):
    client.post(address(client, participant), fields(client, participant, visible_ms="99999999"))
    judgment = Judgment.objects.get()
    assert judgment.visible_ms == judgment.duration_ms


def test_double_submit_changes_nothing_and_says_so(client, participant):
    target, given = address(client, participant), fields(client, participant)
    client.post(target, given)
    response = client.post(target, given)
    assert response.status_code == 303
    assert Judgment.objects.get().answers.get(question="preference").label == "r1"
    assert "already done that item" in text(client.get(response["Location"]))


def test_late_submit_counts_while_the_place_is_free(client, participant):
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() - timedelta(hours=1))
    response = client.post(address(client, participant), fields(client, participant))
    assert response["Location"] == home(participant)
    assert Judgment.objects.get().surplus is False


def test_late_submit_of_a_taken_place_is_kept_as_surplus(client, make):
    study = make(queries=1, redundancy=1)
    participant = enter(study, Visit("link"))
    target, given = address(client, participant), fields(client, participant)
    Slot.objects.update(leased_until=timezone.now() - timedelta(hours=1))
    enter(study, Visit("link"))
    response = client.post(target, given)
    assert Judgment.objects.get().surplus is True
    assert "The time for that item ran out, and somebody else has judged it" in text(
        client.get(response["Location"])
    )


def test_somebody_elses_item_is_not_there(client, participant, other_participant):
    theirs = address(client, other_participant).replace(other_participant.token, participant.token)
    before = list(Assignment.objects.order_by("pk").values())
    assert client.get(theirs.replace("submit/", "")).status_code == 404
    for action in ("submit", "skip", "draft", "problem"):
        response = client.post(theirs.replace("submit", action), fields(client, participant))
        assert response.status_code == 404, action
    assert list(Assignment.objects.order_by("pk").values()) == before
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("action", ["submit", "skip", "draft", "problem"])
@pytest.mark.parametrize("tampered", [str(uuid.UUID(int=7)), "not-a-uuid", "1"])
def test_tampered_item(client, participant, action, tampered):
    assert client.post(f"{home(participant)}a/{tampered}/{action}/", {}).status_code == 404


@pytest.mark.parametrize("action", ["submit", "skip", "draft", "problem"])
def test_strangers_token(client, participant, action):
    target = address(client, participant, action).replace(participant.token, "nobody-has-this-token-here")
    assert client.post(target, {"preference": "r1"}).status_code == 404


@pytest.mark.parametrize("action", ["submit", "draft", "problem", "unskip"])
def test_wrong_method(client, participant, action):
    assert client.get(address(client, participant, action)).status_code == 405


def test_submitting_takes_at_most_eleven_queries(client, make):
    study = make(
        arms=WITH, queries=100, steps=ALL_STEPS | {"instructions": False}, checks=1, items_per_participant=9
    )
    participant = enter(study, Visit("link"))
    for number in range(9):
        target, given = address(client, participant), fields(client, participant, preference="tie")
        with CaptureQueriesContext(connection) as queries:
            assert client.post(target, given).status_code == 303
        assert len(statements(queries)) <= 11, number


# --- without scripts ----------------------------------------------------------------------------------------------


@pytest.fixture
def calibrator(db):
    study = calibration_study({"harbour": [[OLD, NEW]]}, items_per_participant=1)
    return enter(study, Visit("link"))


def entries_form(*ticked):
    fields = form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2"))
    return fields | {f"entries.{row}.merge": "1" for row in ticked}


def test_what_is_filled_in_is_shown_again_and_merged_and_nothing_is_handed_in(client, calibrator):
    assignment = before(calibrator.token)
    target = reverse("annotator:submit", args=[calibrator.token, assignment.pk])
    answer = client.post(target, entries_form("e2") | {"round.look": "1"}, follow=True)
    assert "Nothing has been submitted yet" in text(answer)
    assert "The first bridge; The bridge for cars" in text(answer)
    assert "Merged into entry 1" in text(answer)
    assert not Judgment.objects.exists()
    assert "round.look" not in Assignment.objects.get().draft
    # As the page is now, it is what a merge by script would hand in.
    shown = re.findall(r'name="(entries\.e[12]\.origins)" value="([^"]*)"', answer.content.decode())
    assert shown == [("entries.e1.origins", "r1.e1 r1.e2"), ("entries.e2.origins", "r1.e2")]


def test_what_is_ticked_is_merged_when_it_is_handed_in(client, calibrator):
    assignment = before(calibrator.token)
    target = reverse("annotator:submit", args=[calibrator.token, assignment.pk])
    assert client.post(target, entries_form("e2")).status_code == 303
    [entry] = Judgment.objects.get().answers.filter(question="entries")
    assert json.loads(entry.text)["origins"] == ["r1.e1", "r1.e2"]


def test_what_is_too_large_or_lost_is_not_shown_again(client, calibrator):
    assignment = before(calibrator.token)
    target = reverse("annotator:submit", args=[calibrator.token, assignment.pk])
    huge = {"entries.e1.reason": "x" * 1_000_001, "round.look": "1"}
    assert client.post(target, huge)["Location"].endswith("?notice=too-large")
    Assignment.objects.update(state="expired")
    answer = client.post(target, entries_form() | {"round.look": "1"})
    assert answer["Location"].endswith("?notice=lost")
    assert (
        client.post("/p/" + "x" * 32 + target[target.index("/a/") :], {"round.look": "1"}).status_code == 404
    )


# --- with scripts -------------------------------------------------------------------------------------------------


def test_the_next_item_comes_with_the_answer_where_it_is_asked_for(client, participant):
    target = address(client, participant)
    answer = client.post(f"{target}?next", fields(client, participant, preference="tie"))
    assert answer.status_code == 200
    assert answer.content == client.get(home(participant)).content
    assert address(client, participant) != target
    assert answer["Cache-Control"] == "no-store"
    # Sent again, as by two clicks, nothing is recorded twice.
    assert client.post(f"{target}?next", {"preference": "tie"}).status_code == 303
    assert Judgment.objects.count() == 1


def test_a_refused_form_is_redirected_to_as_ever(client, participant):
    target = address(client, participant)
    answer = client.post(f"{target}?next", {"preference": "no such"})
    assert (answer.status_code, answer["Location"]) == (303, refused_at(target))
