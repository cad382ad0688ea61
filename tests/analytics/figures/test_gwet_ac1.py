"""Gwet's AC1 in reports: of which questions it is, and over which labels."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.protocols import Kind, QuestionSpec
from tests.analytics.reports.answering import answered_study, give, judged_by_everyone, new_rater
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
KEY = "agreement/gwet_ac1"


def records(report):
    return {record["question"]: record for record in report["records"] if record["figure"] == KEY}


def test_of_preferences_a_tie_is_a_label_of_its_own(owner):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "tie" if (rater + position) % 4 == 0 else "r1")
    report = build_report(study, replicates=20, only=[KEY])
    found = records(report)["preference"]
    # In one of four items all three prefer the first, in the others one of them sees a tie: (1 + 3 / 3) / 4 agree, and
    # a quarter of all labels is a tie.
    assert found["agreement"] == pytest.approx(1 / 2)
    assert found["by_chance"] == pytest.approx((1 / 4 * 3 / 4 + 3 / 4 * 1 / 4) / 2)
    assert found["ac1"]["value"] == pytest.approx((1 / 2 - 3 / 16) / (1 - 3 / 16))
    page = report_markdown(report)
    assert "Gwet's AC\u2081" in page
    assert "units that only one rater rated count towards agreement by chance only" in page


@pytest.mark.parametrize("protocol", ["aspects", "context_validation", "ranking", "question_quality"])
def test_of_other_questions_it_is_where_answers_have_no_order(protocol):
    report = build_report(judged_by_everyone(protocol), replicates=20, only=[KEY])
    nominal = {
        question["key"]
        for question in report["questions"]
        if question["level"] == "nominal" and question["form"] in ("rated", "choice")
    }
    assert set(records(report)) == nominal
    assert bool(nominal) == (protocol in ("aspects", "context_validation"))


def test_of_a_choice_every_label_counts_that_is_offered():
    mood = QuestionSpec(
        "mood",
        Kind.CHOICE,
        "Which mood?",
        required=False,
        options={"form": {"choices": ["calm", "tense", "glad"]}},
    )
    study = answered_study("aspects", queries=2, questions=[mood])
    for name, moods in (("ann", ("calm", "tense")), ("ben", ("calm", "calm"))):
        give(study, new_rater(study, name), [{"mood": feeling} for feeling in moods])
    found = records(build_report(study, replicates=20, only=[KEY]))["mood"]
    # Nobody is glad, and yet a third label could have been given: 3/4 * 1/4 twice, halved.
    assert found["by_chance"] == pytest.approx(3 / 16)
    assert found["ac1"]["value"] == pytest.approx((1 / 2 - 3 / 16) / (1 - 3 / 16))
