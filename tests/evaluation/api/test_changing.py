"""The one thing of a study that can be changed: which answers participants may revise."""

import pytest
from django.contrib.admin.models import LogEntry

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
