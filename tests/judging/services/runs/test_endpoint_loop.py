"""Working on a run: what each misbehaviour of an endpoint does to it, how it slows down, and how it lets go."""

import pytest
from django.utils import timezone

from judging.backends.base import Reply, Request, TryAgain
from judging.models import Call, Endpoint, Run
from judging.services.calls.call_attempts import retry_later
from judging.services.judges import heuristic_judge
from judging.services.runs import endpoint_loop
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lanes import Lane
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_due_runs
from judging.services.runs.progress import run_progress
from judging.services.runs.session import Session
from judging.services.runs.work import work_on
from judging.tasks import enqueue_run, send_workers, sweep_runs, work_on_run
from tests import factories
from tests.judging import endpoint
from tests.judging.build import PRICES, costs_what_was_counted, judged, make_judge
from tests.judging.table import MISBEHAVIOUR

ASKED = Request(model="m", messages=[{"role": "user", "content": "Which is better?"}])
MISBEHAVIOURS = {
    "": "complete: 8 ok, asked 8 times",
    "slow=0.05": "complete: 8 ok, asked 8 times",
    "hang": "complete: 8 failed, asked 16 times",
    "429": "complete: 8 failed, asked 16 times",
    "429=0.05": "complete: 8 failed, asked 16 times",
    "500": "complete: 8 failed, asked 16 times",
    "503": "complete: 8 failed, asked 16 times",
    "nothing": "complete: 8 failed, asked 16 times",
    "half": "complete: 8 failed, asked 16 times",
    "garbage": "complete: 8 failed, asked 16 times",
    "odd": "complete: 8 failed, asked 16 times",
    "400": "complete: 8 failed, asked 8 times",
    "400=content_filter": "complete: 8 refused, asked 8 times",
    "held": "complete: 8 refused, asked 8 times",
    "hollow": "complete: 8 failed, asked 16 times",
    "error200=429": "complete: 8 failed, asked 16 times",
    "error200=404": "stopped: 8 open",
    "error200=content_filter": "complete: 8 refused, asked 8 times",
    "babble": "complete: 8 unparsed, asked 24 times",
    "empty": "complete: 8 unparsed, asked 24 times",
    "refusal": "complete: 8 refused, asked 8 times",
    "filtered": "complete: 8 refused, asked 8 times",
    "truncated": "complete: 8 truncated, asked 8 times",
    "no_usage": "complete: 8 ok, asked 8 times",
    "quota": "stopped: 8 open",
    "401": "stopped: 8 open",
    "403": "stopped: 8 open",
    "404": "stopped: 8 open",
    "429=90": "paused: 8 open",
    "redirect=http|//127.0.0.1/elsewhere": "stopped: 8 open",
}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.02
    settings.ASSAY_RUN_ATTEMPTS = 2
    settings.ASSAY_RUN_UNREAD = 3
    settings.ASSAY_RUN_UNREAD_FIRST = 0


def make_once(owner):
    return factories.launched_pairs("eight", 8, owner=owner)


def summary(run, served):
    """What became of a run, in a line."""
    counts = {}
    for state, outcome in run.calls.values_list("state", "outcome"):
        counts[outcome or state] = counts.get(outcome or state, 0) + 1
    what = ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    asked = f", asked {served.total} times" if run.state == "complete" else ""
    return f"{run.state}: {what}{asked}"


@pytest.mark.parametrize(
    ("behaviour", "expected"), MISBEHAVIOURS.items(), ids=lambda value: value or "well-behaved"
)
def test_what_an_endpoint_does_to_a_run(study, served, record_property, behaviour, expected):
    judge = make_judge(study, served, f"coin:{behaviour}" if behaviour else "coin", in_flight=8)
    Endpoint.objects.update(timeout_seconds=1)
    run, _ = judged(study, judge)
    found = summary(run, served)
    record_property(MISBEHAVIOUR, (behaviour or "(well-behaved)", found, run.reason or _error(run)))
    assert found == expected
    judgments = dict.fromkeys(run.calls.filter(state="final").values_list("item", flat=True))
    assert run.judging.rater.judgments.count() == len(judgments)
    for each in run.judging.rater.judgments.exclude(outcome="ok"):
        assert each.trace["error"], "why it could not be judged is kept"
        if each.outcome in ("unparsed", "truncated") and behaviour != "empty":
            assert each.trace["raw"], "what could not be read is kept as it came"


