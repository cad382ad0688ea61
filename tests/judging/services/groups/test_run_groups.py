"""Several judges started together: all or none, estimated together, and one budget that holds for all of them."""

from decimal import Decimal

import pytest
from django.db import connection

from evaluation.models import Rater
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.verification import verify_study
from judging.models import Endpoint, Judge, Run, RunGroup
from judging.services.calls.budget import group_spent, reserve_budget, set_study_budget
from judging.services.calls.leases import claim_calls
from judging.services.estimates.run_estimate import estimate
from judging.services.groups.group_estimate import estimate_runs
from judging.services.groups.run_groups import groups_of, set_group_budget, start_runs
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import cancel_run, resume_run, stop_by_group
from judging.services.runs.work import work_on
from tests import factories
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.crowd import at_once
from tests.judging import endpoint
from tests.judging.build import create_calls, make_judge

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def judges(study, served):
    return [make_judge(study, served, model, name=model, **PRICES) for model in ("longer", "shorter")]


def states(group):
    return list(group.runs.order_by("pk").values_list("state", flat=True))


def work(group):
    for run in group.runs.order_by("pk"):
        work_on(run.pk)


def test_judges_are_started_together_with_the_same_limits(study, judges, owner):
    group = start_runs(
        study, judges, user=owner, budget=Decimal(7), max_items=2, in_flight=3, purpose="anchor"
    )
    runs = group.runs.order_by("pk")
    assert [run.judging.judge for run in runs] == judges
    assert {(run.budget, run.in_flight, run.created_by) for run in runs} == {(None, 3, owner)}
    assert {(run.judging.max_items, run.judging.purpose) for run in runs} == {(2, "anchor")}
    assert (group.budget, group.study, group.created_by) == (7, study, owner)


def test_all_are_started_or_none_and_every_reason_is_told(study, judges):
    Endpoint.objects.update(trust="", base_url="http://elsewhere.example/v1")
    chosen = [*Judge.objects.order_by("pk"), heuristic_judge(study, "random")]
    with pytest.raises(Refused) as refused:
        start_runs(study, chosen)
    assert {problem.split(":")[0] for problem in refused.value.problems} == {str(judge) for judge in judges}
    assert (RunGroup.objects.count(), Run.objects.count()) == (0, 0)
    assert not Rater.objects.filter(kind="judge").exists()
    told = estimate_runs(study, chosen)
    assert told.refused == refused.value.problems
    assert [each.estimate is None for each in told.judges] == [True, True, False]


@pytest.mark.parametrize(
    ("which", "options", "said"),
    [
        (slice(0, 1), {}, "at least two"),
        ([0, 0], {}, "each judge once"),
        (slice(0, 2), {"purpose": "revision"}, "main, trial or anchor"),
        (slice(0, 2), {"max_items": 0}, "number of items must be more than zero"),
    ],
)
def test_what_is_no_group(study, judges, which, options, said):
    chosen = judges[which] if isinstance(which, slice) else [judges[place] for place in which]
    with pytest.raises(Refused, match=said):
        start_runs(study, chosen, **options)
    for wrong in ("0", "-1", "NaN", "1e9"):
        with pytest.raises(FieldsRefused):
            start_runs(study, judges, budget=Decimal(wrong))
    assert not RunGroup.objects.exists()


def test_the_estimate_of_all_is_the_sum_of_each(study, judges):
    told = estimate_runs(study, [*judges, heuristic_judge(study, "random")], max_items=3)
    each = [estimate(study, judge, max_items=3) for judge in judges]
    assert told.calls == sum(one.calls for one in each) + 3
    assert told.prompt_tokens == sum(one.prompt_tokens for one in each) > 0
    assert told.completion_tokens == sum(one.completion_tokens for one in each)
    assert told.cost == sum(one.cost for one in each) > 0
    assert told.seconds == pytest.approx(sum(one.seconds for one in each))
    assert [one.untried for one in told.judges] == [True, True, False]
    assert told.refused == []


