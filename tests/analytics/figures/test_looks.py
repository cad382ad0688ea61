"""A study with a stopping rule: its interval, the missing p-values, and how far it is."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Judgment
from tests import factories
from tests.analytics.reports.judging import judge, main_items

pytestmark = pytest.mark.django_db


def stopping_study(rule, queries=40):
    study = factories.make_study("stopping", queries=queries, training=False, checks=0)
    study.stopping, study.redundancy = rule, 3
    study.save()
    return factories.launch(study)


def always_first(rater, position):
    return "r1"


def records_of(report, figure):
    return [each for each in report["records"] if each["figure"] == figure and each["group"] == "person"]


def test_a_rule_that_is_met():
    study = stopping_study({"figure": "win_rate"})
    judge(study, raters=3, choose=always_first)
    report = build_report(study, replicates=0)
    (record,) = records_of(report, "planning/looks")
    assert record["rule"] == {"figure": "win_rate"}
    for pair in record["pairs"]:
        assert pair["complete"] == pair["queries"] == pair["estimate"]["n"]
        assert pair["estimate"]["low"] > 0.5
        assert pair["met_at"] is not None
    (rates,) = records_of(report, "preferences/win_rates")
    assert all(each["test"] is None for each in rates["overall"])
    assert not [each for each in report["findings"] if each["kind"] == "winner"]
    text = report_markdown(report)
    assert "## Stopping early" in text
    assert "the study may be closed" in text
    assert "holds at every look" in text


def test_a_query_that_is_not_complete_holds_up_those_behind_it():
    study = stopping_study({"figure": "agreement", "half_width": 0.2})
    raters = judge(study, raters=3)
    whole = records_of(build_report(study, replicates=0), "planning/looks")[0]["pairs"]
    item = main_items(study)[0]
    Judgment.objects.filter(item=item, rater=raters[0]).delete()
    part = records_of(build_report(study, replicates=0), "planning/looks")[0]["pairs"]
    here = [
        (one, other) for one, other in zip(whole, part, strict=True) if one["complete"] != other["complete"]
    ]
    assert len(here) == 1
    assert here[0][1]["estimate"]["n"] < here[0][0]["estimate"]["n"]


def test_without_a_rule_there_is_no_such_section():
    study = factories.launch(factories.make_study("usual", queries=12, training=False, checks=0))
    judge(study, raters=3)
    report = build_report(study, replicates=0)
    assert not records_of(report, "planning/looks")
    (rates,) = records_of(report, "preferences/win_rates")
    assert all(each["test"] is not None for each in rates["overall"])
