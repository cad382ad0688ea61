"""From rows to arrays: what is in a frame, what is not, and how replicates become one judgment."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.frames.rows import VOTES
from analytics.frames.study import study_frame
from analytics.statistics.core.tidy import MISSING, UNKNOWN_ORDER
from evaluation.database.columns import NO_MOMENT, ColumnType, read_columns
from evaluation.models import Item, Judgment, Outcome, Rater
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.exclusions import exclude
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests import factories
from tests.analytics.reports.judging import fail, judge, judged_study, main_items
from tests.answers import change_answers

pytestmark = pytest.mark.django_db


def record(study, rater, item, label, *, replicate=0, shown="", checks=None):
    answers = [AnswerValue("preference", Kind.PREFERENCE, label=label)]
    answers += [
        AnswerValue("satisfied", Kind.CHECKLIST, part, number=float(value))
        for part, value in (checks or {}).items()
    ]
    each = JudgmentInput(
        rater_id=rater.pk,
        item_id=item.pk,
        revision_id=study.revisions.get().pk,
        replicate=replicate,
        answers=answers,
        shown=shown,
    )
    return record_judgments(study=study, batch=[each])[0]


def a_judge(study, name="judge", **fields):
    return Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, pseudonym=name, **fields)


def test_items_are_as_their_stimuli_say():
    study = judged_study(queries=3)
    items = study_frame(study).pairs[0].items
    stimuli = {item.key: item.stimulus for item in main_items(study)}
    assert list(items.key) == [item.key for item in main_items(study)]
    for row, key in enumerate(items.key):
        first, second = stimuli[key]["responses"]
        assert items.systems[items.system_1[row]] == first["system"]
        assert items.systems[items.system_2[row]] == second["system"]
        assert (items.length_1[row], items.length_2[row]) == (len(first["text"]), len(second["text"]))
        assert items.queries[items.query[row]] == stimuli[key]["query"]["key"]
        assert items.arms[items.arm[row]] == stimuli[key]["arm"]
    assert items.arms == tuple(study.arms.values_list("key", flat=True))


def test_items_are_read_while_queries_are_logged():
    """As they are with DEBUG, where Django's cursors are others."""
    study = judged_study(queries=3)
    with CaptureQueriesContext(connection):
        logged = study_frame(study).pairs[0].items
    assert list(logged.key) == list(study_frame(study).pairs[0].items.key)


def test_systems_whose_keys_hold_the_separator_are_told_apart():
    study = judged_study(
        queries=2, systems=("a | b", "c", "d"), items_per_query=3, arms=factories.PAPER_ARMS[:1]
    )
    items = study_frame(study).pairs[0].items
    assert items.systems == ("a | b", "c", "d")
    assert set(items.pairs) == {("a | b", "c"), ("a | b", "d"), ("c", "d")}


def test_training_and_withdrawn_items_are_not_in_it():
    study = factories.launch(factories.make_study("mixed", queries=2, arms=factories.PAPER_ARMS[:1]))
    judge(study, raters=2)
    gone = main_items(study)[0]
    Item.objects.filter(pk=gone.pk).update(withdrawn_at=timezone.now())
    frame = study_frame(study).pairs[0]
    assert list(frame.items.key) == [main_items(study)[1].key]
    (people,) = frame.groups
    assert len(people.judgments) == 2
    assert set(people.judgments.item) == {0}


def test_failures_surplus_and_exclusions_do_not_count():
    study = judged_study(queries=2, arms=factories.PAPER_ARMS[:1])
    raters = judge(study, raters=4)
    fail(study, raters[0])
    Judgment.objects.filter(rater=raters[1], item=main_items(study)[0]).update(surplus=True)
    exclude(study=study, rater=raters[2], reason="Too fast.")
    exclude(
        study=study,
        judgment=Judgment.objects.get(rater=raters[3], item=main_items(study)[1]),
        reason="A slip.",
    )
    (people,) = study_frame(study).pairs[0].groups
    counted = {
        (people.judgments.raters[rater], int(item))
        for rater, item in zip(people.judgments.rater, people.judgments.item, strict=True)
    }
    assert counted == {("person-0", 0), ("person-0", 1), ("person-1", 1), ("person-3", 0)}


