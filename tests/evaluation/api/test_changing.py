"""Changes of a running study: which answers participants may revise, and its revisions."""

import pytest
from django.contrib.admin.models import LogEntry

from evaluation.models import Revision, Status
from tests.evaluation.api.conftest import address


def change(caller, study, body):
    headers = {"Authorization": f"Bearer {caller.token}"}
    return caller.client.patch(address(f"studies/{study.slug}/"), body, "application/json", headers=headers)


def test_going_back_is_told_and_changed(study, as_owner):
    path = f"studies/{study.slug}/"
    before = LogEntry.objects.count()
    assert as_owner.get(path).json()["going_back"] == "last"
    for chosen in ("all", "none", "none"):
        answer = change(as_owner, study, {"going_back": chosen})
        assert (answer.status_code, answer.json()["going_back"]) == (200, chosen)
        assert as_owner.get(path).json() == answer.json()
        study.refresh_from_db()
        assert study.going_back == chosen
    said = LogEntry.objects.order_by("pk").values_list("change_message", flat=True)
    assert list(said[before:]) == ["Revisable answers: all.", "Revisable answers: none."]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"going_back": "some"}, "going_back"),
        ({"going_back": None}, "going_back"),
        ({"going_back": True}, "going_back"),
        ({"going_back": ["all"]}, "going_back"),
        ({"going_back": "all", "redundancy": 9}, "redundancy"),
        ([], ""),
    ],
)
def test_whatever_else_is_refused_and_changes_nothing(study, as_owner, body, field):
    answer = change(as_owner, study, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert field in [each["field"] for each in answer.json()["errors"]] or not field
    study.refresh_from_db()
    assert (study.going_back, study.redundancy) != ("all", 9)


def test_only_who_may_write_changes_it(study, as_viewer, as_outsider):
    assert change(as_viewer, study, {"going_back": "all"}).status_code == 403
    assert change(as_outsider, study, {"going_back": "all"}).status_code == 404
    study.refresh_from_db()
    assert study.going_back == "last"


@pytest.fixture
def live(study):
    """The study under way again."""
    type(study).objects.filter(pk=study.pk).update(status=Status.LIVE)
    return study


def test_a_study_is_revised_once_for_its_key(live, as_owner):
    path, spec = (
        f"studies/{live.slug}/revisions/",
        {"title": "Second try", "texts": {"thanks": "Many thanks."}},
    )
    preview = as_owner.post(path, {"spec": spec, "preview": True})
    assert (preview.status_code, preview.json()["revision"]) == (200, 2)
    assert Revision.objects.filter(study=live).count() == 1
    body = {"spec": spec, "reason": "Clearer."}
    made = [as_owner.post(path, body, key="second") for _ in range(2)]
    assert [each.status_code for each in made] == [201, 201]
    assert made[0].json() == made[1].json() == preview.json()
    changed = {each["where"]: each["new"] for each in made[0].json()["changes"]}
    assert set(changed.values()) == {"Second try", "Many thanks."}
    [_, revision] = as_owner.get(f"studies/{live.slug}/").json()["revisions"]
    assert (revision["number"], revision["spec_hash"]) == (2, preview.json()["spec_hash"])
    said = LogEntry.objects.latest("pk").change_message
    assert said == "Revision 2 is what new participants get from now on. Reason: Clearer."


@pytest.mark.parametrize(
    ("spec", "status", "fault"),
    [
        ({}, 400, "spec"),
        ({"title": 3}, 409, "title"),
        ({"protocol": "ranking"}, 409, "protocol"),
        ({"questions": [{"key": "nowhere", "prompt": "Which?"}]}, 409, "nowhere"),
    ],
)
def test_what_can_t_be_revised_is_named(live, as_owner, spec, status, fault):
    answer = as_owner.post(f"studies/{live.slug}/revisions/", {"spec": spec})
    assert answer.status_code == status
    assert fault in answer.json()["detail"]
    assert Revision.objects.filter(study=live).count() == 1


def test_only_a_running_study_is_revised_and_by_who_may(study, as_owner, as_viewer, as_outsider):
    type(study).objects.filter(pk=study.pk).update(status=Status.CLOSED)
    path, body = f"studies/{study.slug}/revisions/", {"spec": {"title": "Second try"}}
    closed = as_owner.post(path, body)
    assert (closed.status_code, closed.json()["code"]) == (409, "wrong_state")
    assert [each.post(path, body).status_code for each in (as_viewer, as_outsider)] == [403, 404]
