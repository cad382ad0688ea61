"""Strengths from rankings in reports."""

import numpy as np
import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, give, judged_by_everyone, new_rater

pytestmark = pytest.mark.django_db
KEY = "rankings/strengths"


def test_people_who_mostly_put_one_system_first():
    study = answered_study("ranking", queries=12)
    rng = np.random.default_rng(1)
    for number in range(3):
        answers = []
        for _ in range(12):
            order = np.argsort(rng.exponential([1, 4, 12]))
            answers.append(
                {"ranking": {f"r{system + 1}": at + 1 for at, system in enumerate(order.tolist())}}
            )
        give(study, new_rater(study, f"person {number}"), answers)
    report = build_report(study, replicates=50, only=[KEY])
    [record] = [each for each in report["records"] if each["figure"] == KEY]
    worths = record["plackett_luce"]["worths"]
    assert [each["system"] for each in worths] == ["aspen", "birch", "cedar"]
    assert worths[0]["score"]["low"] > 0 > worths[2]["score"]["high"]
    assert sum(each["first"]["value"] for each in worths) == pytest.approx(1)
    assert worths[0]["score"]["n"] == 36
    assert [each["system"] for each in record["bradley_terry"]["strengths"]] == ["aspen", "birch", "cedar"]
    page = report_markdown(report)
    assert "Plackett-Luce worth" in page
    assert "row of choices" in page


def test_two_systems_have_none():
    report = build_report(
        judged_by_everyone("ranking", kinds={"aspen": "model", "birch": "model"}), replicates=20, only=[KEY]
    )
    assert KEY not in {record["figure"] for record in report["records"]}
