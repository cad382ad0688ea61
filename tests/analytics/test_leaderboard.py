"""Leaderboards made of reports: what each protocol ranks by, ranks, groups of raters, and what stays out."""

import copy
import csv
import io
import json

import numpy as np
import pytest

from analytics.leaderboard.boards import OUTRANKED, leaderboard_record
from analytics.leaderboard.files import board_table, heading, leaderboard_csv, leaderboard_json
from analytics.reports.build import build_report
from evaluation.models import Answer, Query, Rater, Response
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_one_interval_answers import drawn

pytestmark = pytest.mark.django_db


def boards(report):
    return {
        (raters["key"], board["measure"], board["setting"]): board
        for raters in leaderboard_record(report)["raters"]
        for board in raters["boards"]
    }


def slow_ranks(rows, best):
    """1 + the others whose whole interval is better, pair by pair."""
    found = []
    for row in rows:
        if row["low"] is None:
            found.append(None)
            continue
        better = [
            other
            for other in rows
            if other["low"] is not None
            and (other["low"] > row["high"] if best == "highest" else other["high"] < row["low"])
        ]
        found.append(1 + len(better))
    return found


@pytest.mark.parametrize(
    ("protocol", "measure", "best"),
    [
        ("ranking", OUTRANKED, "highest"),
        ("aspects", "Share of best picks", "highest"),
        ("question_quality", "Mean rating", "highest"),
        ("custom", "Mean rating", "highest"),
    ],
)
def test_each_protocol_ranks_by_its_own(protocol, measure, best):
    report = build_report(drawn(protocol), replicates=20)
    first = leaderboard_record(report)["raters"][0]["boards"][0]
    assert (first["measure"], first["best"]) == (measure, best)
    rows = first["rows"]
    values = [row["value"] for row in rows]
    assert values == sorted(values, reverse=best == "highest")
    assert [row["place"] for row in rows] == [
        1 + sum(other < value if best == "lowest" else other > value for other in values) for value in values
    ]
    assert [row["rank"] for row in rows] == slow_ranks(rows, best)
    assert {row["system"] for row in rows} <= {each["key"] for each in report["study"]["systems"]}
    assert all(row["n"] > 0 for row in rows)


@pytest.fixture
def three(db):
    """Three systems without a baseline, two categories, people and two judges."""
    study = judged_study(
        "three", queries=12, systems=("aspen", "birch", "cedar"), items_per_query=3,
        arms=({"key": "all", "label": "All"},),
    )  # fmt: skip
    for at, query in enumerate(study.queries.all()):
        Query.objects.filter(pk=query.pk).update(category=("even", "odd")[at % 2])
    rng = np.random.default_rng(4)
    draw = lambda rater, at: str(rng.choice(["r1", "r1", "r1", "tie", "r2"]))  # noqa: E731
    judge(study, raters=3, choose=draw, label="Zyzzyva Person")
    judge(study, raters=2, kind="judge", choose=draw, label="Maple Model")
    return study


def test_preferences_have_rates_strengths_and_categories(three):
    report = build_report(three, replicates=20)
    found = boards(report)
    assert [each["key"] for each in leaderboard_record(report)["raters"]] == [
        "people",
        "maple-model-0",
        "maple-model-1",
    ]
    rates = found["people", "Expected win rate", ""]
    assert sorted(rates["categories"]) == ["even", "odd"]
    (standings,) = (
        each
        for each in report["records"]
        if (each["figure"], each["group"]) == ("leaderboards/standings", "person")
    )
    for row in rates["rows"]:
        (whole,) = (each for each in standings["boards"][0]["standings"] if each["system"] == row["system"])
        assert (row["rank"], row["place"], row["value"], row["low"]) == (
            whole["rank"], whole["place"], whole["rate"]["value"], whole["rate"]["low"],
        )  # fmt: skip
        for name, figure in zip(rates["categories"], row["by_category"], strict=True):
            (board,) = (each for each in standings["boards"] if each["category"] == name)
            (same,) = (each for each in board["standings"] if each["system"] == row["system"])
            assert (figure["value"], figure["rank"]) == (same["rate"]["value"], same["rank"])
    assert ("people", "Bradley-Terry strength", "") in found
    table = board_table(rates)
    assert [column.label for column in table.columns] == ["System", "Rank", "Figure", "even", "odd", "n"]
    assert heading(rates) == "Expected win rate"


def test_two_systems_are_ranked_against_the_baseline_by_setting():
    study = judged_study("two", baseline="birch")
    judge(study, raters=3)
    found = boards(build_report(study, replicates=20))
    settings = [setting for _, measure, setting in found if measure == "Expected win rate against birch"]
    assert len(settings) == study.arms.count()
    assert all([row["system"] for row in board["rows"]] == ["aspen"] for board in found.values())


def test_nothing_about_people_is_in_it(three):
    record = leaderboard_record(build_report(three, replicates=20))
    text = leaderboard_json(record, description="") + leaderboard_csv(record)
    private = [
        *three.raters.values_list("pseudonym", flat=True),
        *three.raters.filter(kind=Rater.Kind.PERSON).values_list("label", flat=True),
        *Response.objects.filter(query__study=three).values_list("text", flat=True),
        *Query.objects.filter(study=three).values_list("text", flat=True),
        *filter(None, Answer.objects.filter(judgment__study=three).values_list("text", flat=True)),
    ]
    assert len(private) > 20
    for each in private:
        assert each not in text


def test_parts_of_people_are_no_boards(three):
    report = build_report(three, replicates=20)
    part = {**report["groups"][0], "key": "person-one", "label": "People, one", "within": "person"}
    more = copy.deepcopy(report)
    more["groups"].append(part)
    for question in more["questions"]:
        question["groups"].append({**question["groups"][0], "group": "person-one"})
    more["records"] += [
        {**each, "group": "person-one"} for each in report["records"] if each["group"] == "person"
    ]
    assert leaderboard_record(more) == leaderboard_record(report)


def test_csv_holds_every_figure(three):
    record = leaderboard_record(build_report(three, replicates=20))
    rows = list(csv.DictReader(io.StringIO(leaderboard_csv(record))))
    wanted = sum(
        1 + sum(figure is not None for figure in row["by_category"])
        for raters in record["raters"]
        for board in raters["boards"]
        for row in board["rows"]
    )
    assert len(rows) == wanted
    first = record["raters"][0]["boards"][0]["rows"][0]
    assert (rows[0]["raters"], rows[0]["system"]) == ("People", first["system"])
    assert float(rows[0]["value"]) == first["value"]
    assert json.loads(leaderboard_json(record, description="x"))["description"] == "x"


def test_names_that_would_be_formulas_are_none(three):
    report = build_report(three, replicates=20)
    for system in report["study"]["systems"]:
        system["label"] = "=HYPERLINK(1)"
    written = leaderboard_csv(leaderboard_record(report))
    assert "HYPERLINK" in written
    assert ",=HYPERLINK" not in written