def _error(run):
    return run.calls.exclude(error="").values_list("error", flat=True).first() or ""


ODD = [
    "held", "hollow", "odd", "garbage", "error200=429", "error200=429:billed", "error200=413:billed",
    "error200=content_filter:billed", "400=content_filter:billed", "400=invalid:billed", "429:billed", "503:billed",
    "400", "500", "refusal", "filtered", "truncated", "babble", "empty",
]  # fmt: skip
# Answers after which a run asks no more: it stops, or pauses until a time that is far.
ENDING = [
    "401",
    "402",
    "403",
    "404",
    "quota",
    "error200=401",
    "redirect=http|//127.0.0.1/elsewhere",
    "429=86400",
]


@pytest.mark.parametrize(
    ("behaviour", "probed"),
    [*((each, True) for each in ODD), *((each, False) for each in ODD if each == "hollow" or ":" in each)],
)
def test_a_run_costs_what_the_endpoint_counted(study, served, behaviour, probed):
    """Half of the answers are odd, whatever is asked; each is paid that reports its tokens."""
    name, *beside = behaviour.split(":")
    model = ":".join(["coin", f"{name}@0.6", *beside])
    run, _ = judged(study, make_judge(study, served, model, probed=probed, **PRICES))
    assert any(name.startswith(each.behaviour) for each in served.log)
    costs_what_was_counted(run, served)


@pytest.mark.parametrize(("at", "in_flight"), [(0, 1), (4, 8)])
@pytest.mark.parametrize("ending", ENDING)
def test_so_does_one_that_an_answer_ends(study, served, ending, at, in_flight):
    """In the middle of a run and at its first call, with other odd answers before it and further calls in flight."""
    served.script = [*["hollow", "error200=429:billed", "babble", ""][:at], f"{ending}:billed"]
    run, _ = judged(study, make_judge(study, served, "coin", in_flight=in_flight, **PRICES))
    assert run.state == ("paused" if ending.startswith("429") else "stopped")
    assert min(served.reported) > 0
    costs_what_was_counted(run, served)
    assert run.calls.get(error__contains=run.reason_text[:20], attempts=0).state == "open", (
        "no try of its call"
    )
    # Taken up again it is charged for the rest, and for nothing twice.
    served.script = []
    Run.objects.update(state="pending")
    assert work_on(run.pk).state == "complete"
    run.refresh_from_db()
    costs_what_was_counted(run, served)


@pytest.mark.parametrize("ending", ENDING)
def test_so_does_a_probe_that_an_answer_ends(study, served, ending):
    # One 401, 403 or 404 would say that an option is not to be had.
    served.script = ["", *[f"{ending}:billed"] * 4]
    run, _ = judged(study, make_judge(study, served, "coin", probed=False, **PRICES))
    assert run.state == ("paused" if ending.startswith("429") else "stopped")
    costs_what_was_counted(run, served)


def test_calls_in_flight_are_waited_for_where_an_answer_stops_the_run(study, served):
    """They will be paid for; where somebody pauses it, or the worker ends, they have a second."""
    served.latency, served.script = 1.5, [*[""] * 7, "401"]
    run, _ = judged(study, make_judge(study, served, "coin", in_flight=8, **PRICES))
    assert summary(run, served) == "stopped: 7 ok, 1 open"
    costs_what_was_counted(run, served)