def test_replicates_become_one_judgment_and_stay_apart_as_readings():
    study = judged_study(queries=2, arms=factories.PAPER_ARMS[:1])
    rater, (first, second) = a_judge(study), main_items(study)
    for replicate, (label, shown) in enumerate((("r1", "r1,r2"), ("r1", "r2,r1"), ("r2", "r1,r2"))):
        record(study, rater, first, label, replicate=replicate, shown=shown)
    for replicate, label in enumerate(("r1", "r2")):
        record(study, rater, second, label, replicate=replicate, shown="r1,r2")
    (group,) = study_frame(study).pairs[0].groups
    assert len(group.readings.label) == 5
    by_item = dict(zip(group.judgments.item.tolist(), group.judgments.label.tolist(), strict=True))
    assert by_item == {0: VOTES["r1"], 1: VOTES["tie"]}
    orders = dict(zip(group.judgments.item.tolist(), group.judgments.first.tolist(), strict=True))
    assert orders == {0: UNKNOWN_ORDER, 1: 0}


def test_every_judge_goes_by_its_own_rule():
    study = judged_study(queries=1, arms=factories.PAPER_ARMS[:1])
    (item,) = main_items(study)
    for rule in ("majority", "mean", "both_ways"):
        rater = a_judge(study, rule, about={"reduction": rule})
        # Two samples in both orders: the first is steady, the second flips.
        for replicate, (label, number) in enumerate((("r1", 0.1), ("r1", 0.3), ("r1", 0.4), ("r2", 1.0))):
            judgment = record(
                study, rater, item, label, replicate=replicate, shown=("r1,r2", "r2,r1")[replicate % 2]
            )
            change_answers([judgment], number=number)
    groups = {group.key: group.judgments for group in study_frame(study).pairs[0].groups}
    found = {
        key: (int(each.label[0]), round(float(each.number[0]), 9))
        for key, each in groups.items()
        if len(each) == 1
    }
    assert found == {
        "majority": (VOTES["r1"], 0.45),
        "mean": (VOTES["r1"], 0.45),
        "both_ways": (VOTES["tie"], 0.35),
    }
    together = groups["judges"]
    by_rater = {
        together.raters[rater]: int(label)
        for rater, label in zip(together.rater, together.label, strict=True)
    }
    assert by_rater == {key: label for key, (label, _) in found.items()}


def test_one_order_of_a_judge_that_is_asked_both_ways_has_no_label():
    study = judged_study(queries=2, arms=factories.PAPER_ARMS[:1])
    rater, (first, second) = a_judge(study, about={"reduction": "both_ways"}), main_items(study)
    record(study, rater, first, "r1", replicate=1, shown="r2,r1")
    record(study, rater, second, "r2", shown="r1,r2")
    record(study, rater, second, "r2", replicate=1, shown="r2,r1")
    (group,) = study_frame(study).pairs[0].groups
    by_item = dict(zip(group.judgments.item.tolist(), group.judgments.label.tolist(), strict=True))
    assert by_item == {0: MISSING, 1: VOTES["r2"]}
    assert len(group.readings) == 3


def test_a_run_that_is_not_in_figures_is_no_group():
    study = judged_study(queries=2, arms=factories.PAPER_ARMS[:1])
    judge(study, raters=2)
    for name, in_figures in (("main", True), ("trial", False), ("anchor", False)):
        record(study, a_judge(study, name, in_figures=in_figures), main_items(study)[0], "r1")
    assert [group.key for group in study_frame(study).pairs[0].groups] == ["person", "main"]


def test_checklists_without_a_preference_stand_in_a_group_of_their_own():
    study = judged_study(queries=2)
    preferring, checking = a_judge(study, "preferring"), a_judge(study, "checking")
    (first, *_) = [item for item in main_items(study) if item.arm.context_at_judging]
    record(study, preferring, first, "r1")
    inputs = JudgmentInput(
        rater_id=checking.pk,
        item_id=first.pk,
        revision_id=study.revisions.get().pk,
        answers=[AnswerValue("satisfied", Kind.CHECKLIST, "f1.r2", number=1.0)],
    )
    record_judgments(study=study, batch=[inputs])
    groups = {group.key: group for group in study_frame(study).pairs[0].groups}
    assert list(groups) == ["preferring", "checking"]
    assert groups["checking"].judgments.label.tolist() == [MISSING]
    checks = groups["checking"].checks
    assert (checks.judgment.tolist(), checks.follow_up.tolist(), checks.response.tolist()) == ([0], [0], [1])
    assert groups["preferring"].checks is None


