"""Two votes in reports: within people, between judges, and which groups are not compared."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.filters import TOGETHER, Filters
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
KEY = "agreement/two_votes"


def test_people_and_judges_with_each_other(owner):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "tie" if (rater + position) % 4 == 0 else "r1")
    judge(study, raters=2, kind="judge", choose=lambda rater, position: "r1" if position % 2 else "r2")
    report = build_report(study, replicates=20, only=[KEY], filters=Filters(judges=TOGETHER))
    found = {record["group"]: record for record in report["records"] if record["figure"] == KEY}
    # In one of four items all three people prefer the first, in the others one of them sees a tie.
    people = found["person"]
    assert people["within"]["with_ties"]["value"] == pytest.approx((1 + 3 / 3) / 4)
    assert people["within"]["without_ties"]["value"] == 1
    single = [key for key, record in found.items() if record["within"] is None]
    assert len(single) == 2
    assert [each["group"] for each in people["between"]] == single
    # Every second item the judges say what people say where these see no tie.
    assert people["between"][0]["without_ties"]["value"] == pytest.approx(1 / 2)
    [beside] = found[single[0]]["between"]
    assert (beside["group"], beside["with_ties"]["value"]) == (single[1], 1)
    assert found["judges"]["within"]["with_ties"]["value"] == 1
    assert found["judges"]["between"] == found[single[1]]["between"] == []
    page = report_markdown(report)
    assert "Two votes" in page
    assert "two different raters, drawn at random" in page