def test_the_budget_stops_all_and_a_larger_one_resumes_them(study, judges):
    group = start_runs(study, judges, budget=Decimal(8))
    work(group)
    assert states(group) == ["stopped", "stopped"]
    assert 0 < group_spent(group) <= 8
    for run in group.runs.all():
        assert run.reason.startswith(
            "The budget of these judges together of 8 would be exceeded: the next call"
        )
    assert set_group_budget(group, Decimal(7)) == []
    assert set_group_budget(group, Decimal(7)) == []
    resumed = set_group_budget(group, Decimal(9))
    assert [run.state for run in resumed] == ["pending", "pending"]
    assert {run.reason for run in resumed} == {""}
    work(group)
    assert states(group) == ["stopped", "stopped"]
    assert 0 < group_spent(group) <= 9
    assert len(set_group_budget(group, None)) == 2
    work(group)
    assert states(group) == ["complete", "complete"]
    assert list(verify_study(study)) == []
    [row] = groups_of(study)
    assert (row.runs_n, row.spent) == (2, group_spent(group))


def test_only_what_the_group_s_budget_stopped_is_resumed(study, judges, served):
    group = start_runs(study, judges, budget=Decimal(8))
    set_study_budget(study, Decimal("0.01"))
    first, second = group.runs.order_by("pk")
    work_on(first.pk)
    first.refresh_from_db()
    assert first.reason.startswith("The study's budget of 0.01")
    set_study_budget(study, None)
    work_on(second.pk)
    cancel_run(second)
    assert set_group_budget(group, Decimal(100)) == []
    assert states(group) == ["stopped", "cancelled"]
    resume_run(first)
    assert work_on(first.pk).state == "complete"


def test_a_run_is_not_stopped_for_want_of_money_that_came_meanwhile(study, judges):
    group = start_runs(study, judges, budget=Decimal(8))
    run = group.runs.first()
    set_group_budget(group, Decimal(80))
    stop_by_group(run.pk, "The budget would be exceeded.", Decimal(8))
    assert states(group) == ["pending", "pending"]
    stop_by_group(run.pk, "The budget would be exceeded.", Decimal(80))
    assert sorted(states(group)) == ["pending", "stopped"]


def test_runs_outside_the_group_do_not_count(study, judges):
    group = start_runs(study, judges, budget=Decimal(8))
    alone = start_run(study, judges[0], purpose="anchor")  # whose replies are nobody else's
    for run in (alone, group.runs.first()):
        create_calls(run)
    assert reserve_budget(alone.pk, [(call, Decimal(50)) for call in claim_calls(alone.pk, 1)]).allowed
    mine = group.runs.first()
    assert len(reserve_budget(mine.pk, [(call, Decimal(4)) for call in claim_calls(mine.pk, 3)]).allowed) == 2


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("postgres")
def test_runs_that_work_at_once_never_spend_more_than_their_group_s_budget(owner, served):
    study = factories.launch(factories.make_study("shared", owner=owner, queries=40))
    judges = [make_judge(study, served, name, name=name, **PRICES) for name in ("longer", "shorter", "coin")]
    group = start_runs(study, judges, budget=Decimal(20))
    alone = start_run(study, judges[0], purpose="anchor")  # whose replies are nobody else's
    served.latency = 0.01

    def work_at(run):
        work_on(run.pk)
        connection.close()

    at_once(*(lambda run=run: work_at(run) for run in [*group.runs.all(), alone]))
    assert states(group) == ["stopped"] * 3
    assert 10 < group_spent(group) <= 20
    alone.refresh_from_db()
    assert (alone.state, alone.spent > 0) == ("complete", True)
    # Raised while they work, it never stops what the new one has room for.
    for run in set_group_budget(group, Decimal(25)):
        assert run.state == "pending"

    def raise_it():
        set_group_budget(group, Decimal(1_000))
        connection.close()

    at_once(*(lambda run=run: work_at(run) for run in group.runs.all()), raise_it)
    for run in group.runs.all():
        work_on(run.pk)
    assert states(group) == ["complete"] * 3
    assert list(verify_study(study)) == []
