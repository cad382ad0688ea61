"""Texts in reports: once a study, by system, whoever judged them."""

import pytest

from analytics.frames import texts
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Response
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import (
    answered_study,
    give,
    judged_by_everyone,
    new_rater,
    some_answers,
)

pytestmark = pytest.mark.django_db
READABILITY, OPENINGS = "texts/readability", "texts/openings"
QUESTIONS = {
    "aspen": "Which edition do you mean?",
    "birch": "Do you want to buy it, or to read about it?",
    "cedar": "Are you a student?",
}


def records_of(report, figure):
    return [record for record in report["records"] if record["figure"] == figure]


def study_of_questions(**options):
    study = answered_study("question_quality", queries=6, launched=False, **options)
    for response in Response.objects.filter(query__study=study):
        extra = " Really now." if response.query.key == "q1" else ""
        response.text = f"{extra} {QUESTIONS[response.system.key]}"
        response.save()
    launch_study(study)
    for number in range(2):
        give(study, new_rater(study, f"person {number}"), some_answers(study, number))
    give(study, new_rater(study, "judge", "judge"), some_answers(study, 2))
    return study


def test_lengths_and_forms_by_system():
    report = build_report(study_of_questions(), replicates=20, only=[READABILITY, OPENINGS])
    [readability] = records_of(report, READABILITY)
    of_words = readability["measures"][0]
    means = {each["system"]: each["mean"]["value"] for each in of_words["by_system"]}
    assert means == pytest.approx({"aspen": 5 + 2 / 6, "birch": 11 + 2 / 6, "cedar": 4 + 2 / 6})
    assert [each["measure"] for each in readability["measures"]] == ["words", "characters", "ease", "grade"]
    assert (of_words["between"]["n"], len(of_words["between"]["pairs"])) == (18, 3)
    [openings] = records_of(report, OPENINGS)
    shares = {
        each["system"]: {form["form"]: form["share"]["value"] for form in each["forms"]}
        for each in openings["by_system"]
    }
    assert shares["aspen"]["which"] == shares["birch"]["do you, have you"] == 1
    assert shares["cedar"]["are you, is it"] == 1
    page = report_markdown(report)
    assert "Length and readability" in page
    assert "Forms of questions" in page


def test_other_languages_have_lengths_alone():
    report = build_report(study_of_questions(language="de"), replicates=20, only=[READABILITY, OPENINGS])
    [readability] = records_of(report, READABILITY)
    assert [each["measure"] for each in readability["measures"]] == ["words", "characters"]
    assert not records_of(report, OPENINGS)


def test_texts_that_are_no_questions_have_no_forms(monkeypatch):
    monkeypatch.setattr(texts, "MOST_QUERIES", 4)
    report = build_report(judged_by_everyone("aspects"), replicates=20, only=[READABILITY, OPENINGS])
    assert not records_of(report, OPENINGS)
    [readability] = records_of(report, READABILITY)
    assert (readability["drawn"], readability["queries"]) == (4, 6)
    assert "4 of 6 queries, drawn at random" in report_markdown(report)


def test_studies_without_responses_have_none():
    report = build_report(
        judged_by_everyone("context_validation"), replicates=20, only=[READABILITY, OPENINGS]
    )
    assert not records_of(report, READABILITY)