@pytest.mark.parametrize(
    ("script", "state", "reason", "seconds"),
    [
        (["401", *["429=86400"] * 7], "stopped", "refused the key", None),
        ([*["429=90"] * 7, "401"], "stopped", "refused the key", None),
        (["429=86400", *["429=90"] * 7], "paused", "no more calls for now", 86_400),
        ([*["429=90"] * 7, "429=86400"], "paused", "no more calls for now", 86_400),
    ],
)
def test_of_several_endings_a_stop_and_the_longest_pause_stand(study, served, script, state, reason, seconds):
    """With a refused key it would resume by itself, in vain."""
    # Every answer later than the one before it, and all in flight before the first.
    served.script = [f"{each}:slow={0.3 + n / 10}" for n, each in enumerate(script)]
    run, _ = judged(study, make_judge(study, served, "coin", in_flight=8))
    assert served.total == 8
    assert run.state == state
    assert reason in run.reason
    waits = None if run.resumes_at is None else (run.resumes_at - timezone.now()).total_seconds()
    assert waits == (seconds and pytest.approx(seconds, abs=60))


def test_a_failing_fifth_is_made_good(study, served, settings):
    settings.ASSAY_RUN_ATTEMPTS = 8
    served.behaviours = "500@0.2"
    run, _ = judged(study, make_judge(study, served, "coin"))
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}


# --- backing off ------------------------------------------------------------------------------------------------------


def test_backing_off_doubles_with_a_jitter_that_the_seed_decides(settings, db):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 1.0
    settings.ASSAY_RUN_ATTEMPTS = 20
    now = timezone.now()

    def wait(attempts, after=None, seed=1):
        ended = retry_later(seed, Call(pk=1, attempts=attempts), {}, TryAgain("busy", after=after), now)
        return (ended.not_before - now).total_seconds()

    waits = [wait(attempts) for attempts in range(8)]
    for attempts, each in enumerate(waits):
        assert min(2**attempts, 60) * 0.5 <= each <= min(2**attempts, 60) * 1.5
    assert waits == [wait(attempts) for attempts in range(8)]
    assert wait(3, seed=2) != waits[3]
    assert wait(0, after=7.5) == 7.5, "as long as the server asked for"
    assert wait(0, after=900) == 900


def test_a_call_waits_as_long_as_the_server_asked(study, served):
    served.script = ["429=50"]
    run, waits = start_run(study, make_judge(study, served, "coin", in_flight=1)), []

    def pauses(tick):
        refused = run.calls.filter(state="open", attempts=1).first()
        if refused is not None and not waits:
            waits.append((refused.not_before - timezone.now()).total_seconds())
            pause_run(run)

    assert work_on(run.pk, on_tick=pauses).state == "paused"
    assert 30 < waits[0] <= 50
    assert served.total == 1, "nor was any other call asked meanwhile"


@pytest.mark.parametrize("at", ["the first call", "the probe"])
def test_a_run_pauses_until_a_time_that_is_far_and_resumes_by_itself(study, served, at):
    judge = make_judge(study, served, "coin", in_flight=1)
    if at == "the probe":
        Endpoint.objects.update(capabilities={})
    served.script = ["429=86400"]
    run = start_run(study, judge)
    worked = work_on(run.pk, seconds=60)
    assert (worked.state, worked.resume_in, served.total) == ("paused", None, 1)
    assert set(run.calls.values_list("state", "attempts")) <= {("open", 0)}, "no attempt counts"
    run.refresh_from_db()
    assert 86_000 < (run.resumes_at - timezone.now()).total_seconds() <= 86_400
    said = run_progress(run).reason
    assert said.startswith(
        "The endpoint takes no more calls for now (429: too fast). It resumes by itself on "
    )
    resume_due_runs()
    run.refresh_from_db()
    assert run.state == "paused", "not before"
    Run.objects.update(resumes_at=timezone.now())
    resume_due_runs()
    run.refresh_from_db()
    assert (run.state, run.reason_text, run.resumes_at) == ("pending", "", None)
    assert work_on(run.pk).state == "complete"


