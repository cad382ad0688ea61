"""Several judges run together by the API: estimated, started all or none, and given one budget."""

from decimal import Decimal

import pytest

from judging import tasks
from judging.models import Run, RunGroup
from judging.services.judges import heuristic_judge
from judging.services.runs.lifecycle import stop_by_group
from tests.evaluation.api.test_runs import llm  # noqa: F401 - a fixture
from tests.factories import make_study

GROUPS = "studies/contrast/run-groups/"


@pytest.fixture
def queued(monkeypatch):
    found = []
    monkeypatch.setattr(tasks.work_on_run, "apply_async", lambda arguments, **_: found.append(arguments))
    return found


@pytest.fixture
def judges(study, llm):  # noqa: F811
    return [llm, heuristic_judge(study, "longer")]


def ids(judges):
    return [judge.pk for judge in judges]


def test_several_are_estimated_together(judges, as_viewer):
    told = as_viewer.get(f"{GROUPS}estimate/", judges=",".join(map(str, ids(judges))), max_items=10).json()
    assert [each["judge"]["name"] for each in told["judges"]] == ["llm", "longer"]
    assert told["calls"] == 20
    first, second = told["judges"]
    assert Decimal(told["cost"]) == Decimal(first["estimate"]["cost"]) > 0
    assert (second["estimate"]["seconds"], told["seconds"]) == (None, first["estimate"]["seconds"])
    assert (first["refused"], second["refused"]) == ([], [])
    for bad in ("", "1", "1,", "a,b"):
        assert as_viewer.get(f"{GROUPS}estimate/", judges=bad).status_code == 400
    assert as_viewer.get(f"{GROUPS}estimate/", judges="999998,999999").status_code == 404


def test_what_can_t_run_is_said_and_starts_nothing(judges, as_owner):
    type(judges[0].endpoint).objects.update(trust="", trusted_by=None)
    told = as_owner.get(f"{GROUPS}estimate/", judges=",".join(map(str, ids(judges)))).json()
    assert told["judges"][0]["estimate"] is None
    [reason] = told["judges"][0]["refused"]
    assert "is not allowed" in reason
    answer = as_owner.post(GROUPS, {"judges": ids(judges)})
    assert (answer.status_code, answer.json()["code"]) == (409, "refused")
    assert "llm v1: " in answer.json()["detail"]
    assert not Run.objects.exists()


def test_all_are_started_once_per_key_and_followed(
    judges, as_owner, as_viewer, queued, django_capture_on_commit_callbacks
):
    wanted = {"judges": ids(judges), "budget": "2.50", "max_items": 5, "purpose": "anchor", "in_flight": 2}
    with django_capture_on_commit_callbacks(execute=True):
        answers = [as_owner.post(GROUPS, wanted, key="nightly") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    started = answers[0].json()
    assert started == answers[1].json()
    assert RunGroup.objects.count() == 1
    assert (Decimal(started["budget"]), Decimal(started["spent"])) == (Decimal("2.5"), 0)
    assert [run["judge"]["name"] for run in started["runs"]] == ["llm", "longer"]
    assert {(run["purpose"], run["max_items"], run["budget"]) for run in started["runs"]} == {
        ("anchor", 5, None)
    }
    assert {run["group"] for run in started["runs"]} == {started["id"]}
    assert {run for run, _ in queued} == {run["id"] for run in started["runs"]}
    assert as_viewer.all(GROUPS) == [started]
    assert as_viewer.get(f"{GROUPS}{started['id']}/").json() == started
    assert as_viewer.post(GROUPS, wanted).status_code == 403
    assert as_viewer.put(f"{GROUPS}{started['id']}/", {"budget": "3"}).status_code == 403


def test_more_money_resumes_what_its_lack_stopped(
    judges, as_owner, queued, django_capture_on_commit_callbacks
):
    started = as_owner.post(GROUPS, {"judges": ids(judges), "budget": "1"}).json()
    stop_by_group(started["runs"][0]["id"], "The budget would be exceeded.", Decimal(1))
    queued.clear()
    path = f"{GROUPS}{started['id']}/"
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_owner.put(path, {"budget": "4"})
    assert answer.status_code == 200
    assert [run["state"] for run in answer.json()["runs"]] == ["pending", "pending"]
    assert {run for run, _ in queued} == {started["runs"][0]["id"]}
    assert as_owner.put(path, {"budget": None}).json()["budget"] is None
    for bad in ({}, {"budget": "0"}, {"budget": 3}):
        assert as_owner.put(path, bad).status_code == 400
    assert as_owner.put(f"{GROUPS}999999/", {"budget": "3"}).status_code == 404


def test_judges_of_other_studies_and_the_same_twice_are_refused(judges, as_owner, owner):
    other = heuristic_judge(make_study("other", owner=owner), "longer")
    for wrong in ([judges[0].pk, other.pk], [judges[0].pk, 999_999], [judges[1].pk] * 2):
        assert as_owner.post(GROUPS, {"judges": wrong}).status_code == 409
    for bad in (
        {"judges": ids(judges)[:1]},
        {"judges": []},
        {},
        {"judges": ids(judges), "purpose": "revision"},
    ):
        assert as_owner.post(GROUPS, bad).status_code == 400
    assert not Run.objects.exists()
