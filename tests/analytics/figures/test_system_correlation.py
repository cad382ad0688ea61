"""Correlations over systems in reports: of raters, of people with judges, and of groups of people."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, give, new_rater

pytestmark = pytest.mark.django_db
KEY = "agreement/system_correlation"


def rated(study, rater, values):
    parts = ("r1", "r2", "r3")
    give(study, rater, [{"coherence": dict(zip(parts, values, strict=True))}] * study.items.count())


def test_of_raters_and_groups():
    study = answered_study("custom")
    experts = new_rater(study, "person-0"), new_rater(study, "person-1")
    crowd = new_rater(study, "person-2")
    study.raters.filter(pk__in=[each.pk for each in experts]).update(group="experts")
    study.raters.filter(pk=crowd.pk).update(group="crowd")
    rated(study, experts[0], (1, 3, 5))
    rated(study, experts[1], (2, 3, 4))
    rated(study, crowd, (5, 3, 1))
    judge = new_rater(study, "judge-0", "judge")
    rated(study, judge, (1, 4, 2))
    report = build_report(study, replicates=20, only=[KEY])
    found = {each["group"]: each for each in report["records"] if each["figure"] == KEY}
    people = found["person"]
    assert (people["within"]["kendall"]["value"], people["within"]["kendall"]["n"]) == (
        pytest.approx(-1 / 3),
        3,
    )
    assert sorted(pair["kendall"]["value"] for pair in people["pairs"]) == [-1, -1, 1]
    # All people's means are 8/3, 3 and 10/3.
    assert {each["group"]: each["kendall"]["value"] for each in people["between"]} == {
        "judge-0": pytest.approx(1 / 3)
    }
    [one, other] = [found[key] for key in found if key.startswith("person-")]
    [groups] = [each for each in one["between"] if each["group"].startswith("person-")]
    assert groups["kendall"]["value"] == -1
    assert [each["group"] for each in other["between"]] == ["judge-0"]
    page = report_markdown(report)
    assert "Correlations over systems" in page
    assert "would lie too low" in page


def test_two_systems_have_none():
    study = answered_study("custom", kinds={"aspen": "model", "birch": "model"})
    for number in range(2):
        rater = new_rater(study, f"person-{number}")
        give(study, rater, [{"coherence": {"r1": 1, "r2": 2}}] * 4)
    report = build_report(study, replicates=20, only=[KEY])
    assert KEY not in {each["figure"] for each in report["records"]}
