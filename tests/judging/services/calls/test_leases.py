"""Claiming calls: nobody gets another's, a lease that ran out is another's, and its late owner writes nothing."""

import random
import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import Count
from django.utils import timezone

from evaluation.models import Judgment
from evaluation.services.studies.verification import verify_study
from judging.models import Call, CallState
from judging.services.calls.attempt_writer import AttemptWriter
from judging.services.calls.call_attempts import CallAttempt, failed_attempt
from judging.services.calls.leases import claim_calls, next_due, release_calls, renew_leases
from judging.services.calls.workload import workload_of
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.judge_workload import JudgedItem
from judging.services.runs.lifecycle import pause_run
from judging.services.runs.work import work_on
from judging.services.runs.workers import expect_workers, sign_off, sign_on, unattended_runs
from tests import factories
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.crowd import at_once
from tests.judging.build import create_calls


@pytest.fixture
def run(study):
    run = start_run(study, heuristic_judge(study, "longer"))
    create_calls(run)
    run.refresh_from_db()
    return run


def writer(run):
    return AttemptWriter(run, workload_of(run))


def lapse(calls):
    Call.objects.filter(pk__in=[call.pk for call in calls]).update(
        leased_until=timezone.now() - timedelta(seconds=1)
    )


def judged_item(call):
    return JudgedItem(call.item.stimulus, call.item.key)


def as_failed(calls):
    return [failed_attempt(call, judged_item(call), "told to") for call in calls]


def test_a_claim_takes_what_is_free_and_nothing_twice(run):
    first, second = claim_calls(run.pk, 5), claim_calls(run.pk, 100)
    assert (len(first), len(second)) == (5, 7)
    assert not {call.pk for call in first} & {call.pk for call in second}
    assert len({call.lease for call in first}) == 1
    assert {call.lease for call in first} != {call.lease for call in second}
    assert claim_calls(run.pk, 1) == []


def test_nothing_is_claimed_of_a_run_that_stands_still(run):
    pause_run(run)
    assert claim_calls(run.pk, 5) == []


def test_a_call_that_backs_off_is_not_claimed_before_its_time(run):
    soon = timezone.now() + timedelta(hours=1)
    waiting = run.calls.first()
    Call.objects.filter(pk=waiting.pk).update(not_before=soon)
    assert waiting.pk not in {call.pk for call in claim_calls(run.pk, 100)}
    Call.objects.exclude(pk=waiting.pk).update(
        state=CallState.FINAL, outcome="failed", lease=None, leased_until=None
    )
    assert next_due(run.pk) == soon
    Call.objects.filter(pk=waiting.pk).update(not_before=timezone.now() - timedelta(seconds=1))
    assert [call.pk for call in claim_calls(run.pk, 100)] == [waiting.pk]


def test_a_worker_that_lost_its_lease_writes_nothing(run):
    lost = claim_calls(run.pk, 3)
    lapse(lost)
    taken = claim_calls(run.pk, 3)
    assert [call.pk for call in taken] == [call.pk for call in lost]
    writer(run).write(as_failed(lost))
    assert not Judgment.objects.filter(rater=run.judging.rater).exists()
    writer(run).write(as_failed(taken))
    writer(run).write(as_failed(taken))
    assert Judgment.objects.filter(rater=run.judging.rater, outcome="failed").count() == 3
    assert list(verify_study(run.study)) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_clock_that_jumps_by_an_hour_has_every_item_judged_once(run, monkeypatch, seed):
    rng, right = random.Random(seed), timezone.now
    ahead = timedelta()
    monkeypatch.setattr(timezone, "now", lambda: right() + ahead)
    at_work = []
    for _ in range(12):
        ahead = timedelta(hours=rng.choice([-1, 0, 1]))
        at_work.append(claim_calls(run.pk, 3))
        if rng.random() < 0.5:
            writer(run).write(as_failed(at_work.pop(rng.randrange(len(at_work)))))
    ahead = timedelta()
    for calls in at_work:
        writer(run).write(as_failed(calls))
    # What was claimed while the clock was ahead can be had two hours later.
    ahead = timedelta(hours=2)
    assert work_on(run.pk).state == "complete"
    judged = Judgment.objects.filter(rater=run.judging.rater)
    assert (judged.count(), judged.values("item").distinct().count()) == (12, 12)
    assert list(verify_study(run.study)) == []


def test_a_renewed_lease_does_not_run_out(run, settings):
    calls = claim_calls(run.pk, 3)
    lapse(calls)
    renew_leases(run.pk, {calls[0].lease})
    assert not {call.pk for call in calls} & {call.pk for call in claim_calls(run.pk, 100)}


