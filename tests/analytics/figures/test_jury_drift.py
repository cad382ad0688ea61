"""Drift of a jury's members: the anchor runs of each, beside its own first pass and beside people."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Rater
from tests.analytics.figures.test_number_drift import QUERIES, in_order
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.judging import answer, judge, judged_study, main_items

pytestmark = pytest.mark.django_db


def a_pass(study, member, number):
    """One complete run of a member of the jury, the first of them its main one."""
    return Rater.objects.create(
        study=study,
        kind="judge",
        label=f"{member} v1",
        pseudonym=f"{member}-{number}",
        in_figures=not number,
        about={
            "judge": member,
            "version": 1,
            "purpose": "anchor" if number else "main",
            "finished": f"2026-01-0{number + 1}T00:00:00Z",
            "jury": {"name": "crowd", "combination": "majority"},
        },
    )


def record_of(report, figure):
    [record] = [each for each in report["records"] if each["figure"] == figure]
    return record


def test_the_member_that_answers_otherwise_has_drifted():
    study = judged_study(queries=12)
    judge(study, raters=2, choose=lambda rater, at: ("r1", "r2")[at % 2])
    items = main_items(study)
    for member in ("calm", "wild"):
        for number in range(3):
            rater = a_pass(study, member, number)
            turned = member == "wild" and number == 2
            for at, item in enumerate(items):
                label = ("r1", "r2")[(at + turned) % 2]
                answer(study, rater, item, label, shown="r1,r2")
    report = build_report(study, replicates=20, only=["judges/drift"])
    record = record_of(report, "judges/drift")
    assert record["group"] == "jury-crowd-members"
    calm, wild = record["members"]
    assert (calm["member"], wild["member"]) == ("calm-0", "wild-0")
    assert [each["self"]["value"] for each in calm["passes"][1:]] == [1, 1]
    assert wild["passes"][2]["self"]["value"] == 0
    assert wild["passes"][2]["people"]["value"] == 0
    assert calm["passes"][2]["people"]["value"] == 1
    page = report_markdown(report)
    assert "wild v1 had drifted by 2026-01-03" in page
    assert "calm v1 had drifted" not in page


def test_a_member_that_ranks_otherwise_has_drifted():
    study = answered_study("ranking", queries=QUERIES)
    give(study, new_rater(study, "person-0"), in_order(1, 2, 3))
    for member in ("calm", "wild"):
        for number in range(3):
            order = (3, 2, 1) if member == "wild" and number == 2 else (1, 2, 3)
            give(study, a_pass(study, member, number), in_order(*order))
    report = build_report(study, replicates=20, only=["judges/number_drift"])
    calm, wild = record_of(report, "judges/number_drift")["members"]
    assert calm["passes"][2]["self"]["error"]["value"] == 0
    assert wild["passes"][2]["self"]["error"]["value"] == pytest.approx(4 / 3)
    assert "wild v1 had drifted by 2026-01-03" in report_markdown(report)


def test_members_without_anchor_runs_have_no_passes():
    study = judged_study(queries=4)
    judge(study, raters=2)
    for member in ("calm", "wild"):
        rater = a_pass(study, member, 0)
        for item in main_items(study):
            answer(study, rater, item, "r1", shown="r1,r2")
    assert build_report(study, replicates=20, only=["judges/drift"])["records"] == []
