"""Requests that are no calls of a run keep to the study's budget, too, and are entered in the ledger."""

from datetime import timedelta
from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from judging.backends.base import Reply, Request, StopRun
from judging.models import BudgetHold, LedgerEntry, StudyBudget
from judging.services.calls.budget import reserve_budget, set_study_budget
from judging.services.calls.leases import claim_calls
from judging.services.calls.ledger import study_spent
from judging.services.endpoints.spend_tracker import SpendTracker
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.build import create_calls, judged, make_judge

pytestmark = pytest.mark.django_db
PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}
# 5 bytes and what stands around a message, and 4 tokens of a reply: 25 tokens at most.
REQUEST = Request(model="m", messages=[{"role": "user", "content": "Hello"}], parameters={"max_tokens": 4})


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def tracker(study, served):
    judge = make_judge(study, served)
    each = (Decimal(1_000_000), Decimal(1_000_000))
    return SpendTracker(judge.endpoint, "m", each, purpose="probe", study_id=study.pk)


hold = async_to_sync(SpendTracker.hold)
ask = async_to_sync(SpendTracker.ask)


class Says:
    """A backend whose replies took so many tokens."""

    def __init__(self, prompt, completion):
        self.reply = Reply(text="Hi", prompt_tokens=prompt, completion_tokens=completion)

    async def ask(self, request):
        return self.reply


def test_a_budget_without_room_for_a_probe_stops_the_run_before_anything_is_sent(study, served):
    set_study_budget(study, Decimal("0.001"))
    run, _ = judged(study, make_judge(study, served, probed=False, **PRICES))
    assert run.state == "stopped"
    assert run.reason.startswith("The study's budget of 0.001 would be exceeded: the next call may cost up")
    assert (served.total, LedgerEntry.objects.count(), BudgetHold.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize("by_batch", [False, True])
def test_a_probe_that_the_budget_ends_midway_is_paid_and_never_exceeds_it(study, served, by_batch):
    set_study_budget(study, Decimal("0.3"))
    judge = make_judge(study, served, probed=False, **PRICES)
    judge.endpoint.batch_price_factor = Decimal("0.5")
    judge.endpoint.save()
    run, _ = judged(study, judge, by_batch=by_batch)
    assert run.state == "stopped"
    probe = LedgerEntry.objects.get()
    assert (probe.purpose, probe.study, probe.run, probe.calls) == ("probe", study, None, served.total)
    # At the judge's own price, which batches alone have half of.
    assert probe.cost == pytest.approx((probe.prompt_tokens + probe.completion_tokens) / Decimal(1_000))
    assert 0 < study_spent(study.pk) <= Decimal("0.3")
    assert not BudgetHold.objects.exists()


def test_what_a_probe_holds_no_call_is_given(study, tracker):
    set_study_budget(study, Decimal(40))
    assert hold(tracker, REQUEST)
    assert BudgetHold.objects.get().amount == 25
    run = start_run(study, heuristic_judge(study, "longer"))
    create_calls(run)
    first = reserve_budget(run.pk, [(call, Decimal(16)) for call in claim_calls(run.pk, 1)])
    assert (first.allowed, first.spent_up) == ([], False), "the probe may turn out cheaper"
    ask(tracker, Says(9, 1), REQUEST)
    # The next request is held beside what is spent already.
    assert hold(tracker, REQUEST)
    assert BudgetHold.objects.get().amount == 10 + 25
    tracker.enter()
    assert (BudgetHold.objects.count(), study_spent(study.pk)) == (0, 10)
    second = reserve_budget(run.pk, [(call, Decimal(16)) for call in claim_calls(run.pk, 1)])
    assert len(second.allowed) == 1


def test_what_others_hold_is_waited_for_only_where_the_wait_can_be_given_up(study, tracker):
    StudyBudget.objects.create(study=study, amount=40)
    other = BudgetHold.objects.create(study=study, amount=20, until=timezone.now() + timedelta(minutes=1))
    with pytest.raises(
        StopRun, match="study's budget of 40 would be exceeded: the next call may cost up to 25"
    ):
        hold(tracker, REQUEST)
    asked = []

    def give_up():
        asked.append(1)
        return len(asked) == 2

    assert not hold(tracker, REQUEST, give_up)
    BudgetHold.objects.filter(pk=other.pk).update(until=timezone.now() - timedelta(seconds=1))
    assert hold(tracker, REQUEST), "its worker was killed"


def test_without_a_study_nothing_is_held_and_what_is_taken_is_entered(study, served):
    judge = make_judge(study, served)
    tracker = SpendTracker(judge.endpoint, "m", (Decimal(1_000_000), Decimal(0)), purpose="connection test")
    assert hold(tracker, REQUEST)
    assert not BudgetHold.objects.exists()
    ask(tracker, Says(3, 0), REQUEST)
    tracker.enter()
    entry = LedgerEntry.objects.get()
    assert (entry.study, entry.calls, entry.cost) == (None, 1, 3)


def test_a_run_goes_on_once_the_budget_has_room(study, served):
    set_study_budget(study, Decimal("0.001"))
    run, _ = judged(study, make_judge(study, served, probed=False, **PRICES), max_items=1)
    set_study_budget(study, Decimal(100))
    type(run).objects.update(state="pending")
    assert work_on(run.pk).state == "complete"
    assert set(LedgerEntry.objects.values_list("purpose", flat=True)) == {"probe", "judging"}
