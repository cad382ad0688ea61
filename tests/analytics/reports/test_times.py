"""Times and skips of people in a report."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Judgment, Outcome, Rater
from tests.analytics.reports.judging import fail, judge, judged_study, main_items

pytestmark = pytest.mark.django_db


def test_active_and_visible_times_and_skips(owner):
    study = judged_study(owner=owner)
    slow, fast = judge(study, raters=2)
    judge(study, raters=1, kind="judge")
    Judgment.objects.filter(rater=slow).update(duration_ms=180_000, visible_ms=90_000)
    Judgment.objects.filter(rater=fast).update(duration_ms=60_000)
    fail(study, fast, Outcome.SKIPPED)
    report = build_report(study, replicates=20)
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
    report = build_report(study, replicates=20)
    [found] = report["times"]
    assert found["items"][0] == {"item": slow.key, "judgments": 2, "active": 200, "skipped": 0}
    assert [each["skipped"] for each in found["items"] if each["item"] == first.key] == [2]
    assert not found["imported"]
    Rater.objects.filter(pk=one.pk).update(source=Rater.Source.IMPORTED)
    text = report_markdown(build_report(study, replicates=20))
    assert "Imported judgments have the times of their file" in text


def test_nothing_is_shown_without_times(owner):
    study = judged_study(owner=owner)
    judge(study, raters=2)
    report = build_report(study, replicates=20)
    assert report["times"] == []
    assert "Times:" not in report_markdown(report)
