"""Everything that a model was asked stands in the ledger; prices are a model's or a judge's; a study has one budget."""

import threading
from decimal import Decimal

import pytest
from django.db import connection

from evaluation.refusals import FieldsRefused
from evaluation.services.studies.verification import verify_study
from evaluation.tasks import work_on_job
from judging.models import Endpoint, LedgerEntry, Run
from judging.services.calls.budget import reserve_budget, set_study_budget
from judging.services.calls.leases import claim_calls, release_calls
from judging.services.calls.ledger import spending_of, study_spent
from judging.services.endpoints.connection_test import begin_test
from judging.services.endpoints.prices import prices_of, set_price
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import resume_run
from judging.services.runs.work import work_on
from tests import factories
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.crowd import at_once
from tests.judging import endpoint
from tests.judging.build import create_calls, judged, make_judge

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def test_a_run_s_entries_come_to_what_it_spent(study, served):
    served.behaviours = "500@0.2"
    run, _ = judged(study, make_judge(study, served, **PRICES))
    entries = run.ledger.all()
    assert run.spent > 0
    assert sum(each.cost for each in entries) == run.spent
    assert sum(each.calls for each in entries) == served.total
    assert {(each.model, each.purpose, each.study) for each in entries} == {("longer", "judging", study)}
    assert list(verify_study(study)) == []
    [row] = spending_of(study)
    assert (row.model, row.purpose, row.cost) == ("longer", "judging", run.spent)


def test_verify_says_where_an_entry_is_missing(study, served):
    run, _ = judged(study, make_judge(study, served, **PRICES))
    run.ledger.all().delete()
    [said] = verify_study(study)
    assert said == f"Run {run.pk}: {run.spent:f} spent, but its entries in the ledger come to 0."


def test_what_the_cache_answers_and_heuristics_is_in_no_entry(study, served):
    judge = make_judge(study, served, **PRICES)
    judged(study, judge)
    before = LedgerEntry.objects.count()
    again, _ = judged(study, judge)
    judged(study, heuristic_judge(study, "longer"))
    assert (again.spent, LedgerEntry.objects.count()) == (0, before)


def test_probes_and_connection_tests_are_entered_at_the_model_s_price(study, served):
    judge = make_judge(study, served, probed=False)
    set_price(judge.endpoint, "longer", Decimal(1_000), Decimal(0))
    judged(study, judge, max_items=1)
    probe = LedgerEntry.objects.get(purpose="probe")
    assert (probe.study, probe.run, probe.cost) == (study, None, Decimal(probe.prompt_tokens) / 1_000)
    assert probe.calls > 1
    job = begin_test(judge.endpoint, "longer", by=None)
    before = served.total
    work_on_job(job.pk)
    tested = LedgerEntry.objects.get(purpose="connection test")
    assert (tested.study, tested.model) == (None, "longer")
    assert 1 < tested.calls <= served.total - before
    assert tested.cost > 0


def test_a_judge_without_prices_has_its_model_s_and_a_run_keeps_those_it_began_with(study, served):
    judge = make_judge(study, served, price_completion=Decimal(3))
    assert prices_of(judge) == (0, 3)
    set_price(judge.endpoint, "longer", Decimal(7), Decimal(9))
    assert prices_of(judge) == (7, 3), "its own where it has one"
    assert estimate(study, judge).cost > 0
    run = start_run(study, judge)
    set_price(judge.endpoint, "longer", Decimal(8), Decimal(9))
    run.refresh_from_db()
    assert (run.price_prompt, run.price_completion) == (7, 3)
    assert start_run(study, judge).price_prompt == 8
    for model, price in (("", Decimal(1)), ("m", Decimal(-1)), ("m", Decimal("NaN"))):
        with pytest.raises(FieldsRefused):
            set_price(judge.endpoint, model, price, Decimal(1))


