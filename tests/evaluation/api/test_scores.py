"""Scores by the API: all or nothing, and each fault by its place in the list."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.models import Item, Job, Judgment, Upload
from evaluation.tasks import work_on_job
from tests.evaluation.api.conftest import address
from tests.evaluation.api.test_uploads import post_form, sent


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


def as_table(scores):
    lines = [f"{each['item']},{each['system']},{each['score']}" for each in scores]
    return "\n".join(["item,system,score", *lines, ""]).encode()


def test_a_file_of_scores_is_a_job_once_for_its_key(study, as_owner, scores):
    path, about = f"studies/{study.slug}/scores/file/", {"judge": "Script", "name": "rouge", "low": 0}
    begun = [
        post_form(
            as_owner, path, key="once", file=SimpleUploadedFile("scores.csv", as_table(scores)), **about
        )
        for _ in range(2)
    ]
    assert begun[0].status_code == 202, begun[0].content
    assert begun[0].json() == begun[1].json()
    job = begun[0].json()["id"]
    work_on_job(job)
    done = as_owner.get(f"jobs/{job}/").json()
    assert (done["state"], done["message"]) == ("done", "Script: rouge of 1 item.")
    rater = study.raters.get(label="Script")
    assert (rater.about["measures"][0]["low"], rater.about["measures"][0]["high"]) == (0, None)


def test_a_file_of_scores_comes_in_parts_too(study, as_owner, scores, django_capture_on_commit_callbacks):
    raw = as_table([*scores, scores[0] | {"item": "nowhere"}])
    with django_capture_on_commit_callbacks(execute=True):
        begun = post_form(
            as_owner, f"studies/{study.slug}/scores/file/", upload=sent(as_owner, raw, size=20), judge="Script",
            name="rouge",
        )  # fmt: skip
    assert begun.status_code == 202, begun.content
    assert not Upload.objects.exists()
    assert Job.objects.get().path.read_bytes() == raw
    work_on_job(begun.json()["id"])
    failed = as_owner.get(f"jobs/{begun.json()['id']}/").json()
    assert (failed["state"], failed["problems"][0]["place"]) == ("failed", "line 4"), failed
    assert not study.raters.filter(label="Script").exists()


def test_what_a_file_of_scores_lacks_is_named(study, as_owner, as_viewer, as_outsider, scores):
    path = f"studies/{study.slug}/scores/file/"
    for form, field in (
        ({}, "judge"),
        ({"judge": "S", "low": 2, "high": 1}, "high"),
        ({"judge": "S", "up": 1}, "up"),
    ):
        answer = as_owner.upload(path, as_table(scores), "scores.csv", **form)
        assert (answer.status_code, [each["field"] for each in answer.json()["errors"]]) == (400, [field])
    as_owner.post("studies/", {"title": "Own", "protocol": "pairwise"})
    draft = as_owner.upload("studies/own/scores/file/", as_table(scores), "scores.csv", judge="Script")
    assert (draft.status_code, draft.json()["code"]) == (409, "wrong_state")
    for caller, status in ((as_viewer, 403), (as_outsider, 404)):
        assert caller.upload(path, as_table(scores), "scores.csv", judge="Script").status_code == status
    assert not Job.objects.exists()
