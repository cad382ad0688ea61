"""A jury in reports: the kappa of its members, and their majority beside people's."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.filters import TOGETHER, Filters
from tests.analytics.reports.answering import (
    answered_study,
    give,
    judged_by_everyone,
    new_rater,
    some_answers,
)
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
JURY = {"jury": {"name": "crowd", "combination": "majority"}}


def records_of(report, figure):
    return {
        (record["question"], record["group"]): record
        for record in report["records"]
        if record["figure"] == figure
    }


def test_the_kappa_of_members_is_weighted_on_scales():
    study = answered_study("question_quality", queries=12)
    for number in range(3):
        give(study, new_rater(study, f"juror {number}", "judge", **JURY), some_answers(study, number % 2))
    report = build_report(study, replicates=20, only=["agreement/majorities", "agreement/mean_kappa"])
    found = records_of(report, "agreement/mean_kappa")
    members = found["usefulness", "jury-crowd-members"]
    assert list(members["kappas"]) == ["nominal", "linear", "quadratic"]
    assert {(each["rater_1"], each["rater_2"]) for each in members["pairs"]} == {
        ("juror 0", "juror 1"),
        ("juror 0", "juror 2"),
        ("juror 1", "juror 2"),
    }
    # The first and the third say the same.
    alike = [each["kappas"]["linear"]["value"] for each in members["pairs"]]
    assert alike[1] == 1 > alike[0] == alike[2]
    assert members["kappas"]["linear"]["value"] == pytest.approx(sum(alike) / 3)
    assert ("usefulness", "jury-crowd") not in found
    page = report_markdown(report)
    assert "Quadratic" in page
    assert "mean of Cohen's kappa over the pairs" in page


def test_labels_have_plain_kappa():
    report = build_report(
        judged_by_everyone("context_validation", queries=12),
        replicates=20,
        only=["agreement/majorities", "agreement/mean_kappa"],
    )
    kinds = {question["key"]: question["level"] for question in report["questions"]}
    for (question, _), record in records_of(report, "agreement/mean_kappa").items():
        assert (list(record["kappas"]) == ["nominal"]) == (kinds[question] == "nominal")


def test_the_majority_of_a_jury_beside_that_of_people(owner):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "r1" if rater or position % 2 else "r2")
    jurors = judge(
        study, raters=3, kind="judge", choose=lambda rater, position: ("r1", "r2", "tie", "r1")[position % 4]
    )
    for each in jurors:
        each.about = JURY
        each.save()
    report = build_report(study, replicates=20, only=["agreement/majorities", "agreement/mean_kappa"])
    found = records_of(report, "agreement/majorities")
    # Two of three people always prefer the first; the jury does so on every second item.
    assert list(found) == [("preference", "jury-crowd-members")]
    [members] = found.values()
    assert members["agreement"]["value"] == pytest.approx(1 / 2)
    assert members["agreement"]["n"] == len(study.items.filter(role="main"))
    assert members["kappa"]["value"] == pytest.approx(0)
    kappa = records_of(report, "agreement/mean_kappa")["preference", "jury-crowd-members"]
    assert (kappa["kappas"]["nominal"]["value"], kappa["pairs"]) == (1, [])
    assert "Majorities" in report_markdown(report)


def test_majorities_of_labels_that_are_no_preference():
    report = build_report(
        judged_by_everyone("context_validation"),
        replicates=20,
        only=["agreement/majorities", "agreement/mean_kappa"],
        filters=Filters(judges=TOGETHER),
    )
    found = records_of(report, "agreement/majorities")
    assert {group for _, group in found} == {"judges"}
    assert {question for question, _ in found} == {
        question["key"] for question in report["questions"] if question["level"] == "nominal"
    }
