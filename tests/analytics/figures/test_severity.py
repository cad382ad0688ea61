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


def test_a_judge_stands_below_people_with_its_difference_from_them():
    study = answered_study("question_quality", queries=6)
    for rater, shift in (
        (new_rater(study, "ANNE"), 0),
        (new_rater(study, "BO"), -2),
        (new_rater(study, "J", "judge"), 1),
    ):
        answers = drawn_answers(study, 0)
        for each in answers:
            each["usefulness"] = dict.fromkeys(each["usefulness"], 5 + shift)
        give(study, rater, answers)
    page = report_markdown(build_report(study, replicates=20, only=[KEY]))
    rows = page.partition("Severity of raters: Usefulness")[2].splitlines()
    assert [row.split("|")[2].split()[0].rstrip("¹") for row in rows if row.startswith("| ")][2:5] == [
        "\N{MINUS SIGN}2.00",
        "2.00",
        "2.00",
    ]


def test_one_person_has_nobody_to_be_compared_with():
    study = answered_study("question_quality", queries=3)
    give(study, new_rater(study, "ANNE"), drawn_answers(study, 0))
    assert build_report(study, replicates=20, only=[KEY])["records"] == []
