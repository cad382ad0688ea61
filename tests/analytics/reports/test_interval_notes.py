"""An interval that holds the truth less often than it says has a footnote: in the JSON, on the page and in Markdown."""

import pytest

from analytics.reports.files import report_html
from analytics.reports.markdown import escape, report_markdown
from analytics.reports.page import report_page
from analytics.statistics.core.interval_notes import NOTE
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.reading import build_report

pytestmark = pytest.mark.django_db
ONE_ARM = ({"key": "all", "label": "All items"},)


def notes_of(page, text):
    """(section, figure) of every cell whose footnote is this text."""
    return {
        (section.key, column.label)
        for section in page.sections
        for block in section.blocks
        for table in block.tables
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if text in [table.notes[mark - 1] for mark in cell.marks]
    }


def pairs(queries):
    """Three raters and a judge, who nearly always prefer the first response."""
    study = judged_study(queries=queries, arms=ONE_ARM)
    judge(study, raters=3, choose=lambda rater, position: "r2" if position % 8 in (rater, 3) else "r1")
    judge(
        study, raters=1, kind="judge", choose=lambda rater, position: "r2" if position % 8 in (3, 5) else "r1"
    )
    return build_report(study, replicates=50)


def test_alpha_and_kappas_of_few_uneven_queries_have_a_footnote():
    report = pairs(16)
    people = next(group for group in report["groups"] if group["kind"] == "person")
    nominal = next(each["alpha"] for each in people["alpha"] if each["level"] == "nominal")
    assert nominal["low"] is not None
    assert nominal["note"] == NOTE
    assert people["agreement"]["overall"]["with_ties"]["note"] == ""
    assert people["kappa"]["pairs"][0]["kappa"]["note"] == NOTE
    page = report_page(report)
    assert {section for section, _ in notes_of(page, NOTE)} >= {"agreement", "judges", "raters"}
    (fact,) = [fact for fact in page.facts if "Krippendorff" in fact.name]
    assert fact.detail.endswith("likely too narrow") or "likely too narrow;" in fact.detail
    assert escape(NOTE) in report_markdown(report)
    assert NOTE in report_html(report)


def test_many_queries_need_no_footnote():
    report = pairs(80)
    page = report_page(report)
    assert notes_of(page, NOTE) == set()
    assert not any("too narrow" in fact.detail for fact in page.facts)
    assert NOTE not in report_markdown(report)


def test_answers_have_the_footnote_too():
    study = answered_study("context_validation", queries=15)
    for number in range(3):
        given = [{"important": {"f1": int(at % 7 != number), "f2": 1}} for at in range(15)]
        give(study, new_rater(study, f"person {number}"), given)
    report = build_report(study, replicates=50)
    page = report_page(report)
    assert notes_of(page, NOTE) == {
        ("agreement", "Krippendorff's \N{GREEK SMALL LETTER ALPHA}"),
        ("agreement", "Over queries"),
        ("agreement", "Fleiss' \N{GREEK SMALL LETTER KAPPA}"),
        ("agreement", "Cohen's \N{GREEK SMALL LETTER KAPPA}"),
    }
    assert any("likely too narrow" in fact.detail for fact in page.facts)
    assert escape(NOTE) in report_markdown(report)
