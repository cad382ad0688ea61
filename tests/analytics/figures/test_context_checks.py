"""Checks of follow-up questions in reports: by majority, and by the models whose names contexts have as keys."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Context, Item, Query
from evaluation.services import launch_study
from tests.analytics.reports.answering import FOLLOW_UPS, empty_study, give, judged_by_everyone, new_rater

pytestmark = pytest.mark.django_db
KEY = "conditions/context_checks"
CHECKS = ("important", "realistic", "complete", "diverse")


def test_by_majority_and_by_context():
    study = empty_study("context_validation")
    for number in range(3):
        query = Query.objects.create(study=study, key=f"q{number}", text=f"What about {number}?")
        for model in ("gemini", "gpt"):
            context = Context.objects.create(query=query, key=model, follow_ups=FOLLOW_UPS)
            Item.objects.create(
                study=study, key=f"q{number}-{model}", query=query, context=context, arm=study.arms.get()
            )
    launch_study(study)
    study.refresh_from_db()
    # Of gemini's questions two of three say yes to the first alone, of gpt's all to both.
    for rater in range(3):
        one = {check: {"f1": int(rater < 2), "f2": 0} for check in CHECKS}
        two = {check: {"f1": 1, "f2": 1} for check in CHECKS}
        give(study, new_rater(study, f"person {rater}"), [one, two] * 3)
    report = build_report(study, replicates=20)
    records = {each["question"]: each for each in report["records"] if each["figure"] == KEY}
    assert tuple(records) == CHECKS
    for record in records.values():
        assert (record["share"]["value"], record["share"]["n"]) == (0.75, 12)
        by_context = {each["context"]: each["share"]["value"] for each in record["by_context"]}
        assert by_context == {"gemini": 0.5, "gpt": 1}
    assert "| gemini |" in report_markdown(report)


def test_one_context_per_query_is_no_factor():
    report = build_report(judged_by_everyone("context_validation"), replicates=20)
    found = [each for each in report["records"] if each["figure"] == KEY]
    assert found
    assert all(each["by_context"] == [] for each in found)