def test_what_is_given_back_can_be_claimed_at_once(run):
    calls = claim_calls(run.pk, 12)
    lease = calls[0].lease
    writer(run).write(as_failed(calls[:2]))
    assert release_calls(run.pk, {lease}) == 10
    assert release_calls(run.pk, {uuid.uuid4()}) == 0
    assert len(claim_calls(run.pk, 100)) == 10


def test_an_attempt_without_an_outcome_opens_the_call_again(run):
    [call] = claim_calls(run.pk, 1)
    writer(run).write([CallAttempt(call=call, subject=judged_item(call), error="busy")])
    call.refresh_from_db()
    assert (call.state, call.attempts, call.error, call.lease) == ("open", 1, "busy", None)
    assert not Judgment.objects.filter(rater=run.judging.rater).exists()


def test_the_same_batch_dealt_twice_makes_the_same_calls(run):
    type(run).objects.update(last_subject=0)
    create_calls(run)
    assert run.calls.count() == 12


# --- who is at work ---------------------------------------------------------------------------------------------------


def test_one_worker_at_a_time_unless_wanted_beside(run):
    assert sign_on(run.pk, "a") is not None
    assert sign_on(run.pk, "a") is not None, "its message was delivered again"
    assert sign_on(run.pk, "b") is None
    assert sign_on(run.pk, "b", over_limit=True) is not None
    sign_off(run.pk, "a")
    sign_off(run.pk, "b")
    assert sign_on(run.pk, "c") is not None


def test_several_workers_where_the_installation_allows_them(run, settings):
    settings.ASSAY_RUN_WORKERS = 3
    tokens = expect_workers(run.pk)
    assert len(tokens) == 3
    assert expect_workers(run.pk) == [], "they are on their way"
    assert unattended_runs() == []
    assert all(sign_on(run.pk, token) is not None for token in tokens)


def test_a_run_whose_worker_shows_no_sign_of_life_is_neglected(run, settings):
    assert unattended_runs() == [run.pk]
    settings.ASSAY_RUN_LEASE_SECONDS = -1
    sign_on(run.pk, "killed")
    assert unattended_runs() == [run.pk]
    settings.ASSAY_RUN_LEASE_SECONDS = 60
    sign_on(run.pk, "alive")
    assert unattended_runs() == []
    pause_run(run)
    assert unattended_runs() == []


# --- at once ----------------------------------------------------------------------------------------------------------


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("postgres")
def test_twelve_workers_share_a_run_without_doing_anything_twice(owner, settings):
    settings.ASSAY_BATCH_SIZE = 7
    study = factories.launch(factories.make_study("shared", owner=owner, queries=40))
    run = start_run(study, heuristic_judge(study, "random"))

    def work():
        own = writer(run)
        while create_calls(run) or Call.objects.filter(run=run, state=CallState.OPEN).exists():
            calls = claim_calls(run.pk, 5)
            leases = {call.lease for call in calls}
            own.write(as_failed(calls[:3]))
            release_calls(run.pk, leases)
        connection.close()

    at_once(*([work] * 12))
    assert run.calls.count() == 120
    assert set(run.calls.values_list("state", flat=True)) == {"final"}
    counts = (
        Judgment.objects.filter(rater=run.judging.rater).order_by().values("item").annotate(n=Count("pk"))
    )
    assert (len(counts), {row["n"] for row in counts}) == (120, {1})
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "complete"
    assert list(verify_study(study)) == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("postgres")
def test_two_that_finish_the_last_two_steps_at_once_record_one_judgment(owner):
    study = factories.launch(factories.make_study("steps", owner=owner, queries=20))
    run = start_run(study, heuristic_judge(study, "longer"))
    items = list(study.items.filter(role="main"))
    for step in ("satisfied", "preference"):
        Call.objects.bulk_create([Call(run=run, item=item, step=step, order="r1,r2") for item in items])
    type(run).objects.update(last_subject=None)
    calls = claim_calls(run.pk, 1_000)
    barrier = threading.Barrier(2)

    def finish(step):
        mine = [call for call in calls if call.step == step]
        own = writer(run)
        for call in mine:
            barrier.wait(20)
            own.write(as_failed([call]))
        connection.close()

    at_once(lambda: finish("satisfied"), lambda: finish("preference"))
    counts = (
        Judgment.objects.filter(rater=run.judging.rater).order_by().values("item").annotate(n=Count("pk"))
    )
    assert (len(counts), {row["n"] for row in counts}) == (len(items), {1})
