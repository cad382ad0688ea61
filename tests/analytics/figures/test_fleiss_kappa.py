"""Fleiss' kappa in reports, beside Gwet's AC1 and of the same questions."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
KEY = "agreement/fleiss_kappa"


def test_of_preferences_a_tie_is_a_label_of_its_own(owner):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "tie" if (rater + position) % 4 == 0 else "r1")
    report = build_report(study, replicates=20, only=[KEY])
    [found] = [record for record in report["records"] if record["figure"] == KEY]
    # In one of four items all three prefer the first, in the others one of them sees a tie: (1 + 3 / 3) / 4 agree, and
    # a quarter of all labels is a tie.
    by_chance = (1 / 4) ** 2 + (3 / 4) ** 2
    assert (found["agreement"], found["by_chance"]) == pytest.approx((1 / 2, by_chance))
    assert found["kappa"]["value"] == pytest.approx((1 / 2 - by_chance) / (1 - by_chance))
    page = report_markdown(report)
    assert "Fleiss' \N{GREEK SMALL LETTER KAPPA}, with the observed agreement" in page
    assert "Fleiss' kappa is computed of however many raters a unit has" in page
