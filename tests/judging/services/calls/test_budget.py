"""A budget holds, whatever the number of calls in flight; and money that is spent up stops a run, not the others."""

from decimal import Decimal

import pytest

from evaluation.refusals import Refused
from judging.backends.base import Request
from judging.models import Call
from judging.services.calls.budget import reserve_budget
from judging.services.calls.costs import cost_bound, cost_of
from judging.services.calls.leases import claim_calls
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import resume_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import create_calls, judged, make_judge

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


def make_once(owner):
    return factories.launched(owner=owner)


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def test_costs_are_rounded_up(db):
    assert cost_of(1_000_000, 500_000, Decimal(2), Decimal(4)) == 4
    assert cost_of(1, 0, Decimal("0.001"), Decimal(0)) == Decimal("0.00000001")


def test_no_text_has_more_tokens_than_bytes():
    request = Request(
        model="m", messages=[{"role": "user", "content": "é" * 10}], parameters={"max_tokens": 7}
    )
    assert cost_bound(request, Decimal(1_000_000), Decimal(1_000_000)) == 20 + 16 + 7


@pytest.mark.parametrize("in_flight", [1, 4, 16])
def test_a_run_stops_before_its_budget_is_exceeded(study, served, in_flight):
    judge = make_judge(study, served, in_flight=in_flight, orders="both", **PRICES)
    served.latency = 0.02
    run, worked = judged(study, judge, budget=Decimal(8))
    assert run.state == "stopped"
    assert worked.resume_in is None
    assert run.reason.startswith("The budget of 8 would be exceeded")
    assert 0 < run.spent <= 8
    assert run.spent == sum(run.calls.values_list("cost", flat=True))
    assert not run.calls.exclude(reserved=0).exists()
    assert 0 < run.calls.filter(state="final").count() < 24


def test_a_larger_budget_brings_it_to_its_end(study, served):
    judge = make_judge(study, served, **PRICES)
    run, _ = judged(study, judge, budget=Decimal(5))
    spent = run.spent
    resume_run(run, budget=Decimal(1_000))
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "complete"
    assert run.spent > spent
    with pytest.raises(Refused):
        resume_run(run, budget=Decimal(-1))


def test_a_budget_that_covers_no_call_asks_nothing(study, served):
    run, _ = judged(study, make_judge(study, served, **PRICES), budget=Decimal("0.01"))
    assert (run.state, run.spent, served.total) == ("stopped", 0, 0)


def test_a_budget_without_prices_stops_nothing(study, served):
    run, _ = judged(study, make_judge(study, served), budget=Decimal("0.01"))
    assert run.state == "complete"


def test_replies_that_can_t_be_read_are_paid_for(study, served, settings):
    settings.ASSAY_RUN_UNREAD = 3
    settings.ASSAY_RUN_UNREAD_FIRST = 0
    run, _ = judged(study, make_judge(study, served, "coin:babble", **PRICES))
    assert set(run.calls.values_list("outcome", "attempts")) == {("unparsed", 3)}
    tokens = run_progress(run).tokens
    assert run.spent == cost_of(tokens, 0, Decimal(1_000), Decimal(1_000))
    assert served.total == 36


def test_money_set_aside_elsewhere_is_not_given_twice(study, served):
    run = start_run(study, make_judge(study, served, **PRICES), budget=Decimal(10))
    create_calls(run)
    here, there = claim_calls(run.pk, 3), claim_calls(run.pk, 3)
    first = reserve_budget(run.pk, [(call, Decimal(3)) for call in here])
    assert (len(first.allowed), first.spent_up) == (3, False)
    second = reserve_budget(run.pk, [(call, Decimal(3)) for call in there])
    assert (second.allowed, second.spent_up) == ([], False), "what is in flight may turn out cheaper"
    assert Call.objects.filter(run=run, state="leased").count() == 3
    Call.objects.filter(run=run).update(reserved=0)
    type(run).objects.update(spent=9)
    third = reserve_budget(run.pk, [(call, Decimal(3)) for call in claim_calls(run.pk, 3)])
    assert (third.allowed, third.spent_up) == ([], True)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("quota", "quota is used up"),
        ("401", "refused the key"),
        ("403", "refused access"),
        ("404", "no such model"),
        ("redirect=http|//127.0.0.1/", "redirect"),
    ],
)
def test_what_no_call_survives_stops_the_run_and_no_other(study, served, behaviour, said):
    run, _ = judged(study, make_judge(study, served, f"coin:{behaviour}"))
    assert run.state == "stopped"
    assert said in run.reason
    assert not run.calls.exclude(state="open").exists(), "every call can be asked when it is mended"
    assert run.judging.rater.judgments.count() == 0
    other, _ = judged(study, heuristic_judge(study, "longer"))
    assert other.state == "complete"
