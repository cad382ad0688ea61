"""Analyses of variance in reports: of scales that several systems were rated on."""

import numpy as np
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
BETWEEN, REPEATED = "variance/between_groups", "variance/repeated_measures"


def records_of(report, figure):
    return {
        (record["question"], record["group"]): record
        for record in report["records"]
        if record["figure"] == figure
    }


def test_of_the_seven_aspects_of_questions():
    study = answered_study("question_quality", queries=12)
    for number in range(3):
        answers = drawn_answers(study, number)
        if not number:
            answers[0] = None
        give(study, new_rater(study, f"person {number}"), answers)
    report = build_report(study, replicates=20, only=[BETWEEN, REPEATED])
    between, repeated = records_of(report, BETWEEN), records_of(report, REPEATED)
    assert len(between) == len(repeated) == 7
    one, again = between["usefulness", "person"], repeated["usefulness", "person"]
    # Eleven and twice twelve judgments of three responses.
    assert (one["n"], one["df_between"], one["df_within"]) == (105, 2, 102)
    assert [each["n"] for each in one["systems"]] == [35, 35, 35]
    assert (again["n"], again["df_systems"], again["df_error"]) == (12, 2, 22)
    gaps = [each["difference"]["value"] for each in one["pairs"]]
    assert gaps[0] + gaps[2] == pytest.approx(gaps[1])
    assert {each["system_1"] for each in again["pairs"]} == {"aspen", "birch"}
    page = report_markdown(report)
    assert "Tukey" in page
    assert "Greenhouse" in page
    assert "taken for an independent one" in page
    assert "the analysis of the AGENT-CQ paper (section 4.2)" in page
    assert page.count("as in AGENT-CQ") == 2
    # What the note says of its p-values holds of none that is printed; the record has them for comparison.
    agent_cq = page[page.index("### Analysis of variance between systems") :]
    assert "| p |" not in agent_cq[: agent_cq.index("### ", 4)]
    assert 0 <= one["pairs"][0]["p_value"] <= 1


def test_one_system_has_none():
    report = build_report(
        judged_by_everyone("question_quality", kinds={"aspen": "model"}),
        replicates=20,
        only=[BETWEEN, REPEATED],
    )
    assert not records_of(report, BETWEEN)
    assert not records_of(report, REPEATED)


def test_incomplete_queries_are_counted_in_the_table():
    # Items with one response take the systems in turn, so that no query has two of them.
    study = answered_study("relevance", queries=6)
    for number in range(2):
        give(study, new_rater(study, f"person {number}"), drawn_answers(study, number))
    found = records_of(build_report(study, replicates=20, only=[BETWEEN, REPEATED]), REPEATED)
    assert all(record["n"] == 0 and record["left_out"][0]["n"] == 6 for record in found.values())
    assert all("two queries" in record["undefined"] for record in found.values())
    assert np.all([not record["pairs"] for record in found.values()])
