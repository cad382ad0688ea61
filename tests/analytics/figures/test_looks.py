"""A study with a stopping rule: its interval, the missing p-values, and how far it is."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Judgment, System
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.studies.items import withdraw_item
from tests import factories
from tests.analytics.reports.judging import judge, main_items
from tests.answers import add_answers

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
    assert {pair["estimate"]["level"] for pair in record["pairs"]} == {1 - 0.05 / len(record["pairs"])}
    for pair in record["pairs"]:
        assert pair["complete"] == pair["queries"] == pair["estimate"]["n"]
        assert pair["estimate"]["low"] > 0.5
        assert pair["met_at"] is not None
    (rates,) = records_of(report, "preferences/win_rates")
    assert all(each["test"]["p_corrected"] is None for each in rates["overall"])
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


def test_items_withdrawn_since_launch_are_told():
    study = stopping_study({"figure": "win_rate"}, queries=20)
    judge(study, raters=3, choose=always_first)
    assert "withdrawn after launch" not in report_markdown(build_report(study, replicates=0))
    for item in main_items(study)[:2]:
        withdraw_item(item)
    study.refresh_from_db()
    report = build_report(study, replicates=0)
    assert records_of(report, "planning/looks")[0]["withdrawn"] == 2
    assert "2 items were withdrawn after launch" in report_markdown(report)


def limits_in(found):
    """The lower limits and p-values of everything in a record."""
    if isinstance(found, list):
        return [limit for each in found for limit in limits_in(each)]
    if not isinstance(found, dict):
        return []
    here = [found[name] for name in ("low", "p_value") if found.get(name) is not None]
    parts = [each for name, each in found.items() if name not in ("judge", *OTHERS)]
    return here + [limit for each in parts for limit in limits_in(each)]


REPEATING = {
    "win_rate": (
        "preferences/win_rates", "preferences/flips", "preferences/bradley_terry", "leaderboards/standings",
        "leaderboards/length_controlled", "replacement/differences", "replacement/self_preference",
        "replacement/source_bias", "raters/groups_of_people",
    ),
    "agreement": (
        "agreement/percentage", "agreement/two_ways", "agreement/two_votes", "conditions/follow_ups",
        "judges/labels_vs_people", "raters/groups_of_people", "replacement/people_worth",
    ),
}  # fmt: skip
# Of a judge's record, what has people's figure in it.
BESIDE_PEOPLE = {
    "replacement/differences": (), "replacement/self_preference": (), "replacement/source_bias": (),
    "judges/labels_vs_people": ("inner", "judge_less_people"), "replacement/people_worth": (),
}  # fmt: skip
# Shares of follow-ups that are satisfied are another figure.
OTHERS = ("by_system",)


def check_follow_ups(study):
    """People's checklists: the first response satisfies the follow-ups of every other item, the second none."""
    for judgment in study.judgments.all():
        checked = {"r1": float(judgment.item_id % 2), "r2": 0.0}
        add_answers(
            judgment,
            *(
                AnswerValue("satisfied", Kind.CHECKLIST, f"f{n}.{response}", number=number)
                for n in (1, 2)
                for response, number in checked.items()
            ),
        )


@pytest.mark.parametrize("figure", REPEATING)
def test_the_figure_has_no_other_interval_anywhere(figure, owner):
    study = factories.make_study(
        "three",
        owner=owner,
        queries=20,
        training=False,
        checks=0,
        systems=("aspen", "birch", "cedar"),
        items_per_query=3,
    )
    study.stopping, study.redundancy = {"figure": figure, "half_width": 0.1}, 4
    study.save()
    factories.launch(study)
    study.systems.filter(key="aspen").update(kind=System.Kind.PERSON)
    people = judge(study, raters=4)
    for number, rater in enumerate(people):
        rater.group = "expert" if number < 2 else "crowd"
        rater.save()
    check_follow_ups(study)
    (robot,) = judge(study, raters=1, kind="judge")
    robot.about = {"own_system": "birch"}
    robot.save()
    report = build_report(study, replicates=20)
    groups = {"person", "person-expert", "person-crowd"}
    found = {}
    for record in report["records"]:
        if record["figure"] not in REPEATING[figure]:
            continue
        parts = BESIDE_PEOPLE.get(record["figure"])
        if parts is None and record["group"] in groups:
            found.setdefault(record["figure"], []).extend(limits_in(record))
        elif parts is not None:
            repeated = {name: record[name] for name in parts} if parts else record
            found.setdefault(record["figure"], []).extend(limits_in(repeated))
    assert found.keys() == set(REPEATING[figure])
    assert {key: limits for key, limits in found.items() if limits} == {}
    text = report_markdown(report)
    assert "that of the registered figure stands under Stopping early" in text
    assert "Krippendorff's alpha and win rates by majority have no interval" in text


def test_a_study_closed_without_meeting_its_rule_says_so():
    study = stopping_study({"figure": "win_rate"}, queries=20)
    judge(study, raters=3)
    study.status = "closed"
    study.save()
    text = report_markdown(build_report(study, replicates=0))
    assert "The study was closed without meeting it" in text


def test_without_a_rule_there_is_no_such_section():
    study = factories.launch(factories.make_study("usual", queries=12, training=False, checks=0))
    judge(study, raters=3)
    report = build_report(study, replicates=0)
    assert not records_of(report, "planning/looks")
    (rates,) = records_of(report, "preferences/win_rates")
    assert all(each["test"] is not None for each in rates["overall"])
