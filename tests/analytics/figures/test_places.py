"""Ratings and picks by place in reports: as orders are recorded, and nothing where they are not."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, give, new_rater

pytestmark = pytest.mark.django_db
RATED, PICKED = "ratings/places", "preferences/picked_places"
ORDERS = ("r3,r1,r2", "r2,r3,r1", "r1,r2,r3")


def records(report, figure):
    return {each["question"]: each for each in report["records"] if each["figure"] == figure}


def test_ratings_follow_the_recorded_order():
    study = answered_study("custom")
    for number, order in enumerate(ORDERS):
        # Whoever is shown three responses rates the first of them 5, the second 3 and the last 1.
        of_response = dict(zip(order.split(","), (5, 3, 1), strict=True))
        give(study, new_rater(study, f"person-{number}"), [{"coherence": of_response}] * 4, shown=order)
    report = build_report(study, replicates=20, only=[RATED, PICKED])
    [found] = records(report, RATED).values()
    assert [each["mean"]["value"] for each in found["places"]] == [5, 3, 1]
    assert [each["difference"]["value"] for each in found["places"]] == [2, 0, -2]
    assert found["overall"]["value"] == 3
    # All four queries on one side are two of sixteen outcomes.
    assert [each["test"]["p_value"] for each in found["places"]] == [2 / 16, 1, 2 / 16]
    assert "its difference from the mean that the same rater gave on the item" in report_markdown(report)


def test_picks_follow_the_recorded_order():
    study = answered_study("aspects")
    for number, order in enumerate(ORDERS):
        first, second, _ = order.split(",")
        best = [{"best": first}, {"best": first}, {"best": first}, {"best": second}]
        give(study, new_rater(study, f"person-{number}"), best, shown=order)
    report = build_report(study, replicates=20, only=[RATED, PICKED])
    [found] = records(report, PICKED).values()
    assert [each["share"]["value"] for each in found["places"]] == [0.75, 0.25, 0]
    assert [each["chance"] for each in found["places"]] == pytest.approx([1 / 3] * 3)
    # Three queries have two picks of the first place too many, one has one too few; of the last all have.
    assert [each["test"]["p_value"] for each in found["places"]] == [4 / 16, 1, 2 / 16]
    assert "Share of picks that went to the response shown at each place" in report_markdown(report)


def test_rankings_that_follow_the_recorded_order():
    study = answered_study("ranking", queries=6)
    for number, order in enumerate(ORDERS):
        ranks = dict(zip(order.split(","), (1, 2, 3), strict=True))
        give(study, new_rater(study, f"person-{number}"), [{"ranking": ranks}] * 6, shown=order)
    report = build_report(study, replicates=20, only=["rankings/places"])
    [found] = records(report, "rankings/places").values()
    assert [each["bias"]["value"] for each in found["places"]] == [-1, 0, 1]
    assert [each["test"]["p_value"] for each in found["places"]] == [2 / 64, 1, 2 / 64]
    # Six queries are too few for a conclusion.
    assert [each["test"]["p_corrected"] for each in found["places"]] == [None] * 3
    assert "sign-flip test of the mean rank against chance" in report_markdown(report)


def test_without_recorded_orders_there_is_none():
    study = answered_study("aspects")
    give(study, new_rater(study, "person-0"), [{"best": "r1"}] * 4)
    report = build_report(study, replicates=20, only=[RATED, PICKED])
    assert not records(report, PICKED)
    assert not records(report, RATED)


def test_several_readings_of_an_item_have_no_place():
    study = answered_study("custom")
    judge = new_rater(study, "judge", kind="judge")
    of_response = {"r1": 5, "r2": 3, "r3": 1}
    # The last item is read once, so that its responses were at a place.
    for replicate, n in ((0, 4), (1, 3)):
        read = [{"coherence": of_response}] * n + [None] * (4 - n)
        give(study, judge, read, replicate=replicate, shown=ORDERS[replicate])
    [found] = records(build_report(study, replicates=20, only=[RATED, PICKED]), RATED).values()
    assert [each["mean"]["n"] for each in found["places"]] == [1, 1, 1]
    assert [each["mean"]["value"] for each in found["places"]] == [1, 5, 3]
