"""Asking a model for a revised draft, and hearing what became of it: by script and by plain form."""

import json

import pytest
from kombu.exceptions import OperationalError

from annotator.models import Assignment, DraftRound
from annotator.services.admission.entry import enter
from annotator.services.work.drafts import MAX_DRAFT
from annotator.visit import Visit
from evaluation import tasks
from evaluation.extension import Reviser, RevisionFailed
from evaluation.models import Job
from tests.annotator.conftest import home, text
from tests.calibrations import FERRY, NEW, OLD, calibration_draft, calibration_study, form, kept
from tests.extensions import extend
from tests.factories import launch

ASKING = {
    **form(kept(OLD, "r1.e1"), kept(NEW, "r1.e2")),
    "round.instruction": "Add the ferry.",
    "visible_ms": "9",
}


@pytest.fixture
def model(monkeypatch):
    def revise(item, entries, instruction):
        if "swear" in instruction:
            raise RevisionFailed("The model refused.")
        return [*entries, FERRY]

    extend(monkeypatch, alone=True, reviser=lambda: Reviser(lambda item: "a-model", revise))


@pytest.fixture(autouse=True)
def at_once(settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True


@pytest.fixture
def participant(db):
    return enter(calibration_study({"q1": [[OLD, NEW]]}), Visit("link"))


def target(participant, action="revise"):
    return f"{home(participant)}a/{Assignment.objects.get(participant=participant).pk}/{action}/"


def send(client, participant, **fields):
    body = json.dumps(ASKING | fields)
    return client.post(target(participant), body, content_type="application/json")


def rounds(client, participant):
    return client.get(target(participant, "rounds")).json()


def test_a_script_asks_and_hears_of_it(client, model, participant):
    assert rounds(client, participant) == []
    answer = send(client, participant)
    assert (answer.status_code, answer.json()) == (202, {"number": 1, "state": "waiting"})
    entries = [kept(OLD, "r1.e1"), kept(NEW, "r1.e2")]
    assert rounds(client, participant) == [
        {
            "number": 1,
            "state": "done",
            "instruction": "Add the ferry.",
            "after": [*entries, kept(FERRY, "m1.e3")],
            "problem": "",
        }
    ]


def test_a_form_goes_back_to_its_page_with_what_was_filled_in(client, model, participant):
    answer = client.post(target(participant), ASKING | {"comments": "Not done yet."})
    assert answer.status_code == 303
    page = client.get(answer["Location"])
    assert "Continue with your own work and check again in a moment" in text(page)
    assert "Not done yet." in page.content.decode()
    assert "round.instruction" not in Assignment.objects.get().draft
    assert DraftRound.objects.get().state == "done"


def test_a_failure_is_told_and_it_can_be_asked_again(client, model, participant):
    send(client, participant, **{"round.instruction": "Now swear."})
    [told] = rounds(client, participant)
    assert (told["state"], told["problem"]) == ("failed", "The model refused.")
    assert send(client, participant).json()["number"] == 2


def test_without_a_broker_it_is_told_at_once_and_never_asked_later(client, model, participant, monkeypatch):
    def unreachable(*given):
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(tasks.work_on_job, "delay", unreachable)
        send(client, participant)
    [told] = rounds(client, participant)
    assert told["state"] == "failed"
    assert "can't be asked at the moment" in told["problem"]
    assert not Job.objects.exists()
    send(client, participant)
    assert [each["state"] for each in rounds(client, participant)] == ["failed", "done"]


def test_what_is_refused_says_why_and_keeps_what_was_filled_in(client, model, participant, monkeypatch):
    monkeypatch.setattr(tasks.work_on_job, "delay", lambda job_id: None)  # nobody works on it yet
    assert send(client, participant).status_code == 202
    answer = send(client, participant, comments="Meanwhile")
    assert answer.status_code == 409
    assert "still working on your last request" in answer.json()["error"]
    draft = Assignment.objects.get().draft
    assert (draft["comments"], draft["round.instruction"]) == ("Meanwhile", "Add the ferry.")
    page = client.post(target(participant), ASKING)
    assert "still working on your last request" in text(client.get(page["Location"]))


def test_without_a_model(client, participant):
    answer = send(client, participant)
    assert answer.status_code == 409
    assert "No model is available" in answer.json()["error"]
    assert not DraftRound.objects.exists()


@pytest.mark.parametrize("body", ["{", "[]", b"\xff"])
def test_bad_json(client, model, participant, body):
    answer = client.post(target(participant), body, content_type="application/json")
    assert answer.status_code == 400
    assert not DraftRound.objects.exists()


def test_too_large(client, model, participant):
    answer = send(client, participant, comments="x" * MAX_DRAFT)
    assert answer.status_code == 413
    assert "were too long" in answer.json()["error"]
    answer = client.post(target(participant), ASKING | {"comments": "x" * MAX_DRAFT})
    assert "were too long" in text(client.get(answer["Location"]))
    assert not DraftRound.objects.exists()


@pytest.mark.parametrize("action", ["revise", "rounds"])
def test_strangers_and_wrong_methods(client, model, participant, action):
    method, wrong = (client.post, client.get) if action == "revise" else (client.get, client.post)
    assert wrong(target(participant, action)).status_code == 405
    stranger = target(participant, action).replace(participant.token, "x" * 32)
    assert method(stranger).status_code == 404
    other = enter(participant.study, Visit("link"))
    mine = Assignment.objects.get(participant=participant).pk
    assert method(f"{home(other)}a/{mine}/{action}/").status_code == 404


@pytest.mark.parametrize(
    ("limits", "statuses"),
    [
        ({"revisions_anonymous": 0}, [409, 409, 409, 409]),
        ({"revisions_anonymous": 1, "revisions_in_all": 3}, [202, 202, 202, 409]),
        ({"revisions_anonymous": 1, "revisions_per_day": 2}, [202, 202, 409, 409]),
    ],
    ids=["as it is without a word", "in all", "a day"],
)
def test_coming_back_again_and_again_buys_no_more(client, model, db, limits, statuses):
    """Each time by the open link, asking once and withdrawing: every revision is at the researchers' cost."""
    draft = calibration_draft({"q1": [[OLD, NEW]]}, redundancy=4)
    study = launch(draft, **limits)
    found = []
    for _ in statuses:
        somebody = enter(study, Visit("link"))
        found.append(send(client, somebody).status_code)
        client.post(f"{home(somebody)}withdraw/", {"leave_out": "1"})
    assert found == statuses
