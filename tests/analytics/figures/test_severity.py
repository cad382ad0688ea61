"""Severity of people in reports: who rates lower than the others on the same texts."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, drawn_answers, give, new_rater

pytestmark = pytest.mark.django_db
KEY = "raters/severity"


def test_the_most_severe_person_comes_first():
    study = answered_study("question_quality", queries=6)
    for name, shift in (("ANNE", 0), ("BO", -2), ("CYD", 1)):
        answers = drawn_answers(study, 0)
        for each in answers:
            each["usefulness"] = dict.fromkeys(each["usefulness"], 5 + shift)
        give(study, new_rater(study, name), answers)
    report = build_report(study, replicates=20, only=[KEY])
    [record] = [each for each in report["records"] if each["question"] == "usefulness"]
    assert [each["difference"]["value"] for each in record["raters"]] == pytest.approx([-2.5, 0.5, 2.0])
    assert record["people"] == 3
    assert "Severity of raters" in report_markdown(report)


def test_one_person_has_nobody_to_be_compared_with():
    study = answered_study("question_quality", queries=3)
    give(study, new_rater(study, "ANNE"), drawn_answers(study, 0))
    assert build_report(study, replicates=20, only=[KEY])["records"] == []
