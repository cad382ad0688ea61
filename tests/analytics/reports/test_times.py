"""Times and skips of people in a report."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Exclusion, Judgment, Outcome, Rater
from tests.analytics.reports.judging import fail, judge, judged_study, main_items

pytestmark = pytest.mark.django_db


def test_active_and_visible_times_and_skips(owner):
    study = judged_study(owner=owner)
    slow, fast = judge(study, raters=2)
    judge(study, raters=1, kind="judge")
    Judgment.objects.filter(rater=slow).update(duration_ms=180_000, visible_ms=90_000)
    Judgment.objects.filter(rater=fast).update(duration_ms=60_000)
    fail(study, fast, Outcome.SKIPPED)
    report = build_report(study, replicates=20, only=["raters/times"])
    [found] = report["times"]
    assert (found["kind"], found["active"]["mean"]["value"]) == ("person", 120)
    assert found["active"]["quartiles"] == [60, 120, 180]
    assert found["active"]["rater_medians"] == [90, 120, 150]
    assert found["active"]["thirds"] == [120, 120, 120]
    assert (found["visible"]["mean"]["value"], found["visible"]["mean"]["left_out"][0]["n"]) == (90, 36)
    by_rater = {each["rater"]: each for each in found["raters"]}
    assert by_rater[slow.pseudonym] == {
        "rater": slow.pseudonym, "judgments": 36, "active": 180, "visible": 90, "skipped": 0
    }  # fmt: skip
    assert (by_rater[fast.pseudonym]["visible"], by_rater[fast.pseudonym]["skipped"]) == (None, 1)
    assert "Times: people" in report_markdown(report)


def test_the_slowest_items_come_first_and_those_that_were_skipped_stand_among_them(owner, monkeypatch):
    from analytics.reports.parts import times

    monkeypatch.setattr(times, "MOST_ITEMS", 2)
    study = judged_study(owner=owner)
    one, two = judge(study, raters=2)
    Judgment.objects.filter(study=study).update(duration_ms=60_000)
    first, *_, slow = main_items(study)
    Judgment.objects.filter(item=slow).update(duration_ms=200_000)
    fail(study, one, Outcome.SKIPPED)
    fail(study, two, Outcome.SKIPPED)
    report = build_report(study, replicates=20, only=["raters/times"])
    [found] = report["times"]
    assert found["items"][0] == {
        "item": slow.key, "judgments": 2, "active": 200, "visible": None, "skipped": 0
    }  # fmt: skip
    assert [each["skipped"] for each in found["items"] if each["item"] == first.key] == [2]
    assert not found["imported"]
    Rater.objects.filter(pk=one.pk).update(source=Rater.Source.IMPORTED)
    text = report_markdown(build_report(study, replicates=20, only=["raters/times"]))
    assert "Imported judgments have the times of their file" in text


def test_an_item_has_the_median_of_its_visible_times_where_they_are_recorded(owner):
    study = judged_study(owner=owner)
    one, two, _ = judge(study, raters=3)
    Judgment.objects.filter(study=study).update(duration_ms=60_000)
    first, second, *_ = main_items(study)
    Judgment.objects.filter(item=first).update(duration_ms=90_000)
    Judgment.objects.filter(item=first, rater=one).update(visible_ms=30_000)
    Judgment.objects.filter(item=first, rater=two).update(visible_ms=50_000)
    report = build_report(study, replicates=20, only=["raters/times"])
    [found] = report["times"]
    shown = {each["item"]: (each["active"], each["visible"]) for each in found["items"]}
    assert (shown[first.key], shown[second.key]) == ((90, 40), (60, None))
    assert f"| {first.key} | 3 | 90.0 | 40.0 | 0 |" in report_markdown(report)


def test_skips_are_shown_without_any_times(owner):
    study = judged_study(owner=owner)
    _one, two = judge(study, raters=2)
    skipper = Rater.objects.create(study=study, kind="person", label="Ada", pseudonym="skipper")
    for rater in (two, skipper):
        fail(study, rater, Outcome.SKIPPED)
    report = build_report(study, replicates=20, only=["raters/times"])
    [found] = report["times"]
    assert {each["rater"]: each["skipped"] for each in found["raters"]} == {"person-1": 1, "skipper": 1}
    assert {each["active"] for each in found["raters"]} == {None}
    first = main_items(study)[0].key
    assert [(each["item"], each["skipped"]) for each in found["items"]] == [(first, 2)]
    text = report_markdown(report)
    assert "Skips: people" in text
    assert "No judgment has a recorded time." in text
    assert f"| {first} | 2 |" in text
    assert "Times:" not in text


def test_who_only_skipped_stands_among_raters_with_times(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    Judgment.objects.filter(study=study).update(duration_ms=60_000)
    skipper = Rater.objects.create(study=study, kind="person", label="Ada", pseudonym="skipper")
    fail(study, skipper, Outcome.SKIPPED)
    [found] = build_report(study, replicates=20, only=["raters/times"])["times"]
    rows = {each["rater"]: (each["judgments"], each["active"], each["skipped"]) for each in found["raters"]}
    assert rows == {"person-0": (36, 60, 0), "person-1": (36, 60, 0), "skipper": (0, None, 1)}


def test_skips_of_an_excluded_rater_are_left_out(owner):
    study = judged_study(owner=owner)
    one, two = judge(study, raters=2)
    for rater in (one, two):
        fail(study, rater, Outcome.SKIPPED)
    Exclusion.objects.create(study=study, rater=two, reason="too fast")
    [found] = build_report(study, replicates=20, only=["raters/times"])["times"]
    assert [(each["rater"], each["skipped"]) for each in found["raters"]] == [("person-0", 1)]
    assert [each["skipped"] for each in found["items"]] == [1]


def test_nothing_is_shown_without_times_or_skips(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    report = build_report(study, replicates=20, only=["raters/times"])
    assert report["times"] == []
    text = report_markdown(report)
    assert "Times:" not in text
    assert "Skips:" not in text
