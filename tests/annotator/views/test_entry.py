"""The door: what it shows to whom, and that only an agreement stores anything."""

import re

import pytest

from annotator.models import Participant, Slot, Submission
from annotator.services.work.progress import finish
from evaluation.models import Import, Rater
from evaluation.services.studies.launch import close_study, pause_study, resume_study
from tests import factories
from tests.annotator.conftest import VISIT, home, text

pytestmark = pytest.mark.django_db


def agree(client, visit=VISIT, slug="pairs"):
    return client.post(f"/s/{slug}/", visit | {"choice": "agree"})


def stored():
    return Participant.objects.count(), Submission.objects.count(), Rater.objects.count()


def test_says_what_it_is_about(client, make):
    make(title="Which answer is better?", paid_minutes=12, pay="2.50", queries=8, items_per_participant=7)
    page = text(client.get("/s/pairs/", VISIT))
    for words in (
        "Which answer is better?",
        "about 12 minutes",
        "£2.50",
        "up to 7",
        "voluntary",
        "I do not agree",
    ):
        assert words in page


def test_get_stores_nothing_and_carries_the_visit(client, pairs):
    response = client.get("/s/pairs/", VISIT)
    assert stored() == (0, 0, 0)
    assert not Slot.objects.exclude(state="open").exists()
    for name, value in VISIT.items():
        assert f'name="{name}" value="{value}"' in response.content.decode()


def test_agreeing_takes_in(client, pairs):
    response = agree(client)
    participant = Participant.objects.get()
    assert (response.status_code, response["Location"]) == (303, home(participant))
    assert participant.external_id == "person-1"
    assert participant.consent_version
    assert participant.submissions.get().external_id == "visit-1"


def test_declining_stores_nothing_and_shows_the_code(client, pairs):
    response = client.post("/s/pairs/", VISIT | {"choice": "decline"})
    assert response.status_code == 200
    assert "NO-1" in text(response)
    assert "https://app.prolific.com/submissions/complete?cc=NO-1" in response.content.decode()
    assert stored() == (0, 0, 0)


def test_declining_in_mid_study_leads_back_to_it(client, participant):
    """Another window stood open at the door: no code says that somebody did not consent who did."""
    again = VISIT | {"choice": "decline"}
    assert client.post("/s/pairs/", again)["Location"] == home(participant)
    new_visit = client.post("/s/pairs/", again | {"SESSION_ID": "visit-9"})
    assert "Welcome back" in text(new_visit)
    assert "NO-1" not in text(new_visit)
    participant.refresh_from_db()
    assert participant.outcome == ""


@pytest.mark.parametrize("choice", ["", "perhaps"])
def test_no_choice_shows_the_door_again(client, pairs, choice):
    refused = client.post("/s/pairs/", VISIT | {"choice": choice})
    assert refused.status_code == 303, "so that loading it again sends nothing"
    response = client.get(refused["Location"])
    assert "I agree" in text(response)
    assert 'value="visit-1"' in response.content.decode()
    assert stored() == (0, 0, 0)


def test_without_consent_step_there_is_a_start(client, make):
    make(steps=factories.NO_STEPS | {"consent": False})
    page = text(client.get("/s/pairs/"))
    assert "Start" in page
    assert "I agree" not in page


def test_known_person_on_a_known_visit_goes_straight_on(client, participant):
    assert client.get("/s/pairs/", VISIT)["Location"] == home(participant)


def test_known_person_on_a_new_visit_is_a_new_submission_of_theirs(client, participant):
    again = VISIT | {"SESSION_ID": "visit-9"}
    response = client.get("/s/pairs/", again)
    assert "Welcome back" in text(response)
    assert Submission.objects.count() == 1
    assert agree(client, again)["Location"] == home(participant)
    assert Participant.objects.count() == 1
    assert set(participant.submissions.values_list("external_id", flat=True)) == {"visit-1", "visit-9"}
    assert agree(client, again)["Location"] == home(participant)
    assert Submission.objects.count() == 2


@pytest.mark.parametrize("visit", [VISIT, {"PROLIFIC_PID": "person-1"}], ids=["known visit", "no visit"])
def test_finished_person_on_no_new_visit_sees_their_code_at_once(client, participant, visit):
    finish(participant, "completed")
    response = client.get("/s/pairs/", visit, follow=True)
    assert "DONE-1" in text(response)
    assert Submission.objects.count() == 1


