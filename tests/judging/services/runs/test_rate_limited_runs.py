"""Runs at an endpoint with rate limits: none is exceeded, nothing is held or lost by waiting, and pages say so."""

import pytest
from django.utils import timezone

from evaluation.refusals import Refused
from evaluation.tasks import work_on_job
from judging.models import Endpoint, Run
from judging.services.endpoints.connection_test import begin_test
from judging.services.estimates.run_estimate import estimate
from judging.services.rate_limits import MINUTE, rate_limits
from judging.services.runs import endpoint_loop
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import pause_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

# In flight at once, more than a second has room for.
MANY = 16


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(settings, monkeypatch):
    monkeypatch.setattr(endpoint_loop, "TELL_SECONDS", 0.5)
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.02
    settings.REDIS_URL = ""
    rate_limits.cache_clear()
    yield
    rate_limits.cache_clear()


def make_once(owner):
    return factories.launched_pairs("limited", 30, owner=owner)


def limit(judge, **limits):
    Endpoint.objects.update(**limits)
    judge.endpoint.refresh_from_db()


@pytest.mark.parametrize(
    ("behaviour", "limits"),
    [
        # The limits are those of so many seconds; the server allows a quarter more, for what arrives unevenly.
        ("rate=25|1", {"requests_per_minute": 20 * 60}),
        ("tokens=40000|1", {"tokens_per_minute": 32_000 * 60}),
    ],
)
def test_no_request_is_refused_where_the_limits_are_set(study, served, behaviour, limits):
    judge = make_judge(study, served, "coin", in_flight=MANY, max_tokens=1_500)
    served.behaviours = behaviour
    judged(study, judge, purpose="anchor")
    assert served.statuses[429] > 0, "without limits the server refuses some"
    served.reset()
    limit(judge, **limits)
    run, _ = judged(study, judge, purpose="anchor")
    assert (run.state, run.unanswered) == ("complete", 0)
    assert dict(served.statuses) == {200: 30}


def test_a_paused_run_leaves_at_once_with_its_calls_unasked_and_says_what_held_it(study, served, settings):
    judge = make_judge(study, served, "coin", in_flight=MANY)
    limit(judge, requests_per_minute=2)
    run, seen = start_run(study, judge), []

    def pauses(tick):
        found = Run.objects.get()
        held_back = run_progress(found).held_back
        if held_back and not seen:
            seen.append(held_back)
            calls = found.calls.filter(state="leased")
            seen.append(min(calls.values_list("leased_until", flat=True)) > timezone.now())
            pause_run(found)

    worked = work_on(run.pk, on_tick=pauses)
    assert (worked.state, worked.final, served.total) == ("paused", 1, 1)
    assert seen == ["Held back by the rate limit of here: 2 requests per minute.", True]
    run.refresh_from_db()
    assert run_progress(run).held_back == ""
    assert not run.calls.filter(state="leased").exists()
    assert set(run.calls.filter(state="open").values_list("attempts", flat=True)) == {0}
    assert served.max_concurrent == 1


def test_a_worker_that_is_to_end_does_not_wait(study, served):
    judge = make_judge(study, served, "coin", in_flight=MANY)
    limit(judge, requests_per_minute=1)
    run = start_run(study, judge)
    worked = work_on(run.pk, should_stop=lambda: served.total > 0)
    assert (worked.state, worked.final) == ("running", 1)


def test_a_probe_waits_for_the_limits_and_lets_go_when_the_run_is_paused(study, served):
    judge = make_judge(study, served, probed=False)
    run = start_run(study, judge)
    limit(judge, requests_per_minute=2)

    def pauses(tick):
        if served.total and run.state != "paused":
            pause_run(run)

    assert work_on(run.pk, on_tick=pauses).state == "paused"
    assert served.total == 1


def test_a_connection_test_keeps_to_the_limits(study, served):
    served.behaviours = "rate=7|0.5"
    judge = make_judge(study, served)
    limit(judge, requests_per_minute=10 * 60)
    work_on_job(begin_test(judge.endpoint, "longer", by=None).pk)
    judge.endpoint.refresh_from_db()
    assert judge.endpoint.tested["milliseconds"]
    assert "problem" not in judge.endpoint.tested
    assert set(served.statuses) == {200}
    assert served.total > 7


def test_the_limits_of_an_endpoint_are_followed_as_they_change(study, served):
    judge = make_judge(study, served, "coin", in_flight=1)
    run = start_run(study, judge)
    served.latency, told = 0.05, []

    def changes(tick):
        if served.total:
            limit(judge, requests_per_minute=1)
        if Run.objects.filter(held_until__isnull=False).exists():
            told.append(tick)

    work_on(run.pk, on_tick=changes, should_stop=lambda: bool(told))
    assert 0 < served.total < 30


def test_a_request_larger_than_a_minute_is_refused_before_anything_is_sent(study, served):
    judge = make_judge(study, served, "coin", max_tokens=5_000)
    limit(judge, tokens_per_minute=4_000)
    with pytest.raises(Refused, match=r"A request may take 5,\d\d\d tokens, more than the 4,000"):
        estimate(study, judge)
    run, _ = judged(study, judge)
    assert run.state == "stopped"
    assert "Lower the judge's limit of a reply" in run.reason
    assert served.total == 0


def test_the_estimate_s_time_is_that_of_the_limits(study, served):
    judge = make_judge(study, served, "coin", max_tokens=500)
    before = estimate(study, judge)
    limit(judge, requests_per_minute=4)
    held = estimate(study, judge)
    assert (before.seconds < 60, held.seconds) == (True, pytest.approx(7.5 * MINUTE))
    assert "The time is that of the endpoint's rate limit: 4 requests per minute." in held.basis
    assert "rate limit" not in before.basis
    limit(judge, requests_per_minute=None, tokens_per_minute=10_000)
    assert 1.5 * MINUTE < estimate(study, judge).seconds < 7.5 * MINUTE
    limit(judge, tokens_per_minute=10**9)
    assert estimate(study, judge) == before
