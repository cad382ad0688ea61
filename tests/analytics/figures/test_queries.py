"""The queries of a study by category, split and source, and the codes that models gave them."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.reports.paper.archive import plots_of
from analytics.reports.parts import queries as queries_part
from evaluation.filters import Filters
from evaluation.models import Query
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import answered_study, give, new_rater, some_answers

pytestmark = pytest.mark.django_db
SPLITS = ("private", "private", "private", "dev", "dev", "")
SOURCES = ("MT-Bench", "NQ", "NQ", "NQ", "NQ", "MT-Bench")


def study_of(categories, *, splits=SPLITS, sources=SOURCES):
    study = answered_study("relevance", queries=len(categories), launched=False)
    each = zip(categories, splits, sources, strict=True)
    for number, (category, split, source) in enumerate(each):
        theirs = Query.objects.filter(study=study, key=f"q{number}")
        theirs.update(category=category, split=split, source=source)
    launch_study(study)
    give(study, new_rater(study, "person"), some_answers(study))
    return study


def by(report, name):
    [found] = [each for each in report["queries"] if each["by"] == name and each["split"] is None]
    return [tuple(each.values()) for each in found["values"]]


def tables(report):
    [texts] = [section for section in report_page(report).sections if section.key == "texts"]
    [block] = [block for block in texts.blocks if block.heading == "Queries"]
    return [[[cell.text for cell in row] for row in table.rows] for table in block.tables]


def test_queries_by_category_split_and_source():
    report = build_report(
        study_of(["law", "maths", "maths", "maths", "law", ""]), replicates=20, only=["texts/queries"]
    )
    assert by(report, "category") == [("maths", 3, 0.5, 3), ("law", 2, 1 / 3, 2), ("", 1, 1 / 6, 1)]
    assert by(report, "split") == [("private", 3, 0.5, 3), ("dev", 2, 1 / 3, 2), ("", 1, 1 / 6, 1)]
    assert by(report, "source") == [("NQ", 4, 2 / 3, 4), ("MT-Bench", 2, 1 / 3, 2)]
    assert tables(report) == [
        [["maths", "3", "50.0", "3"], ["law", "2", "33.3", "2"], ["none", "1", "16.7", "1"]],
        [["Private", "3", "50.0", "3"], ["Development", "2", "33.3", "2"], ["none", "1", "16.7", "1"]],
        [["NQ", "4", "66.7", "4"], ["MT-Bench", "2", "33.3", "2"]],
    ]
    assert "Queries by source" in report_markdown(report)


def test_categories_of_each_split():
    report = build_report(
        study_of(["law", "maths", "maths", "maths", "law", ""]), replicates=20, only=["texts/queries"]
    )
    inside = {each["split"]: each for each in report["queries"] if each["split"] is not None}
    # The queries without a split have one category only, so that there is nothing to show.
    assert list(inside) == ["dev", "private"]
    assert [tuple(each.values()) for each in inside["private"]["values"]] == [
        ("maths", 2, 2 / 3, 2), ("law", 1, 1 / 3, 1)
    ]  # fmt: skip
    text = report_markdown(report)
    assert "Queries by category, and their share of the queries of the split Development in percent." in text


def test_the_plot_has_a_row_per_category_and_a_mark_per_split():
    report = build_report(
        study_of(["law", "maths", "maths", "maths", "law", "law"]), replicates=20, only=["texts/queries"]
    )
    whole, inside = (each for each in plots_of(report) if each.axis_title == "Share of queries, %")
    assert [(row.label, [mark.value for mark in row.marks]) for row in whole.rows] == [
        ("law", [0.5]), ("maths", [0.5])
    ]  # fmt: skip
    assert {
        (row.label, mark.who): mark.value for row in inside.rows for mark in row.marks
    } == {
        ("law", "Development"): 0.5, ("maths", "Development"): 0.5,
        ("law", "Private"): 1 / 3, ("maths", "Private"): 2 / 3,
    }  # fmt: skip
    assert inside.named


def test_every_item_of_a_query_is_counted():
    study = study_of(["law", "maths", "maths", "maths", "law", ""])
    item = study.items.get(query__key="q0")
    item.pk, item.key = None, "again"
    item.save()
    report = build_report(study, replicates=20, only=["texts/queries"])
    assert by(report, "category")[1] == ("law", 2, 1 / 3, 3)


def test_a_view_has_its_own_queries():
    study = study_of(["law", "maths", "maths", "maths", "law", ""])
    report = build_report(
        study, replicates=20, filters=Filters(categories=("maths",)), only=["texts/queries"]
    )
    assert [each["by"] for each in report["queries"]] == ["split"]
    assert by(report, "split") == [("private", 2, 2 / 3, 2), ("dev", 1, 1 / 3, 1)]


def test_what_is_the_same_for_all_is_not_shown():
    study = study_of(["law"] * 6, splits=[""] * 6, sources=["NQ"] * 6)
    report = build_report(study, replicates=20, only=["texts/queries"])
    assert report["queries"] == []
    assert "Queries by" not in report_markdown(report)


def test_values_beyond_the_most_are_counted_together(monkeypatch):
    monkeypatch.setattr(queries_part, "MOST_VALUES", 2)
    report = build_report(study_of(["a", "b", "b", "c", "d", "b"]), replicates=20, only=["texts/queries"])
    [found] = [each for each in report["queries"] if each["by"] == "category" and each["split"] is None]
    assert [each["value"] for each in found["values"]] == ["b", "a"]
    assert found["others"] == {"values": 2, "queries": 2, "items": 2}
    assert "2 more have 2 queries and 2 items in all." in report_markdown(report)
