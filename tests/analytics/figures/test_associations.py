"""Two questions in reports: scales about the same units, and several preferences on the same pairs."""

import numpy as np
import pytest
import scipy

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from tests.analytics.reports.answering import (
    answered_study,
    drawn_answers,
    give,
    judged_by_everyone,
    new_rater,
)

pytestmark = pytest.mark.django_db
KEY = "associations/questions"


def found_in(report, group="person"):
    return {
        (record["question"], each["question"]): each
        for record in report["records"]
        if record["figure"] == KEY and record["group"] == group
        for each in record["beside"]
    }


def test_aspects_beside_the_overall_rating():
    study = answered_study("question_quality", queries=8)
    people = [drawn_answers(study, number) for number in range(3)]
    # Drawn answers are the same to every aspect: half of the overall ratings are drawn anew.
    rng = np.random.default_rng(1)
    for answers in people:
        for each in answers:
            each["overall"] = {
                part: value if rng.random() < 0.5 else int(rng.integers(1, 11))
                for part, value in each["overall"].items()
            }
    for number, answers in enumerate(people):
        give(study, new_rater(study, f"person {number}"), answers)
    report = build_report(study, replicates=20, only=[KEY])
    found = found_in(report)
    assert len(found) == 7 * 6 / 2
    x, y = (
        [answers[key][part] for each in people for answers in each for part in ("r1", "r2", "r3")]
        for key in ("usefulness", "overall")
    )
    beside = found["overall", "usefulness"]
    assert 0 < beside["tau"]["low"] < beside["tau"]["high"] < 1
    assert beside["tau"]["value"] == pytest.approx(scipy.stats.kendalltau(x, y).statistic)
    assert beside["rho"]["value"] == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert (beside["tau"]["n"], beside["tau"]["left_out"]) == (72, [])
    [section] = [each for each in report_page(report).sections if each.key == "associations"]
    assert section.blocks[0].tables[0].rows[0][0].text == "Overall"
    assert section.blocks[0].plot is not None
    assert "what each rater said of the same thing" in report_markdown(report)


def test_preferences_on_one_pair():
    study = answered_study("answer_pairs", queries=9)
    places = {"r1": 0, "tie": 1, "r2": 2}
    people = [drawn_answers(study, number) for number in range(3)]
    for answers in people:
        for at, each in enumerate(answers):
            each["overall"] = each["relevance"] if at % 3 else "tie"
    for number, answers in enumerate(people):
        give(study, new_rater(study, f"person {number}"), answers)
    found = found_in(build_report(study, replicates=20, only=[KEY]))
    assert len(found) == 6
    x, y = ([places[answers[key]] for each in people for answers in each] for key in ("relevance", "overall"))
    assert found["overall", "relevance"]["rho"]["value"] == pytest.approx(
        scipy.stats.spearmanr(x, y).statistic
    )


def test_what_has_one_question_has_none():
    assert not found_in(build_report(judged_by_everyone("relevance"), replicates=20, only=[KEY]))
