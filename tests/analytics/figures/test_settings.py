"""Settings of systems in reports: ratings and measures of the same systems in several settings, side by side."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import System
from tests.analytics.reports.answering import answered_study, drawn_answers, give, new_rater

pytestmark = pytest.mark.django_db
RATED, MEASURED = "ratings/settings", "judges/measure_settings"
# The first two are one model; the third stands in one setting alone.
SETTINGS = {"aspen": ("oak", "alone"), "birch": ("oak", "with documents"), "cedar": ("elm", "alone")}


def rated_study(settings):
    study = answered_study("question_quality", queries=12)
    for key, (base, setting) in settings.items():
        System.objects.filter(study=study, key=key).update(base=base, setting=setting)
    people = drawn_answers(study, 0)
    for each in people:
        ratings = each["usefulness"]
        each["usefulness"] = {part: min(max(value, 1), 7) for part, value in ratings.items()}
        each["usefulness"]["r2"] = each["usefulness"]["r1"] + 2
    give(study, new_rater(study, "person"), people)
    return study


def cells_of(report, figure):
    return {
        (cell["between"], cell["first"], cell["second"], cell["within"]): cell
        for record in report["records"]
        if record["figure"] == figure and record["question"] == "usefulness"
        for cell in record["cells"]
    }


def test_what_documents_add_to_a_rating():
    report = build_report(rated_study(SETTINGS), replicates=20, only=[RATED])
    found = cells_of(report, RATED)
    assert found.keys() == {
        ("settings", "alone", "with documents", None), ("systems", "elm", "oak", None),
    }  # fmt: skip
    added = found["settings", "alone", "with documents", None]
    assert (added["difference"]["value"], added["difference"]["n"]) == (pytest.approx(2.0), 12)
    assert added["test"]["p_corrected"] < 0.05
    text = report_markdown(report)
    assert "with documents" in text
    assert "Settings of the same systems" in text


def test_without_settings_there_is_nothing_to_compare():
    report = build_report(rated_study({}), replicates=20, only=[RATED, MEASURED])
    assert report["records"] == []


def test_one_setting_is_compared_with_none():
    report = build_report(rated_study({"aspen": ("oak", "alone")}), replicates=20, only=[RATED])
    assert report["records"] == []