def test_a_number_comes_with_its_label():
    study = judged_study(queries=1, arms=factories.PAPER_ARMS[:1])
    judgment = record(study, a_judge(study), main_items(study)[0], "r2")
    change_answers([judgment], number=0.75)
    (group,) = study_frame(study).pairs[0].groups
    assert group.judgments.number.tolist() == [0.75]
    assert group.judgments.label.tolist() == [VOTES["r2"]]


def test_checklists_stand_under_their_judgment():
    study = judged_study(queries=2)
    rater = a_judge(study)
    with_context = [item for item in main_items(study) if item.arm.context_at_judging]
    for item in reversed(with_context):
        checks = {"f1.r1": 1, "f1.r2": 0, "f2.r1": 0, "f2.r2": item == with_context[0]}
        record(study, rater, item, "r1", checks=checks)
    frame = study_frame(study).pairs[0]
    (group,) = frame.groups
    checks = group.checks
    keys = frame.items.key[group.judgments.item[checks.judgment]]
    found = {
        (key, int(follow_up), int(response)): int(value)
        for key, follow_up, response, value in zip(
            keys, checks.follow_up, checks.response, checks.value, strict=True
        )
    }
    assert len(found) == 4 * len(with_context)
    assert found[(with_context[0].key, 1, 1)] == 1
    assert found[(with_context[1].key, 1, 1)] == 0
    assert all(found[(item.key, 0, 0)] == 1 for item in with_context)


def test_a_judgment_without_a_preference_is_not_a_group():
    study = judged_study(queries=1, arms=factories.PAPER_ARMS[:1])
    record_judgments(
        study=study,
        batch=[
            JudgmentInput(
                rater_id=a_judge(study).pk,
                item_id=main_items(study)[0].pk,
                revision_id=study.revisions.get().pk,
                outcome=Outcome.REFUSED,
            )
        ],
    )
    assert study_frame(study).pairs[0].groups == ()


def test_columns_keep_text_that_looks_like_something_else():
    study = judged_study(queries=3, arms=factories.PAPER_ARMS[:1])
    odd = ["007", 'a "quoted", comma\nand line', "NULL"]
    for item, label in zip(main_items(study), odd, strict=True):
        Item.objects.filter(pk=item.pk).update(key=label)
    found = read_columns(
        Item.objects.filter(study=study).order_by("pk"),
        {
            "key": ColumnType.TEXT,
            "systems_key": ColumnType.CODED,
            "withdrawn_at": ColumnType.CODED,
            "context_id": ColumnType.WHOLE,
        },
    )
    assert found.array("key").tolist() == odd
    assert found.coded("systems_key").values == ("aspen | birch",)
    assert found.coded("withdrawn_at").values == ("",)
    assert found.array("context_id").dtype == np.int64


def test_moments_are_whole_microseconds():
    """Whatever the database: one that is missing, one without a fraction, and two that differ in the last digit."""
    study = judged_study(queries=4, arms=factories.PAPER_ARMS[:1])
    late = datetime(2026, 3, 1, 12, 30, 15, 999_999, tzinfo=UTC)
    moments = [None, datetime(2026, 3, 1, 12, tzinfo=UTC), late, late - timedelta(microseconds=1)]
    rater = a_judge(study)
    for item, moment in zip(main_items(study), moments, strict=True):
        Judgment.objects.filter(pk=record(study, rater, item, "r1").pk).update(judged_at=moment)
    judgments = Judgment.objects.filter(rater=rater).order_by("pk")
    found = read_columns(judgments, {"judged_at": ColumnType.MOMENT}).array("judged_at")
    assert found.dtype == np.int64
    assert found.tolist() == [NO_MOMENT, 1_772_366_400_000_000, 1_772_368_215_999_999, 1_772_368_215_999_998]


def test_no_rows_are_no_columns_of_the_wrong_type(draft):
    types = {
        "withdrawn_at": ColumnType.MOMENT,
        "pk": ColumnType.WHOLE,
        "key": ColumnType.CODED,
        "start_order": ColumnType.NUMBER,
        "arm__key": ColumnType.TEXT,
    }
    found = read_columns(Item.objects.filter(pk=0), types)
    assert found.array("pk").dtype == found.array("withdrawn_at").dtype == np.int64
    assert len(found.coded("key").codes) == 0
