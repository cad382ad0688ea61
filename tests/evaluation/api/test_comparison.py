"""Two studies compared by the API: for who may read both, strict about what it is asked."""

import pytest

from evaluation.models import StudyMember
from tests.analytics.reports.judging import judge, judged_study
from tests.evaluation.api.test_reading import under

COMPARISON = "comparison/"


@pytest.fixture
def second(owner):
    study = judged_study("second", owner=owner, queries=12)
    judge(study, raters=2)
    return study


def test_it_is_what_the_command_writes(study, second, as_owner):
    answer = as_owner.get(
        under(study, COMPARISON), other="second", a_arm=["CtxGen-CtxEval"], b_arm="CtxGen-CtxEval"
    )
    record = answer.json()
    assert (answer.status_code, record["schema"]) == (200, "assay-comparison/1")
    assert record["a"]["view"] == {"arm": ["CtxGen-CtxEval"]}
    assert record["queries"]["matched"] == 12


def test_only_who_may_read_both(study, second, colleague, as_viewer, as_outsider, as_nobody):
    address = under(study, COMPARISON)
    assert as_nobody.get(address, other="second").status_code == 401
    assert as_outsider.get(address, other="second").status_code == 404
    assert as_viewer.get(address, other="second").status_code == 404
    StudyMember.objects.create(study=second, user=colleague, role=StudyMember.Role.VIEWER)
    assert as_viewer.get(address, other="second").status_code == 200
    assert as_viewer.post(address, {}).status_code == 405


@pytest.mark.parametrize(
    ("parameters", "status", "said"),
    [
        ({}, 400, "other"),
        ({"other": "second", "c_arm": "x"}, 400, "c_arm"),
        ({"other": "second", "b_arm": "x"}, 400, "b_arm"),
        ({"other": "second", "a_from": "Monday"}, 400, "a_from"),
        ({"other": "nowhere"}, 404, "not_found"),
        ({"other": "contrast"}, 404, "nothing_to_report"),
    ],
)
def test_what_can_not_be_compared_is_refused(study, second, as_owner, parameters, status, said):
    answer = as_owner.get(under(study, COMPARISON), **parameters)
    assert answer.status_code == status
    assert said in answer.content.decode()


def test_a_comparison_that_takes_long_is_computed_by_the_worker(study, second, as_owner, busy_worker):
    answer = as_owner.get(under(study, COMPARISON), other="second")
    said = {"state": "computing", "message": ""}
    assert (answer.status_code, answer.json(), answer["Retry-After"]) == (202, said, "5")
    busy_worker()
    assert as_owner.get(under(study, COMPARISON), other="second").status_code == 200
