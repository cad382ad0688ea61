"""A reply that was paid for is not paid for again; except by an anchor, whose replies nobody takes either."""

import pytest

from evaluation.models import Judgment
from judging.models import Call
from judging.services.judges import copy_judge, edit_judge
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

PRICES = {"price_prompt": 10, "price_completion": 20}
ONE_ARM = factories.PAPER_ARMS[:1]


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def make_once(owner):
    return factories.launched("cached", owner=owner, arms=ONE_ARM, queries=8)


def labels(run):
    rows = Judgment.objects.filter(rater=run.judging.rater).order_by("item", "replicate")
    return list(rows.values_list("item", "replicate", "answers__label", "shown"))


def test_a_second_run_costs_nothing_and_says_the_same(study, served):
    judge = make_judge(study, served, "coin", orders="both", **PRICES)
    first, _ = judged(study, judge)
    assert served.total == 16
    second, _ = judged(study, judge)
    assert served.total == 16
    assert (first.spent > 0, second.spent) == (True, 0)
    assert set(second.calls.values_list("cached", "cost", "prompt_tokens")) == {(True, 0, 0)}
    assert labels(second) == labels(first)


def test_another_version_that_asks_the_same_takes_them_too(study, served):
    judge = make_judge(study, served, "coin", **PRICES)
    judged(study, judge)
    run, _ = judged(study, edit_judge(judge, own_family="other"))
    assert (served.total, run.spent) == (8, 0)


@pytest.mark.parametrize("change", [{"temperature": 0.7}, {"max_tokens": 99}, {"rationale": "before"}])
def test_another_way_of_asking_is_asked(study, served, change):
    judge = make_judge(study, served, "coin")
    judged(study, judge)
    judged(study, edit_judge(judge, **change))
    assert served.total == 16


def test_anchor_runs_neither_take_nor_give(study, served):
    judge = make_judge(study, served, "coin")
    judged(study, judge, purpose="anchor")
    judged(study, judge)
    judged(study, judge, purpose="anchor")
    assert served.total == 24
    assert not Call.objects.filter(cached=True).exists()


def test_samples_are_asked_one_by_one(study, served):
    judge = make_judge(study, served, "coin", orders="fixed", samples=3)
    judged(study, judge)
    assert served.total == 24
    assert len(set(Call.objects.values_list("cache_key", flat=True))) == 24


def test_only_ok_is_kept(study, served):
    judge = make_judge(study, served, "coin")
    served.behaviours = "refusal"
    first, _ = judged(study, judge)
    assert set(first.calls.values_list("outcome", flat=True)) == {"refused"}
    served.behaviours = ""
    second, _ = judged(study, judge)
    assert served.total == 16
    assert set(second.calls.values_list("outcome", "cached")) == {("ok", False)}


def test_a_copy_in_another_study_takes_what_the_same_items_brought(study, served, owner):
    judge = make_judge(study, served, "coin", orders="fixed", **PRICES)
    judged(study, judge)
    other = factories.launch(factories.make_study("again", owner=owner, arms=ONE_ARM, queries=8))
    run, _ = judged(other, copy_judge(judge, other))
    assert (served.total, run.spent) == (8, 0)
