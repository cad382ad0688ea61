"""Bias by source in reports: judges beside people on text by models and by persons."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import (
    answered_study,
    drawn_answers,
    give,
    judged_by_everyone,
    new_rater,
)

pytestmark = pytest.mark.django_db
KEY = "replacement/source_bias"
KINDS = {"aspen": "model", "birch": "person", "cedar": "prompt"}


def found_in(report):
    return {
        (record["question"], record["group"]): record
        for record in report["records"]
        if record["figure"] == KEY
    }


def test_ratings_of_a_jury_that_favours_models():
    study = answered_study("question_quality", queries=12, kinds=KINDS)
    people = drawn_answers(study, 0)
    give(study, new_rater(study, "person"), people)
    for number in range(2):
        # One point more for what a person did not write.
        answers = [
            {
                **each,
                "usefulness": {
                    part: min(value + (part != "r2"), 10) for part, value in each["usefulness"].items()
                },
            }
            for each in people
        ]
        give(
            study,
            new_rater(study, f"juror {number}", "judge", jury={"name": "crowd", "combination": "majority"}),
            answers,
        )
    report = build_report(study, replicates=20, only=[KEY])
    found = found_in(report)
    assert {group for _, group in found} == {"jury-crowd"}
    usefulness = found["usefulness", "jury-crowd"]
    assert usefulness["persons"]["value"] == 0
    assert usefulness["bias"]["value"] == pytest.approx(usefulness["models"]["value"])
    assert usefulness["bias"]["value"] > 0.8
    assert usefulness["test"]["p_corrected"] < 0.05
    assert found["overall", "jury-crowd"]["bias"]["value"] == 0
    assert "Bias by source" in report_markdown(report)


def test_pairs_of_a_model_and_a_person():
    study = answered_study("answer_pairs", queries=12, kinds={"aspen": "person", "birch": "model"})
    n = range(12)
    give(study, new_rater(study, "person"), [{"overall": ("r1", "r2", "tie")[at % 3]} for at in n])
    give(study, new_rater(study, "judge", "judge"), [{"overall": ("r1", "r2", "r2")[at % 3]} for at in n])
    [found] = found_in(build_report(study, replicates=20, only=[KEY])).values()
    assert found["bias"]["value"] == pytest.approx(2 / 3 - 1 / 2)
    assert (found["models"], found["persons"], found["bias"]["n"]) == (None, None, 12)


@pytest.mark.parametrize("protocol", ["question_quality", "answer_pairs", "ranking"])
def test_text_of_models_alone_has_none(protocol):
    assert not found_in(build_report(judged_by_everyone(protocol), replicates=20, only=[KEY]))


def test_rankings():
    report = build_report(judged_by_everyone("ranking", kinds=KINDS), replicates=20, only=[KEY])
    found = found_in(report)
    assert found
    # Places are given away: what texts by models gain on average, half as much as those by persons lose.
    for record in found.values():
        assert record["models"]["value"] * 2 == pytest.approx(-record["persons"]["value"])
