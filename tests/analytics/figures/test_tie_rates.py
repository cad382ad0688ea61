"""Shares of judgments that are ties."""

import numpy as np
import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import MISSING
from analytics.statistics.preferences.tie_rates import tie_rate
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.statistics.build import spec


@pytest.mark.django_db
def test_ties_by_setting(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2, choose=lambda rater, position: "tie" if position < 12 and rater == 0 else "r1")
    report = build_report(study, replicates=20, only=["preferences/tie_rates"])
    [found] = [each for each in report["records"] if each["figure"] == "preferences/tie_rates"]
    rates = {(each["by"], each["name"]): each["rate"] for each in found["rates"]}
    assert rates["all", ""]["value"] == pytest.approx(12 / 72)
    arms = [rate for (by, _), rate in rates.items() if by == "arm"]
    assert sum(rate["n"] for rate in arms) == rates["all", ""]["n"] == 72
    assert np.average([rate["value"] for rate in arms]) == pytest.approx(12 / 72)
    assert "Share of judgments that are ties" in report_markdown(report)


def test_labels_that_are_missing_are_left_out():
    found = tie_rate(np.array([2, 0, MISSING, 2]), np.arange(4), resample=spec())
    assert (found.value, found.n, found.n_left_out) == (pytest.approx(2 / 3), 3, 1)
    assert tie_rate(np.array([MISSING]), np.arange(1), resample=spec()).value is None
    with pytest.raises(TidyDataError):
        tie_rate(np.zeros(2, dtype=int), np.arange(3), resample=spec())