def test_a_run_that_somebody_cancelled_does_not_resume(study, served):
    served.script = ["429=86400"]
    run = start_run(study, make_judge(study, served, "coin", in_flight=1))
    work_on(run.pk)
    run.refresh_from_db()
    cancel_run(run)
    assert run.resumes_at is None
    resume_due_runs()
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_one_refusal_slows_the_whole_worker():
    lane = Lane(Endpoint(max_in_flight=64))
    lane.refused(None)
    lane.refused(None)
    assert lane.places == 32, "a burst counts once"
    for _ in range(40):
        lane.answered(ASKED, Reply(text="1"))
    assert 32 < lane.places < 34
    for _ in range(5_000):
        lane.answered(ASKED, Reply(text="1"))
    assert lane.places == 64


def test_after_a_refusal_fewer_calls_are_in_flight(owner, served):
    study = factories.launched_pairs("many", 36, owner=owner)
    served.latency = 0.05
    served.script = ["429=0.3"] + [""] * 15
    run, _ = judged(study, make_judge(study, served, "coin", in_flight=16))
    assert run.state == "complete"
    in_flight = [seen.in_flight for seen in served.log]
    assert max(in_flight[:16]) == 16
    assert in_flight[16] == 1, "nobody asks while the server wants to be left alone"
    assert max(in_flight[16:32]) <= 10, "and then half as many at once"


# --- letting go -------------------------------------------------------------------------------------------------------


def test_time_is_over_and_what_is_left_can_be_taken_up(study, served):
    served.latency = 0.2
    run = start_run(study, make_judge(study, served, "coin", in_flight=1))
    worked = work_on(run.pk, seconds=0.5)
    assert 0 < worked.final < 8
    assert worked.resume_in == 0
    assert not run.calls.filter(state="leased").exists()
    assert served.total == worked.final, "calls in flight are waited for"
    served.latency = 0
    assert work_on(run.pk).state == "complete"


@pytest.mark.parametrize("how", ["told", "paused"])
def test_it_lets_go_of_calls_that_are_not_answered_yet(study, served, how, monkeypatch):
    monkeypatch.setattr(endpoint_loop, "GRACE_SECONDS", 0.05)
    served.latency = 30
    run = start_run(study, make_judge(study, served, "coin", in_flight=4))
    Endpoint.objects.update(timeout_seconds=60)

    def someone_pauses(tick):
        if how == "paused" and served.total >= 4 and Run.objects.filter(state="running").exists():
            pause_run(run)

    worked = work_on(run.pk, should_stop=lambda: how == "told" and served.total >= 4, on_tick=someone_pauses)
    assert worked.state == ("running" if how == "told" else "paused")
    assert (worked.resume_in is None) == (how == "paused")
    assert set(run.calls.values_list("state", "attempts")) == {("open", 0)}
    run.refresh_from_db()
    assert run.workers == {}


def test_slow_calls_keep_their_leases(study, served, settings):
    settings.ASSAY_RUN_LEASE_SECONDS = 0.9
    served.latency = 1.3
    run, _ = judged(study, make_judge(study, served, "coin", in_flight=8))
    assert run.state == "complete"
    assert served.total == 8, "nobody else took them meanwhile"


