"""What a report says of graded preferences, beside the figures of their labels."""

import numpy as np
import pytest

from analytics.frames.study import study_frame
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.statistics.core.replicates import reduce_readings
from evaluation.models import Study
from evaluation.protocols import Kind, QuestionSpec
from tests import factories
from tests.analytics.reports.answering import answered_study, give, items_of, new_rater
from tests.analytics.reports.reading import build_report
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db

OPTIONS = {"tie": "Tie", "1": "a bit better", "2": "far better", "form": {"points": 5}}


def graded_study(*given: list[float | None], shown: str = "r1,r2") -> Study:
    """One arm and pair; a person per list, with a grade for each item."""
    study = factories.make_study(
        "graded", queries=len(given[0]), arms=factories.PAPER_ARMS[:1], training=False, checks=0
    )
    study.questions.filter(key="preference").update(options=OPTIONS)
    study.questions.exclude(key="preference").delete()
    factories.launch(study)
    for number, grades in enumerate(given):
        person = new_rater(study, f"person {number}")
        give(study, person, [None if each is None else {"preference": each} for each in grades], shown=shown)
    return study


def test_grades_by_hand():
    study = graded_study([-2, 1, 0, 2], [-2, 2, 0, None])
    report = build_report(study, replicates=200)
    assert problems(report.raw) == []
    (group,) = report["groups"]
    grades = group["grades"]
    assert [(each["grade"], each["n"]) for each in grades["distribution"]] == [
        (-2, 2), (-1, 0), (0, 2), (1, 1), (2, 2),
    ]  # fmt: skip
    (cell,) = grades["by_cell"]
    assert (cell["system_1"], cell["system_2"]) == ("aspen", "birch")
    assert cell["mean"]["value"] == pytest.approx(1 / 7)
    assert (cell["mean"]["n"], cell["n_units"]) == (7, 4)
    # The first response was shown first throughout, so the lean is the mean turned round.
    assert grades["to_first"]["value"] == pytest.approx(-1 / 7)
    assert grades["words"] == [
        {"distance": 1, "label": "a bit better"},
        {"distance": 2, "label": "far better"},
    ]
    # Of labels, the raters agree throughout; of grades, they differ by a step on one item of three pairs.
    nominal = next(each["alpha"] for each in group["alpha"] if each["level"] == "nominal")
    assert nominal["value"] == 1.0
    # Ordinal by hand: pairs (-2,-2), (1,2), (0,0) with n(-2)=2, n(0)=2, n(1)=1, n(2)=1. The distance between ranks of
    # 1 and 2 is (1/2 + 1/2)^2 = 1; observed 2 * 1 / 6, expected over all ordered pairs of the six values.
    counts = {-2: 2, 0: 2, 1: 1, 2: 1}
    places = sorted(counts)

    def apart(one: int, other: int) -> float:
        between = [counts[each] for each in places if min(one, other) <= each <= max(one, other)]
        return (sum(between) - (counts[one] + counts[other]) / 2) ** 2

    values = [each for each, n in counts.items() for _ in range(n)]
    expected = sum(
        apart(one, other) for at, one in enumerate(values) for to, other in enumerate(values) if at != to
    )
    assert grades["alpha"]["value"] == pytest.approx(1 - (2 * apart(1, 2) / 6) / (expected / (6 * 5)))


def test_the_three_labels_keep_their_figures_and_grades_are_no_probabilities():
    study = graded_study([-2, 1, 1, 2], [-1, 1, 0, 1])
    (group,) = build_report(study, replicates=0)["groups"]
    rate = next(each for each in group["win_rates"]["expected"] if each["system"] == "birch")
    # By labels: r1 r1, r2 r2, r2 tie, r2 r2.
    assert rate["rate"]["value"] == pytest.approx((0 + 1 + 0.75 + 1) / 4)
    (found,) = study_frame(study).pairs[0].groups
    assert np.isnan(found.judgments.number).all()


def test_a_judges_replicates_are_averaged_and_a_label_alone_has_no_grade():
    study = graded_study([0, 0])
    judge = new_rater(
        study, "judge", "judge", judge="j", model="m", reduction="both_ways", orders="both", samples=1
    )
    give(study, judge, [{"preference": 2}, {"preference": 1}], replicate=0, shown="r1,r2")
    give(study, judge, [{"preference": 1}, {"preference": -2}], replicate=1, shown="r2,r1")
    labels = new_rater(study, "labels", "judge", judge="l", model="m")
    give(study, labels, [{"preference": "r1"}, {"preference": "r2"}])
    groups = {group["label"]: group for group in build_report(study, replicates=0)["groups"]}
    # The first item is graded alike in both orders, 1.5 on average; the second flips, which is a tie.
    mine = study_frame(study).pairs[0].groups
    found = next(group for group in mine if group.label == "judge")
    assert found.grades.grade.tolist() == [1.5, 0.0]
    # Raw readings: r1 first and r2 better by 2 and 1, r2 first and better by 1, then worse by 2.
    assert groups["judge"]["grades"]["to_first"]["value"] == pytest.approx((-2 - 1 + 1 - 2) / 4)
    assert groups["judge"]["grades"]["to_first"]["n"] == 4
    (between,) = groups["judge"]["grades"]["by_cell"][0]["distribution"][0]["share"]["left_out"]
    assert between == {"reason": "values between the points of the scale", "n": 1}
    assert groups["labels"]["grades"]["alpha"]["value"] is None
    assert groups["labels"]["grades"]["by_cell"] == []
    assert groups["labels"]["win_rates"]["majority"][0]["system_1"]["value"] == 0.5


def test_reduced_grades_are_what_reducing_them_one_by_one_gives():
    """The readings of the frame hold no grade, as if there were labels alone."""
    study = graded_study([2, -1, 0])
    (group,) = study_frame(study).pairs[0].groups
    assert np.isnan(group.readings.number).all()
    assert reduce_readings(group.readings, "mean").vote.tolist() == group.judgments.label.tolist()


def test_a_page_shows_grades_where_there_are_any():
    report = build_report(graded_study([-2, 1, 0], [-2, 2, 0]), replicates=50)
    page = report_page(report)
    (section,) = [section for section in page.sections if section.key == "grades"]
    table, raters = section.blocks[0].tables[0], section.blocks[2].tables[0]
    assert [column.label for column in table.columns] == [
        "Pair", "Mean", "\N{MINUS SIGN}2", "\N{MINUS SIGN}1", "0", "1", "2", "n",
    ]  # fmt: skip
    assert "1: a bit better; 2: far better." in table.foot
    assert raters.rows[0][0].text == "People"
    markdown = report_markdown(report)
    assert "Graded preferences" in markdown
    assert "Towards first shown" in markdown


def test_each_comparison_of_answer_pairs_has_its_grades():
    extra = QuestionSpec("warmth", Kind.PREFERENCE, "Which is warmer?", options={"form": {"points": 7}})
    study = answered_study("answer_pairs", queries=2, questions=[extra])
    person = new_rater(study, "person")
    give(study, person, [{"overall": "r1", "warmth": -3}, {"overall": "r2", "warmth": 1}])
    assert len(items_of(study)) == 2
    report = build_report(study, replicates=50)
    found = {question["key"]: question["groups"] for question in report["questions"]}
    assert found["overall"][0]["pairs"]["grades"] is None
    assert found["warmth"][0]["pairs"]["grades"]["by_cell"][0]["mean"]["value"] == -1.0
    section = next(section for section in report_page(report).sections if section.key == "grades")
    assert section.blocks[0].heading.startswith("Which is warmer?")