@pytest.mark.parametrize(
    ("outcome", "said"),
    [("completed", "already done this study"), ("failed_attention", "You can't take part again")],
)
def test_finished_person_on_a_new_visit_is_told_so_and_gets_no_code_for_it(
    client, participant, outcome, said
):
    code = "DONE-1" if outcome == "completed" else "FAIL-1"
    participant.study.completion_codes |= {"failed_attention": "FAIL-1"}
    participant.study.save()
    finish(participant, outcome)
    again = VISIT | {"SESSION_ID": "visit-9"}
    door = client.get("/s/pairs/", again)
    assert "your participation has ended" in text(door)
    assert "Show my code" not in text(door)
    assert Submission.objects.count() == 1, "a GET records nothing"
    fields = dict(re.findall(r'name="([A-Z_]+)" value="([^"]*)"', door.content.decode()))
    for _ in range(2):  # a second click records nothing more
        answer = client.post("/s/pairs/", fields | {"choice": "agree"})
        assert answer.status_code == 200
        assert said in text(answer)
        assert code not in text(answer)
    first, second = participant.submissions.order_by("pk")
    assert (second.external_id, second.external_study_id) == ("visit-9", "panel-study")
    assert (second.outcome, first.outcome) == ("", outcome)
    assert second.ended_at is not None
    assert Participant.objects.count() == 1
    assert code not in text(client.get("/s/pairs/", again, follow=True)), "nor by the same address again"
    # The visit in which they did it shows its code as often as they look.
    for _ in range(2):
        assert code in text(client.get("/s/pairs/", VISIT, follow=True))


@pytest.mark.parametrize("change", [pause_study, close_study])
def test_finished_person_on_a_new_visit_gets_through_whatever_the_study_does(client, participant, change):
    finish(participant, "withdrawn")
    change(participant.study)
    again = VISIT | {"SESSION_ID": "visit-9"}
    assert "Show my code" in text(client.get("/s/pairs/", again))
    assert "OUT-1" in text(client.post("/s/pairs/", again | {"choice": "agree"}, follow=True))
    assert participant.submissions.get(external_id="visit-9").outcome == "withdrawn"


def test_finished_person_without_a_code_is_not_promised_one(client, participant):
    finish(participant, "timed_out")
    page = text(client.get("/s/pairs/", VISIT | {"SESSION_ID": "visit-9"}))
    assert "your participation has ended" in page
    assert "Show my code" not in page


def test_link_participants_are_one_each_and_may_resume(client, pairs):
    assert 'data-slug="pairs"' in client.get("/s/pairs/").content.decode()
    first, second = agree(client, {}), agree(client, {})
    assert first["Location"] != second["Location"]
    assert 'data-slug="pairs"' in client.get(first["Location"]).content.decode()


def test_panel_participants_leave_nothing_in_the_browser(client, participant):
    assert "remember.js" not in client.get(home(participant)).content.decode()
    assert "resume.js" not in client.get("/s/pairs/", VISIT).content.decode()


def test_paused_and_closed_say_so(client, pairs):
    pause_study(pairs)
    assert "This study is paused" in text(client.get("/s/pairs/"))
    assert "This study is paused" in text(agree(client))
    resume_study(pairs)
    close_study(pairs)
    assert "This study is over" in text(client.get("/s/pairs/"))
    assert "This study is over" in text(agree(client))
    assert stored() == (0, 0, 0)


def test_known_person_gets_through_the_door_of_a_paused_study(client, participant):
    pause_study(participant.study)
    assert client.get("/s/pairs/", VISIT)["Location"] == home(participant)


def test_full_shows_its_code_and_stores_nothing(client, pairs):
    Slot.objects.update(state="retired")
    for response in (client.get("/s/pairs/", VISIT), agree(client)):
        assert "All places are taken" in text(response)
        assert "FULL-1" in text(response)
    assert stored() == (0, 0, 0)


def test_drafts_and_running_imports_are_not_there(client, db):
    study = factories.make_study("raw")
    assert client.get("/s/raw/").status_code == 404
    factories.launch(study)
    assert client.get("/s/raw/").status_code == 200
    study.created_by_import = Import.objects.create(file_name="f", format="jsonl")
    study.save()
    assert client.get("/s/raw/").status_code == 404
    assert client.get("/s/no-such-study/").status_code == 404


def test_ids_that_no_database_takes_are_cleaned(client, pairs):
    assert client.get("/s/pairs/?PROLIFIC_PID=a%00b").status_code == 200
    assert agree(client, {"PROLIFIC_PID": "a\x00b", "SESSION_ID": "x" * 500}).status_code == 303
    assert Participant.objects.get().external_id == "ab"


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_wrong_method(client, pairs, method):
    assert getattr(client, method)("/s/pairs/").status_code == 405
