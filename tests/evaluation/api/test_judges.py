"""Endpoints and judges are made and changed by the API, as far as the rules allow; leaderboards are published."""

from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model

from evaluation.models import PublishedLeaderboard
from judging.models import Endpoint, Judge
from judging.services.endpoints.access import create_endpoint
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run

ALLOWED = "https://models.example.org/v1"
JUDGES = "studies/contrast/judges/"


@pytest.fixture(autouse=True)
def allowed_places(settings):
    settings.ASSAY_ENDPOINTS_ALLOWED = [f"{ALLOWED}/"]


@pytest.fixture
def as_boss(call, db):
    return call(get_user_model().objects.create_superuser("boss"))


def fields(answer):
    return [each["field"] for each in answer.json()["errors"]]


# --- endpoints --------------------------------------------------------------------------------------------------------


def test_a_superuser_makes_any_endpoint_and_a_member_one_that_is_allowed(as_boss, as_owner, owner):
    anywhere = {"name": "lab", "base_url": "http://127.0.0.1:9/v1", "local": True}
    made = as_boss.post("endpoints/", anywhere)
    assert made.status_code == 201, made.content
    assert (made.json()["local"], made.json()["base_url"]) == (True, "http://127.0.0.1:9/v1")
    refused = as_owner.post("endpoints/", {"name": "mine", "base_url": "http://127.0.0.1:9/v1"})
    assert (refused.status_code, fields(refused)) == (409, ["base_url"])
    said = as_owner.post("endpoints/", {**anywhere, "name": "mine"})
    assert (said.status_code, fields(said)) == (400, ["local"])
    assert not Endpoint.objects.filter(name="mine").exists()


def test_only_staff_makes_endpoints(as_outsider, outsider):
    outsider.is_staff = False
    outsider.save()
    answer = as_outsider.post("endpoints/", {"name": "mine", "base_url": ALLOWED})
    assert (answer.status_code, answer.json()["code"]) == (403, "not_staff")


def test_who_made_an_endpoint_changes_it_and_others_do_not(as_boss, as_outsider, owner, as_owner):
    endpoint = create_endpoint(user=None, name="lab", base_url=ALLOWED)
    Endpoint.objects.filter(pk=endpoint.pk).update(created_by=owner)
    assert as_outsider.patch("endpoints/lab/", {"max_in_flight": 2}).status_code == 404
    changed = as_owner.patch("endpoints/lab/", {"max_in_flight": 2})
    assert (changed.status_code, changed.json()["max_in_flight"]) == (200, 2)
    assert changed.json() == as_owner.get("endpoints/lab/").json()
    assert changed.json()["base_url"] is None
    line = LogEntry.objects.filter(content_type__model="endpoint").get()
    assert line.change_message == "Changed max_in_flight."
    elsewhere = as_owner.patch("endpoints/lab/", {"base_url": "http://127.0.0.1:9/v1"})
    assert (elsewhere.status_code, fields(elsewhere)) == (409, ["base_url"])
    Endpoint.objects.update(open_to_all=True)
    assert as_outsider.patch("endpoints/lab/", {"max_in_flight": 3}).status_code == 403
    assert as_boss.patch("endpoints/lab/", {"max_in_flight": 3}).status_code == 200


def test_an_endpoint_that_moves_is_tested_keyed_and_trusted_anew(as_boss, as_owner, owner):
    endpoint = create_endpoint(user=None, name="lab", base_url="http://127.0.0.1:9/v1")
    Endpoint.objects.filter(pk=endpoint.pk).update(created_by=owner, stored_key="old", tested={"model": "m"})
    assert as_owner.patch("endpoints/lab/", {"base_url": ALLOWED}).status_code == 200
    endpoint.refresh_from_db()
    assert (endpoint.stored_key, endpoint.tested, endpoint.trust) == ("", {}, "")


# --- judges -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def endpoint(study):
    made = create_endpoint(user=None, name="lab", base_url=ALLOWED)
    made.studies.add(study)
    return made


def test_a_judge_is_made_once(study, endpoint, as_owner):
    body = {"name": "small", "backend": "chat", "endpoint": "lab", "model": "m", "price_prompt": "0.15"}
    first, second = (as_owner.post(JUDGES, body, key="once") for _ in range(2))
    assert first.status_code == 201, first.content
    assert first.json() == second.json()
    told = first.json()
    assert (told["endpoint"], told["model"], told["version"]) == ("lab", "m", 1)
    assert Decimal(told["price_prompt"]) == Decimal("0.15")
    assert as_owner.get(f"{JUDGES}{told['id']}/").json() == told
    line = LogEntry.objects.filter(object_id=str(study.pk)).order_by("-pk")[0]
    assert line.change_message == "Created judge small v1."


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"endpoint": "nowhere"}, 400, "endpoint"),
        ({"name": "a b"}, 409, "name"),
        ({"model": ""}, 409, "model"),
        ({"temperature": "hot"}, 400, "temperature"),
        ({"own_system": "nobody"}, 409, "own_system"),
        ({"options": {"nothing": 1}}, 409, "options"),
        ({"samples": 0}, 400, "samples"),
        ({"nothing": 1}, 400, "nothing"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(study, endpoint, as_owner, change, status, field):
    body = {"name": "small", "backend": "chat", "endpoint": "lab", "model": "m"}
    answer = as_owner.post(JUDGES, {**body, **change})
    assert answer.status_code == status, answer.content
    assert [each for each in fields(answer) if each.startswith(field)]
    assert not Judge.objects.filter(study=study, name="small").exists()


def test_a_judge_that_ran_becomes_a_new_version(study, endpoint, owner, as_owner):
    body = {"name": "small", "backend": "chat", "endpoint": "lab", "model": "m"}
    judge = as_owner.post(JUDGES, body).json()
    same = as_owner.patch(f"{JUDGES}{judge['id']}/", {"temperature": 0.5}).json()
    assert (same["id"], same["temperature"], same["version"]) == (judge["id"], 0.5, 1)
    longer = heuristic_judge(study, "longer", user=owner)
    start_run(study, longer, user=owner)
    edited = as_owner.patch(f"{JUDGES}{longer.pk}/", {"self_preference": "none"}).json()
    assert (edited["name"], edited["version"], edited["self_preference"]) == ("longer", 2, "none")
    assert as_owner.get(f"{JUDGES}{longer.pk}/").json()["version"] == 1
    refused = as_owner.patch(f"{JUDGES}{longer.pk}/", {"name": "other"})
    assert (refused.status_code, fields(refused)) == (409, ["name"])


# --- the leaderboard --------------------------------------------------------------------------------------------------


def test_an_owner_publishes_the_leaderboard_and_withdraws_it(study, as_owner, as_viewer, client):
    path = "studies/contrast/leaderboard/"
    told = as_viewer.get(path).json()
    assert (told["published"], told["description"]) == (False, "")
    assert told["leaderboard"]["raters"]
    refused = as_viewer.put(path, {"description": "Soups."})
    assert (refused.status_code, refused.json()["code"]) == (403, "owners_only")
    done = as_owner.put(path, {"description": "Soups."})
    assert (done.status_code, done.json()["description"]) == (200, "Soups.")
    assert as_viewer.get(path).json()["published"]
    assert as_owner.delete(path).json()["published"] is False
    assert as_owner.delete(path).json()["code"] == "refused"
    assert not PublishedLeaderboard.objects.exists()