def test_a_study_s_budget_holds_for_all_its_runs(study, served):
    set_study_budget(study, Decimal(8))
    first, _ = judged(study, make_judge(study, served, **PRICES), max_items=3)
    assert first.state == "complete"
    second, _ = judged(
        study, make_judge(study, served, "shorter", name="other", **PRICES), budget=Decimal(900)
    )
    assert second.state == "stopped"
    assert second.reason.startswith("The study's budget of 8 would be exceeded: the next call may cost up to")
    assert 0 < first.spent < first.spent + second.spent == study_spent(study.pk) <= 8
    set_study_budget(study, None)
    resume_run(second)
    assert work_on(second.pk).state == "complete"


def test_a_budget_given_meanwhile_is_obeyed(study, served):
    run = start_run(study, make_judge(study, served, in_flight=1, **PRICES))

    def give(tick):
        set_study_budget(study, Decimal("0.01"))

    give(None)
    assert work_on(run.pk, on_tick=give).state == "stopped"


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "1e9"])
def test_a_budget_is_an_amount_of_money(study, amount):
    with pytest.raises(FieldsRefused):
        set_study_budget(study, Decimal(amount))


def test_what_a_killed_worker_of_another_run_held_is_free_when_its_lease_ends(study, served):
    set_study_budget(study, Decimal(4))
    judge = make_judge(study, served, **PRICES)
    lost, run = start_run(study, judge), start_run(study, judge)
    for each in (lost, run):
        create_calls(each)
    held = reserve_budget(lost.pk, [(call, Decimal(3)) for call in claim_calls(lost.pk, 1)])
    [call] = claim_calls(run.pk, 1)
    refused = reserve_budget(run.pk, [(call, Decimal(3))])
    assert (len(held.allowed), refused.allowed, refused.spent_up) == (1, [], False)
    Run.objects.filter(pk=lost.pk).update(state="cancelled")
    lost.calls.filter(state="leased").update(leased_until="2020-01-01T00:00Z")
    assert reserve_budget(run.pk, [(call, Decimal(3)) for call in claim_calls(run.pk, 1)]).allowed


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("postgres")
def test_two_runs_at_once_never_hold_more_than_the_study_s_budget(owner):
    study = factories.launch(factories.make_study("shared", owner=owner, queries=40))
    set_study_budget(study, Decimal(10))
    runs = [start_run(study, heuristic_judge(study, name)) for name in ("longer", "shorter")]
    for run in runs:
        create_calls(run)
    barrier, held, most = threading.Barrier(2), {run.pk: 0 for run in runs}, []

    def reserve(run):
        for _ in range(25):
            barrier.wait(20)
            calls = claim_calls(run.pk, 4)
            held[run.pk] = len(reserve_budget(run.pk, [(call, Decimal(2)) for call in calls]).allowed)
            barrier.wait(20)
            most.append(sum(held.values()) * 2)
            barrier.wait(20)
            release_calls(run.pk, {call.lease for call in calls if call.lease})
        connection.close()

    at_once(*(lambda run=run: reserve(run) for run in runs))
    assert max(most) == 10, "it is used up, and no more"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("postgres")
def test_two_runs_that_work_at_once_never_spend_more_than_the_study_s_budget(owner, served):
    study = factories.launch(factories.make_study("shared", owner=owner, queries=40))
    judges = [make_judge(study, served, name, name=name, **PRICES) for name in ("longer", "shorter")]
    set_study_budget(study, Decimal(20))
    runs = [start_run(study, judge) for judge in judges]
    served.latency = 0.01

    def work(run):
        work_on(run.pk)
        connection.close()

    at_once(*(lambda run=run: work(run) for run in runs))
    assert set(Run.objects.values_list("state", flat=True)) == {"stopped"}
    assert 10 < study_spent(study.pk) <= 20
    assert study_spent(study.pk) == sum(Run.objects.values_list("spent", flat=True))
    assert list(verify_study(study)) == []
    assert Endpoint.objects.count() == 1
