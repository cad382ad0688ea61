"""Scores by the API: all or nothing, and each fault by its place in the list."""

import pytest

from evaluation.models import Item, Judgment
from tests.evaluation.api.conftest import address


def send(caller, study, body):
    headers = {"Authorization": f"Bearer {caller.token}"}
    path = address(f"studies/{study.slug}/scores/")
    return caller.client.post(path, body, "application/json", headers=headers)


@pytest.fixture
def scores(study):
    item = Item.objects.filter(study=study, role="main").order_by("pk")[0]
    return [
        {"item": item.key, "system": each["system"], "name": "rouge", "score": number / 4}
        for number, each in enumerate(item.stimulus["responses"])
    ]


def test_scores_become_a_judge_s_measures(study, as_owner, scores):
    declared = [{"name": "rouge", "label": "ROUGE", "low": 0, "high": 1}]
    answer = send(as_owner, study, {"judge": "Script", "measures": declared, "scores": scores})
    assert answer.status_code == 201, answer.json()
    body = answer.json()
    assert (body["judge"], body["items"]) == ("Script", 1)
    assert body["measures"] == [
        {"name": "rouge", "label": "ROUGE", "subject": "response", "low": 0, "high": 1, "direction": "higher"}
    ]
    judgment = Judgment.objects.get(rater__label="Script")
    assert [answer.number for answer in judgment.answers.order_by("part")] == [0, 0.25]
    again = send(as_owner, study, {"judge": "Script", "scores": scores})
    assert (again.status_code, again.json()["code"]) == (409, "wrong_state")
    assert "has a judge 'Script' already" in again.json()["detail"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"item": "nowhere"}, "score 2: the study has no item 'nowhere'"),
        ({"system": "nobody"}, "has no response of system 'nobody'"),
        ({"score": "high"}, "A valid number is required"),
        ({"name": "two words"}, "score 2: the measure 'two words'"),
        ({"points": 3}, "points"),
    ],
)
def test_a_fault_is_named_and_nothing_is_written(study, as_owner, scores, change, sentence):
    before = Judgment.objects.count()
    answer = send(as_owner, study, {"judge": "Script", "scores": [scores[0], scores[1] | change]})
    refused = "study" in sentence or "system" in sentence or "measure" in sentence
    assert (answer.status_code, answer.json()["code"]) == ((409, "refused") if refused else (400, "invalid"))
    assert sentence in answer.json()["detail"]
    assert Judgment.objects.count() == before


def test_only_who_may_write_sends_scores(study, as_viewer, as_outsider, scores):
    body = {"judge": "Script", "scores": scores}
    assert send(as_viewer, study, body).status_code == 403
    assert send(as_outsider, study, body).status_code == 404
