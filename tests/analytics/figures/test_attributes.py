"""Ratings by attribute value in reports: all values of the protocol's own attributes, and attribute by attribute."""

import numpy as np
import pytest
from scipy import stats

from analytics.display.layout import drawings
from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Context, Item, ItemResponse, Query, Response
from evaluation.protocols.attributes import ATTRIBUTES
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import empty_study, give, new_rater

pytestmark = pytest.mark.django_db
VALUES, SPREAD, BESIDE = (
    f"conditions/{name}" for name in ("attribute_values", "attribute_spread", "attributes_vs_people")
)
FOLLOW_UPS = [
    {"question": each.question, "answers": list(each.values), "answer": ""} for each in ATTRIBUTES.values()
]


def study_of(follow_ups, queries):
    """An item per query and attribute, each with the query's one response."""
    study = empty_study("relevance")
    for number in range(queries):
        query = Query.objects.create(study=study, key=f"q{number}", text=f"What about {number}?")
        response = Response.objects.create(
            query=query, key="aspen", system=study.systems.get(key="aspen"), text="It depends."
        )
        for at, follow_up in enumerate(follow_ups):
            context = Context.objects.create(query=query, key=f"a{at}", follow_ups=[follow_up])
            item = Item.objects.create(
                study=study, key=f"q{number}-{at}", query=query, context=context, arm=study.arms.get()
            )
            ItemResponse.objects.create(item=item, response=response)
    launch_study(study)
    study.refresh_from_db()
    return study


def rate(study, rater, ratings):
    """`ratings` by query and attribute, a list of a rating per value."""
    give(
        study,
        rater,
        [
            {"relevance": {f"f1.v{at}": value for at, value in enumerate(row, 1)}}
            for rows in ratings
            for row in rows
        ],
    )


def rated_study(queries=4):
    """All values rated by two people and a judge, who follows them more or less; (study, ratings by rater)."""
    study = study_of(FOLLOW_UPS, queries)
    rng, given = np.random.default_rng(3), {}
    shared = [[rng.integers(1, 6, len(each["answers"])) for each in FOLLOW_UPS] for _ in range(queries)]
    for name, kind in (("ann", "person"), ("ben", "person"), ("judge", "judge")):
        given[name] = [
            [np.clip(row + rng.integers(-1, 2, len(row)), 1, 5).tolist() for row in rows] for rows in shared
        ]
        rate(study, new_rater(study, name, kind), given[name])
    return study, given


def record(report, figure, group):
    return next(r for r in report["records"] if r["figure"] == figure and r["group"] == group)


def test_every_value_stands_in_a_plot_and_all_plots_have_one_scale():
    study, given = rated_study()
    report = build_report(study, replicates=20, only=[VALUES, SPREAD, BESIDE])
    found = record(report, VALUES, "person")["by_value"]
    assert len(found) == sum(len(each["answers"]) for each in FOLLOW_UPS) > 50
    blocks = list(FIGURES[VALUES].blocks(ReportView(report)))
    plots = {
        block.heading: block.plot for block in blocks if block.heading in {f["question"] for f in FOLLOW_UPS}
    }
    assert len(plots) == len(FOLLOW_UPS)
    for follow_up in FOLLOW_UPS:
        wide, _ = drawings(plots[follow_up["question"]])
        assert [line.label for line in wide.lines] == follow_up["answers"]
        assert (wide.ticks[0].text, wide.ticks[-1].text) == ("1.00", "5.00")
    mean = np.mean([rows[0][0] for name in ("ann", "ben") for rows in given[name]])
    assert found[0]["mean"]["value"] == pytest.approx(mean)
    text = report_markdown(report)
    assert all(each["question"] in text for each in FOLLOW_UPS)


def test_the_largest_difference_by_attribute():
    study, given = rated_study()
    found = record(build_report(study, replicates=20, only=[VALUES, SPREAD, BESIDE]), SPREAD, "person")
    assert found["adapted"] == []
    assert [each["attribute"] for each in found["default"]] == [each["question"] for each in FOLLOW_UPS]
    for at, each in enumerate(found["default"]):
        means = (np.array([rows[at] for rows in given["ann"]]) + [rows[at] for rows in given["ben"]]) / 2
        spread = means.max(axis=1) - means.min(axis=1)
        assert each["mean"]["value"] == pytest.approx(spread.mean())
        nearest = np.floor(spread + 0.5).astype(int)
        assert each["counts"] == np.bincount(nearest, minlength=5).tolist()


def test_the_shares_of_the_differences_have_a_folded_plot_per_attribute():
    study, _ = rated_study()
    report = build_report(study, replicates=20, only=[VALUES, SPREAD, BESIDE])
    blocks = list(FIGURES[SPREAD].blocks(ReportView(report)))
    shown = [block for block in blocks if block.folded]
    names = [each["question"] for each in FOLLOW_UPS]
    assert [block.heading for block in shown] == [
        f"How often each largest difference occurs: {name}" for name in names
    ]
    found = record(report, SPREAD, "person")["default"]
    for block, each in zip(shown, found, strict=True):
        rows = block.plot.rows
        assert [row.label for row in rows] == ["0", "1", "2", "3", "4"]
        people = [next(mark for mark in row.marks if mark.kind == "person").value for row in rows]
        assert people == pytest.approx(np.array(each["counts"]) / sum(each["counts"]))
        assert {mark.kind for row in rows for mark in row.marks} == {"person", "judge"}
        # One scale for all of them.
        assert (block.plot.scale.low, block.plot.scale.high) == (0, 1)


def test_a_judge_beside_people_by_attribute():
    study, given = rated_study()
    report = build_report(study, replicates=20, only=[VALUES, SPREAD, BESIDE])
    group = next(each["key"] for each in report["groups"] if each["kind"] == "judge")
    found = record(report, BESIDE, group)["by_attribute"]
    assert len(found) == len(FOLLOW_UPS)
    for at, each in enumerate(found):
        people = (np.array([rows[at] for rows in given["ann"]]) + [rows[at] for rows in given["ben"]]) / 2
        judge = np.array([rows[at] for rows in given["judge"]])
        assert each["pooled"]["value"] == pytest.approx(
            stats.spearmanr(people.ravel(), judge.ravel()).statistic
        )
        within = [
            stats.spearmanr(one, other).statistic
            for one, other in zip(people, judge, strict=True)
            if np.ptp(one) and np.ptp(other)
        ]
        assert each["within"]["value"] == pytest.approx(np.mean(within))
        assert each["within"]["n"] == len(within)
    assert not [r for r in report["records"] if r["figure"] == BESIDE and r["group"] == "person"]
    assert "Ratings vs people by attribute" in report_markdown(report)


def test_many_attributes_stand_in_one_table():
    follow_ups = [{"question": f"Question {n}?", "answers": ["Yes", "No"], "answer": ""} for n in range(25)]
    study = study_of(follow_ups, 2)
    rate(study, new_rater(study, "ann"), [[[1 + at % 5, 3] for at in range(25)]] * 2)
    blocks = list(
        FIGURES[VALUES].blocks(ReportView(build_report(study, replicates=20, only=[VALUES, SPREAD, BESIDE])))
    )
    assert blocks[0].plot is None
    assert len(blocks[0].tables[0].rows) == 50
    # No plot for each of so many.
    spread = list(
        FIGURES[SPREAD].blocks(ReportView(build_report(study, replicates=20, only=[VALUES, SPREAD, BESIDE])))
    )
    assert len(spread[0].tables[0].rows) == 25
    assert not [block for block in spread if block.folded]
