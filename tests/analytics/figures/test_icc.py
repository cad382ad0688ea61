"""Intraclass correlations in reports: of scales that several rated, never of labels or of a single judge."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import judged_by_everyone

pytestmark = pytest.mark.django_db
KEY = "agreement/icc"


@pytest.mark.parametrize("protocol", ["aspects", "question_quality", "context_validation"])
def test_of_scales_that_several_rated(protocol):
    report = build_report(judged_by_everyone(protocol), replicates=20, only=[KEY])
    scales = {
        question["key"]
        for question in report["questions"]
        if question["form"] == "rated" and question["level"] != "nominal"
    }
    found = [record for record in report["records"] if record["figure"] == KEY]
    assert {record["question"] for record in found} == scales
    several = {group["key"] for group in report["groups"] if group["raters"] > 1}
    assert {record["group"] for record in found} <= several
    assert ("ICC(3)" in report_markdown(report)) == bool(scales)
