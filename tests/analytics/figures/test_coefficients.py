"""Coefficients of agreement in reports: of which questions they are, and over which labels."""

import pytest

from analytics.figures.coefficient_figure import CoefficientFigure
from analytics.figures.registry import FIGURES
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.statistics.agreement.coefficients import COEFFICIENTS
from evaluation.protocols import Kind, QuestionSpec
from tests.analytics.reports.answering import answered_study, give, judged_by_everyone, new_rater
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.statistics.agreement.test_coefficients import CASES

pytestmark = pytest.mark.django_db
SHOWN = {key: figure for key, figure in FIGURES.items() if isinstance(figure, CoefficientFigure)}
NAMES = {function: name for name, function in COEFFICIENTS.items()}


def records(report, key):
    return {record["question"]: record for record in report["records"] if record["figure"] == key}


def assert_half_agree(record, key, shares):
    """Half of all pairs of raters agree; the labels have these shares."""
    figure = SHOWN[key]
    by_chance = CASES[NAMES[type(figure).coefficient]].chance(shares)
    assert (record["agreement"], record["by_chance"]) == pytest.approx((1 / 2, by_chance))
    value = figure.read(record).estimate.value
    assert value == pytest.approx((1 / 2 - by_chance) / (1 - by_chance))


def test_every_coefficient_is_shown():
    assert {type(figure).coefficient for figure in SHOWN.values()} == set(NAMES)


@pytest.mark.parametrize("key", SHOWN)
def test_of_preferences_a_tie_is_a_label_of_its_own(owner, key):
    study = judged_study(owner=owner)
    judge(study, raters=3, choose=lambda rater, position: "tie" if (rater + position) % 4 == 0 else "r1")
    report = build_report(study, replicates=20, only=[key])
    # In one of four items all three prefer the first, in the others one of them sees a tie: (1 + 3 / 3) / 4 agree, and
    # a quarter of all labels is a tie.
    assert_half_agree(records(report, key)["preference"], key, [3 / 4, 0, 1 / 4])
    page = report_markdown(report)
    assert f"{SHOWN[key].name}, with the observed agreement" in page
    assert SHOWN[key].method in page


@pytest.mark.parametrize("protocol", ["aspects", "context_validation", "ranking", "question_quality"])
def test_of_other_questions_they_are_where_answers_have_no_order(protocol):
    report = build_report(judged_by_everyone(protocol), replicates=20, only=list(SHOWN))
    nominal = {
        question["key"]
        for question in report["questions"]
        if question["level"] == "nominal" and question["form"] in ("rated", "choice")
    }
    assert bool(nominal) == (protocol in ("aspects", "context_validation"))
    for key in SHOWN:
        assert set(records(report, key)) == nominal


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
    report = build_report(study, replicates=20, only=list(SHOWN))
    for key in SHOWN:
        # Nobody is glad, and yet a third label could have been given.
        assert_half_agree(records(report, key)["mood"], key, [3 / 4, 1 / 4, 0])
