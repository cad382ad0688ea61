"""Calibrators in reports: how far their sets agree, and how far they are from the draft."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Rater
from tests.analytics.reports.answering import give, new_rater
from tests.calibrations import FERRY, NEW, OLD, calibrated, calibration_study, kept

pytestmark = pytest.mark.django_db
KEY = "entries/calibrators"
TAKEN, ALSO = kept(OLD, "r1.e1"), kept(NEW, "r1.e2")
WIDER = {**ALSO, "condition": "The bridge for cars and trams"}


@pytest.fixture
def study():
    """One draft of two entries on each of two queries; two people and a judge."""
    study = calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]]})
    give(study, new_rater(study, "ann"), [calibrated(TAKEN, ALSO), calibrated(TAKEN)])
    give(study, new_rater(study, "ben"), [calibrated(TAKEN, WIDER, FERRY), calibrated(FERRY)])
    judge = new_rater(study, "llm", Rater.Kind.JUDGE, judge="j", model="j-7b", orders="random", samples=1)
    give(study, judge, [calibrated(TAKEN), calibrated(TAKEN)])
    return study


def test_agreement_and_distance_by_hand(study):
    report = build_report(study, replicates=20, only=[KEY])
    records = {each["group"]: each for each in report["records"] if each["figure"] == KEY}
    people = records["person"]
    # q1: both entries of ann's match two of ben's three (4/5); q2: none of two.
    assert people["among"]["matched"]["value"] == pytest.approx((4 / 5 + 0) / 2)
    # "the bridge for cars" and "... and trams" share four of four and six words.
    assert people["among"]["alike"]["value"] == pytest.approx((2 * (1 + 8 / 10) / 5 + 0) / 2)
    # Words: 4 and 5 drafted. Ann kept all, and rejected the second; ben put in two words and added four ("Crossing by
    # ferry always"), and on q2 left nothing of the nine and added four.
    wanted = [0, 5 / 9, (2 + 4) / (4 + 7 + 4), 1]
    assert people["distance"]["mean"]["value"] == pytest.approx(sum(wanted) / 4)
    by_rater = {each["rater"]: each for each in people["by_rater"]}
    assert by_rater["ann"]["distance"]["mean"]["value"] == pytest.approx(sum(wanted[:2]) / 2)
    assert by_rater["ann"]["with_others"]["matched"] == people["among"]["matched"]
    judge = next(each for key, each in records.items() if key != "person")
    assert judge["among"] is None
    # With ann 2/3 and 1, with ben 2/4 and 0.
    assert judge["with_people"]["matched"]["value"] == pytest.approx(((2 / 3 + 2 / 4) / 2 + (1 + 0) / 2) / 2)
    assert "Agreement of sets, and distance from the draft" in report_markdown(report)
