"""Drafts: kept, limited, and with them the lease."""

import json
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from annotator.models import Assignment, Slot
from annotator.services.admission.entry import enter
from annotator.services.work.drafts import MAX_DRAFT
from annotator.visit import Visit
from tests.annotator.conftest import address, fields, home, text

pytestmark = pytest.mark.django_db


def send(client, participant, body):
    return client.post(address(client, participant, "draft"), body, content_type="application/json")


def test_keeps_fields_and_extends_the_lease(client, participant):
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() + timedelta(seconds=30))
    response = send(client, participant, {"preference": "r2", "problem_note": "not an answer", "n": 5})
    assert response.status_code == 200
    slot = Slot.objects.get(state="reserved")
    assert datetime.fromisoformat(response.json()["leased_until"]) == slot.leased_until
    assert 3500 < response.json()["lease_seconds"] <= 3600
    assert Assignment.objects.get().draft == {"preference": "r2"}


BAD_JSON = {
    "cut off": "{",
    "a list": "[]",
    "null": "null",
    "a text": '"x"',
    "no UTF-8": b"\xff\xfe",
    "deep": '{"justification": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "NUL": '{"justification": "a\\u0000b"}',
    "NUL in a name": '{"a\\u0000b": "x"}',
    "NUL as it is": '{"justification": "a\0b"}',
    "half a character": '{"justification": "a\\ud800b"}',
    "half a character in a name": '{"\\udc00": "x"}',
    "no number": '{"n": NaN}',
    "endless": '{"n": 1e999}',
}


@pytest.mark.parametrize("view", ["draft", "revise"])
@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON)
def test_bad_json_is_refused_with_the_reason(client, participant, view, body):
    answer = client.post(address(client, participant, view), body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(("This is not", "This holds", "The JSON is"))
    assert Assignment.objects.get().draft == {}


def test_a_backslash_is_no_nul(client, participant):
    assert send(client, participant, '{"justification": "C:\\\\u0000"}').status_code == 200
    assert Assignment.objects.get().draft == {"justification": "C:\\u0000"}


def test_a_form_s_text_that_no_database_takes_is_cleaned(client, participant):
    form = {"justification": "a\x00b", "x\x00": "y"}
    assert client.post(address(client, participant, "draft"), form).status_code == 303
    assert Assignment.objects.get().draft == {"justification": "ab", "x": "y"}
    assert client.get(home(participant)).status_code == 200


def test_too_large(client, participant):
    assert send(client, participant, {"justification": "x" * MAX_DRAFT}).status_code == 413
    form = {"justification": "x" * MAX_DRAFT}
    answer = client.post(address(client, participant, "draft"), form)
    assert answer.status_code == 303
    assert "were too long" in text(client.get(answer["Location"]))
    assert Assignment.objects.get().draft == {}


def test_lost_place_is_told(client, make):
    study = make(queries=1, redundancy=1)
    participant = enter(study, Visit("link"))
    target = address(client, participant, "draft")
    Slot.objects.update(leased_until=timezone.now() - timedelta(hours=1))
    enter(study, Visit("link"))
    response = client.post(target, {"preference": "r1"}, content_type="application/json")
    assert response.status_code == 409
    form = client.post(target, {"preference": "r1"})
    assert "That item is no longer reserved for you" in text(client.get(form["Location"]))


def test_after_submitting_nothing_is_kept(client, participant):
    target = address(client, participant, "draft")
    client.post(address(client, participant), fields(client, participant))
    assert client.post(target, json.dumps({"a": "b"}), content_type="application/json").status_code == 409
    assert not Assignment.objects.exclude(draft={}).exists()


def test_form_without_script_keeps_and_gives_more_time(client, participant):
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() + timedelta(seconds=30))
    given = {"justification": "so far", "preference": "tie"}
    response = client.post(address(client, participant, "draft"), given)
    assert response.status_code == 303
    page = client.get(response["Location"])
    assert "You have more time" in text(page)
    assert "so far" in text(page)
    assert Slot.objects.get(state="reserved").leased_until > timezone.now() + timedelta(minutes=50)


def test_checks_answer_like_items(client, make):
    """An attention check has no place to lose, and its draft must not tell."""
    study = make(queries=4, checks=1, steps={"attention": {"checks": 1}}, items_per_participant=2)
    participant = enter(study, Visit("link"))
    client.post(address(client, participant), fields(client, participant))
    assert Assignment.objects.get(state="reserved").slot is None
    answer = send(client, participant, {"preference": "r1"})
    assert 3500 < answer.json()["lease_seconds"] <= 3600
