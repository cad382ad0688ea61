"""Calibration in reports: a judge's probabilities beside people's preferences."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests.analytics.reports.judging import judge, judged_study, main_items, new_judge

pytestmark = pytest.mark.django_db
KEY = "judges/calibration"


@pytest.fixture
def study():
    made = judged_study(queries=12)
    judge(made, raters=3, choose=lambda rater, at: ("r1", "r2")[at % 2])
    return made


def answered(study, name, number_of):
    rater = new_judge(study, name)
    batch = [
        JudgmentInput(
            rater_id=rater.pk,
            item_id=item.pk,
            revision_id=study.revisions.get().pk,
            answers=[AnswerValue("preference", Kind.PREFERENCE, label="r2", number=number_of(at))],
            shown="r1,r2",
        )
        for at, item in enumerate(main_items(study))
    ]
    record_judgments(study=study, batch=batch)


def test_probabilities_that_come_true_and_such_that_do_not(study):
    answered(study, "sure", lambda at: 0.9 if at % 2 else 0.1)
    answered(study, "wrong", lambda at: 0.1 if at % 2 else 0.9)
    report = build_report(study, replicates=20, only=[KEY])
    scores = sorted(record["brier"]["value"] for record in report["records"])
    assert scores == pytest.approx([0.01, 0.81])
    [good] = [each for each in report["records"] if each["brier"]["value"] < 0.1]
    assert (good["base"], good["error"]) == (pytest.approx(0.25), pytest.approx(0.1))
    assert [each["observed"]["value"] for each in good["bins"]] == [0, 1]
    text = report_markdown(report)
    assert "Calibration of" in text
    assert "Brier score" in text


def test_labels_without_probabilities_have_none(study):
    answered(study, "plain", lambda at: None)
    assert build_report(study, replicates=20, only=[KEY])["records"] == []