def test_an_error_of_ours_fails_the_call_and_tells_nothing(study, served, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("Bearer sk-secret-secret")

    monkeypatch.setattr("judging.backends.chat.body_of", broken)
    run, _ = judged(study, make_judge(study, served, "coin"))
    assert set(run.calls.values_list("outcome", "error")) == {
        ("failed", "The request broke with RuntimeError.")
    }
    assert "secret" not in caplog.text


def test_an_endpoint_is_asked_once_what_it_can_do(study, served):
    run, _ = judged(study, make_judge(study, served, "coin", probed=False))
    assert run.state == "complete"
    probes = served.total - 8
    assert probes > 0
    assert Endpoint.objects.get().capabilities["coin"]["json_schema"] is True
    judged(study, run.judging.judge, purpose="anchor")
    assert served.total == probes + 16


def test_an_endpoint_that_never_answers_stops_the_run(study, served, settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.001
    run, _ = judged(study, make_judge(study, served, "coin:503", probed=False))
    assert run.state == "stopped"
    assert "features could not be determined" in run.reason


def test_no_more_is_claimed_while_answers_wait_to_be_written(study, served, monkeypatch):
    """Or a slow database would fill the worker's memory, and a kill would lose the more."""
    monkeypatch.setattr(endpoint_loop, "WRITE_AT_ONCE", 2)
    monkeypatch.setattr(endpoint_loop, "GATHER_SECONDS", 0.01)
    held = []
    record = Session.record

    def look_and_record(session, batch):
        held.append(session.run.calls.filter(state="leased").count())
        record(session, batch)

    monkeypatch.setattr(Session, "record", look_and_record)
    run, _ = judged(study, make_judge(study, served, in_flight=1, samples=12))
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    assert run.calls.count() == 96
    ahead = endpoint_loop.AHEAD  # of one call in flight
    assert max(held) <= (ahead - 1) + 1 + (ahead - 1) + 2 + endpoint_loop.SMALLEST_CLAIM, (
        "in the queue, in flight, waiting, being written, claimed at once"
    )


# --- tasks ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch):
    """The messages that would go to the broker."""
    messages = []
    monkeypatch.setattr(
        work_on_run, "apply_async", lambda args, countdown=None: messages.append((args, countdown))
    )
    return messages


def test_a_run_is_queued_once(study, sent, django_capture_on_commit_callbacks):
    run = start_run(study, heuristic_judge(study, "longer"))
    with django_capture_on_commit_callbacks(execute=True):
        enqueue_run(run)
        enqueue_run(run)
    assert [args[0] for args, _ in sent] == [run.pk]
    sweep_runs()
    assert len(sent) == 1, "its message is on its way"
    work_on_run(*sent[0][0])
    run.refresh_from_db()
    assert run.state == "complete"
    assert len(sent) == 1


def test_what_is_left_is_queued_again(study, served, sent, settings):
    settings.ASSAY_RUN_SECONDS = 0
    run = start_run(study, make_judge(study, served, "coin"))
    send_workers(run.pk)
    work_on_run(*sent[0][0])
    assert len(sent) == 2
    assert sent[0][0] != sent[1][0], "every message has a token of its own"


def test_a_message_that_comes_late_finds_its_place_taken(study, sent, settings):
    run = start_run(study, heuristic_judge(study, "longer"))
    settings.ASSAY_RUN_LEASE_SECONDS = -1
    send_workers(run.pk)
    settings.ASSAY_RUN_LEASE_SECONDS = 60
    sweep_runs()
    assert len(sent) == 2
    work_on_run(*sent[0][0])
    assert not run.judging.rater.judgments.exists()
    work_on_run(*sent[1][0])
    assert run.judging.rater.judgments.count() == 8


def test_work_that_breaks_is_tried_again_later(study, sent, monkeypatch, caplog):
    run = start_run(study, heuristic_judge(study, "longer"))
    monkeypatch.setattr("judging.tasks.work_on", lambda *args, **kwargs: 1 / 0)
    work_on_run(run.pk, "token")
    assert [(args[0], countdown) for args, countdown in sent] == [(run.pk, 30.0)]
    assert "broke off" in caplog.text


def test_a_paused_run_is_not_queued(study, sent):
    run = start_run(study, heuristic_judge(study, "longer"))
    pause_run(run)
    send_workers(run.pk)
    sweep_runs()
    assert sent == []
