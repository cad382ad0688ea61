"""Differences of length between the responses of pairs, in reports."""

import numpy as np
import pytest

from analytics.figures.texts import length_differences
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from analytics.reports.paper.archive import plots_of
from evaluation.models import Item, Response
from tests import factories
from tests.analytics.reports.goldens import TWO_ARMS
from tests.analytics.reports.judging import judge

pytestmark = pytest.mark.django_db
KEY = "texts/length_differences"


def pairs_of(owner, queries=8, **options):
    """A study of aspen, birch and cedar in two settings; lengths differ by query and system, and some are the same."""
    study = factories.make_study(
        "three", owner=owner, queries=queries, training=False, checks=0, items_per_query=3,
        systems=("aspen", "birch", "cedar"), arms=TWO_ARMS, **options,
    )  # fmt: skip
    for at, response in enumerate(Response.objects.filter(query__study=study).order_by("key", "query__key")):
        response.text = "x" * (10 + at * at % 11)
        response.save()
    factories.launch(study)
    judge(study, raters=2)
    judge(study, raters=1, kind="judge")
    return study


def differences(study, arm, system, opponent):
    """By hand: characters of one system's response less those of the other's, of every item that has both."""
    found = []
    for item in Item.objects.filter(study=study, role="main", arm__key=arm):
        length = {each["system"]: len(each["text"]) for each in item.stimulus["responses"]}
        if {system, opponent} == set(length):
            found.append(length[system] - length[opponent])
    return found


def record_of(report):
    [record] = [each for each in report["records"] if each["figure"] == KEY]
    return record


def assert_is(cell, expected):
    assert len(set(expected)) > 2
    assert cell["mean"]["value"] == pytest.approx(np.mean(expected))
    assert cell["mean"]["n"] == len(expected)
    assert cell["standard_deviation"] == pytest.approx(np.std(expected, ddof=1))
    assert cell["quartiles"] == pytest.approx(np.quantile(expected, (0.25, 0.5, 0.75)).tolist())
    assert cell["longer"] == sum(each > 0 for each in expected)
    assert cell["shorter"] == sum(each < 0 for each in expected)


def test_each_system_against_the_baseline_and_all_of_them(owner):
    study = pairs_of(owner, baseline="birch")
    report = build_report(study, replicates=20, only=[KEY])
    record = record_of(report)
    cells = {(each["arm"], each["system"]): each for each in record["cells"]}
    assert set(cells) == {(arm, system) for arm in ("without", "with") for system in (None, "aspen", "cedar")}
    for arm in ("without", "with"):
        of = {system: differences(study, arm, system, "birch") for system in ("aspen", "cedar")}
        for system, expected in of.items():
            assert_is(cells[arm, system], expected)
        assert_is(cells[arm, None], [*of["aspen"], *of["cedar"]])
    assert f"a response's length less that of {view_name(report, 'birch')}" in report_markdown(report)
    [plot] = [each for each in plots_of(report) if each.what == "Differences of length"]
    assert plot.axis_title == "Difference of length, characters"
    shown = [(mark.low, mark.value, mark.high) for row in plot.rows for mark in row.marks]
    assert shown == [tuple(cell["quartiles"]) for cell in record["cells"]]


def test_without_a_baseline_pair_by_pair(owner):
    study = pairs_of(owner)
    record = record_of(build_report(study, replicates=20, only=[KEY]))
    assert record["baseline"] is None
    assert len(record["cells"]) == 6
    for cell in record["cells"]:
        assert_is(cell, differences(study, cell["arm"], cell["system"], cell["opponent"]))


def test_many_pairs_without_a_baseline_have_none(owner, monkeypatch):
    monkeypatch.setattr(length_differences, "MOST_PAIRS", 2)
    report = build_report(pairs_of(owner), replicates=20, only=[KEY])
    assert [each for each in report["records"] if each["figure"] == KEY] == []


def view_name(report, key):
    return next(each["label"] for each in report["study"]["systems"] if each["key"] == key)
