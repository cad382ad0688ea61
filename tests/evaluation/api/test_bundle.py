"""A study's replication bundle by the API: for members only, written by a worker, fetched once it is there."""

import pytest

from evaluation import tasks
from evaluation.models import Job
from evaluation.services.exclusions import exclude
from tests.analytics.reports.judging import judged_study
from tests.evaluation.api.conftest import address
from tests.evaluation.api.test_reading import under

BUNDLE, FILE = "bundle/", "bundle/file/"


@pytest.fixture
def sent(monkeypatch, settings, tmp_path):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    found = []
    monkeypatch.setattr(tasks, "send_job", lambda pk: found.append(pk) or True)
    return found


def test_it_is_written_by_the_worker_and_fetched(
    study, as_owner, as_viewer, sent, django_capture_on_commit_callbacks
):
    assert as_owner.get(under(study, BUNDLE)).json() == {
        "state": "none", "ready": False, "current": False, "percent": 0, "message": "", "bytes": 0,
    }  # fmt: skip
    answer = as_owner.get(under(study, FILE))
    assert (answer.status_code, answer.json()["code"]) == (409, "not_made")
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_viewer.post(under(study, BUNDLE), {})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    again = as_owner.post(under(study, BUNDLE), {})
    assert (again.status_code, again.json()["code"]) == (409, "refused")
    tasks.work_on_job(sent[0])
    told = as_viewer.get(under(study, BUNDLE)).json()
    assert (told["state"], told["ready"], told["current"]) == ("done", True, True)
    whole = as_viewer.get(under(study, FILE))
    content = whole.getvalue()
    assert content.startswith(b"PK")
    assert len(content) == told["bytes"]
    headers = {
        "Range": "bytes=1000-",
        "If-Range": whole["ETag"],
        "Authorization": f"Bearer {as_viewer.token}",
    }
    rest = as_viewer.client.get(address(under(study, FILE)), headers=headers)
    assert (rest.status_code, content[:1_000] + rest.getvalue()) == (206, content)
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    told = as_owner.get(under(study, BUNDLE)).json()
    assert (told["ready"], told["current"]) == (True, False)


def test_what_is_asked_wrongly_and_by_whom(study, as_owner, as_outsider, as_nobody, owner, sent):
    for path in (BUNDLE, FILE):
        assert as_outsider.get(under(study, path)).status_code == 404
        assert as_nobody.get(under(study, path)).status_code == 401
    assert as_outsider.post(under(study, BUNDLE), {}).status_code == 404
    assert as_owner.post(under(study, BUNDLE), {"ties": "third"}).status_code == 400
    assert as_owner.post(under(study, BUNDLE), {"format": "zip"}).status_code == 400
    assert as_owner.get(under(study, BUNDLE), ties="third").status_code == 400
    judged_study("fresh", owner=owner, queries=1)
    answer = as_owner.post("studies/fresh/bundle/", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "refused")
    assert not Job.objects.exists()
