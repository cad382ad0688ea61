"""Order effects in reports: along each person's own work, where its order is recorded."""

from datetime import UTC, datetime, timedelta

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, give, items_of, judged_by_everyone, new_rater
from tests.analytics.reports.judging import judge, judged_study, main_items
from tests.calibrations import NEW, OLD, calibrated, calibration_study, kept

pytestmark = pytest.mark.django_db
KEY = "raters/order_effects"
BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def records(report):
    return {(each["question"], each["group"]): each for each in report["records"] if each["figure"] == KEY}


def in_turn(rater, order):
    """Gives the rater's judgments moments, in this order of the study's items."""
    at = {item.pk: BEGUN + timedelta(minutes=place) for place, item in enumerate(order)}
    for judgment in rater.judgments.all():
        judgment.judged_at = at[judgment.item_id]
        judgment.save(update_fields=["judged_at"])


def test_ratings_along_the_work():
    study = answered_study("custom", queries=9)
    parts, items = ("r1", "r2", "r3"), items_of(study)
    for number in range(2):
        order = items[::-1] if number else items
        place = {item.pk: at for at, item in enumerate(order)}
        # Five points at first, three in the middle, one in the end; yes to everything.
        rated = [{"coherence": dict.fromkeys(parts, 5 - 2 * (place[item.pk] // 3)), "sound": dict.fromkeys(parts, 1)}
                 for item in items]  # fmt: skip
        rater = new_rater(study, f"person-{number}")
        give(study, rater, rated)
        in_turn(rater, order)
    # Of one who judged everything at once no order is known; judges have none.
    late = new_rater(study, "person-2")
    give(study, late, [{"coherence": dict.fromkeys(parts, 1), "sound": dict.fromkeys(parts, 0)}] * 9)
    late.judgments.update(judged_at=BEGUN)
    give(study, new_rater(study, "judge-0", "judge"), [{"coherence": dict.fromkeys(parts, 1)}] * 9)
    report = build_report(study, replicates=20, only=[KEY])
    found = records(report)
    assert found.keys() == {("coherence", "person"), ("sound", "person")}
    [mean], [yes] = (found[question, "person"]["measures"] for question in ("coherence", "sound"))
    assert [each["value"] for each in mean["thirds"]] == [5, 3, 1]
    assert (mean["difference"]["value"], mean["difference"]["n"]) == (-4, 36)
    # One question's three middle queries are at neither end of anybody's work; two questions are one family.
    assert (mean["test"]["n"], mean["test"]["tests"]) == (6, 0)
    assert (yes["measure"], [each["value"] for each in yes["thirds"]]) == ("yes", [1, 1, 1])
    assert [part["n"] for part in found["coherence", "person"]["left_out"]] == [27]
    page = report_markdown(report)
    assert "Order in the work" in page
    assert "27 answers without a recorded order of their rater's work" in page


def test_preferences_along_the_work(owner):
    study = judged_study(owner=owner, arms=({"key": "all", "label": "All"},))
    items = main_items(study)
    third = {item.pk: at * 3 // len(items) for at, item in enumerate(items)}

    def choose(rater, position):
        """A tie in the first third, what is shown first in the last one, and what is second between them."""
        at = third[items[position].pk]
        first = ("r1", "r2")[(rater + position) % 2]
        return "tie" if at == 0 else first if at == 2 else {"r1": "r2", "r2": "r1"}[first]

    for rater in judge(study, raters=3, choose=choose):
        in_turn(rater, items)
    [found] = records(build_report(study, replicates=20, only=[KEY])).values()
    ties, first = found["measures"]
    assert [each["value"] for each in ties["thirds"]] == [1, 0, 0]
    assert [each["value"] for each in first["thirds"]] == [None, 0, 1]
    assert first["test"] is None
    assert ties["test"]["p_value"] < 0.05
    assert found["left_out"] == []


def test_choices_and_picks_by_the_others_who_agree():
    study = answered_study("aspects", queries=6)
    items = items_of(study)
    for number in range(3):
        # All agree at first, and nobody in the end.
        best = [f"r{1 if at < 3 else number + 1}" for at in range(6)]
        rater = new_rater(study, f"person-{number}")
        give(study, rater, [{"best": each} for each in best])
        in_turn(rater, items)
    [pick] = records(build_report(study, replicates=20, only=[KEY]))["best", "person"]["measures"]
    assert (pick["measure"], [each["value"] for each in pick["thirds"]]) == ("alike", [1, 0.5, 0])


def test_rankings_by_how_much_they_are_like_the_others():
    study = answered_study("ranking", queries=6)
    items, parts = items_of(study), ("r1", "r2", "r3")
    for number in range(3):
        # All agree at first; in the end the third person's order is the others' turned round.
        turned = [number == 2 and at >= 4 for at in range(6)]
        ranked = [dict(zip(parts[::-1] if each else parts, (1, 2, 3), strict=True)) for each in turned]
        rater = new_rater(study, f"person-{number}")
        give(study, rater, [{"ranking": each} for each in ranked])
        in_turn(rater, items)
    # A ranking is one answer, whose order is not known here.
    give(study, new_rater(study, "late"), [{"ranking": {"r1": 1, "r2": 2, "r3": 3}}, *[None] * 5])
    report = build_report(study, replicates=20, only=[KEY])
    [found] = records(report).values()
    [tau] = found["measures"]
    assert (tau["measure"], [each["value"] for each in tau["thirds"]]) == (
        "tau",
        [1, 1, pytest.approx(-1 / 3)],
    )
    assert [each["n"] for each in tau["thirds"]] == [6, 6, 6]
    assert [part["n"] for part in found["left_out"]] == [1]
    assert "with the others' rankings" in report_markdown(report)


def test_decisions_on_drafts_by_the_others_who_decide_alike():
    study = calibration_study({f"q{at}": [[OLD, NEW]] for at in range(6)})
    items = items_of(study)
    for number in range(2):
        # Both keep both entries at first; in the end the second person rejects one of the two.
        sets = [(OLD, NEW) if at < 4 or number == 0 else (OLD,) for at in range(6)]
        rater = new_rater(study, f"person-{number}")
        give(
            study,
            rater,
            [calibrated(*(kept(each, f"r1.e{1 + (each is NEW)}") for each in of)) for of in sets],
        )
        in_turn(rater, items)
    found = [
        measure
        for each in records(build_report(study, replicates=20, only=[KEY])).values()
        for measure in each["measures"]
    ]
    [decided] = [each for each in found if each["measure"] == "alike"]
    assert [each["value"] for each in decided["thirds"]] == [1, 1, 0.5]


def test_without_moments_there_is_none():
    assert not records(build_report(judged_by_everyone("custom"), replicates=20, only=[KEY]))
