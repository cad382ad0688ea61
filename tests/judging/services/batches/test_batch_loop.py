"""Runs as batches: the same judgments as asked directly; whatever becomes of a batch, no call is lost or paid twice."""

import json
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from evaluation.models import Judgment
from evaluation.refusals import Refused
from evaluation.services.studies.items import withdraw_item
from evaluation.services.studies.verification import verify_study
from judging.models import Call, CallBatch, LedgerEntry, Run
from judging.services.batches.following import follow_batches, loose_runs
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run
from judging.services.runs.work import work_on
from judging.tasks import follow_loose_batches, sweep_runs
from tests import factories
from tests.judging import build, endpoint
from tests.judging.build import ABLE, judged, make_judge
from tests.judging.questions_study import make_questions_study

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
    settings.ASSAY_RUN_ATTEMPTS = 3
    settings.ASSAY_RUN_UNREAD_FIRST = 0


def make_once(owner):
    return factories.launched_pairs("eight", 8, owner=owner)


def by_batch(study, judge, **options):
    return judged(study, judge, by_batch=True, **options)[0]


def readings(run):
    """Everything that a run's judgments say, and neither when nor how fast."""
    rows = Judgment.objects.filter(rater=run.judging.rater).order_by("item", "replicate")
    return [
        (
            each.item_id,
            each.replicate,
            each.outcome,
            each.shown,
            each.trace,
            sorted(each.answers.values_list("question", "part", "label", "number", "text")),
        )
        for each in rows
    ]


def ends(run):
    return list(run.batches.values_list("state", "status", "calls", "reason"))


@pytest.mark.parametrize(
    "settings_of_judge",
    [
        {"orders": "both", "rationale": "before"},
        {"verdict": "logprobs", "questions": ["preference"], "samples": 2},
        {"one_call_per_question": True},
        {"model": "coin:refusal@0.3"},
    ],
    ids=["both ways", "log-probabilities", "steps", "refusals"],
)
def test_a_run_by_batch_says_what_a_run_asked_directly_says(study, served, settings_of_judge):
    model = settings_of_judge.pop("model", "coin")
    judge = make_judge(study, served, model, **settings_of_judge)
    batch = by_batch(study, judge)
    assert batch.state == "complete"
    assert ends(batch) == [("ended", "completed", batch.calls.count(), "")]
    asked = served.total
    # The cache would give the very replies.
    Call.objects.update(cache_key="")
    served.counts.clear()
    directly, _ = judged(study, judge)
    assert served.total - asked == batch.calls.count()
    assert readings(batch) == readings(directly)
    assert set(batch.calls.values_list("attempts", "cached")) == {(1, False)}
    assert list(verify_study(study)) == []
    assert served.files == {}, "nothing is left at the endpoint"


def test_a_question_asked_last_goes_in_a_batch_of_its_own_after_the_others(owner, served):
    study = make_questions_study(owner, queries=2, systems=("aspen", "birch"))
    judge = make_judge(
        study, served, "coin", one_call_per_question=True, options={"last_question": "overall"}
    )
    batch = by_batch(study, judge)
    assert batch.state == "complete"
    assert list(batch.batches.order_by("pk").values_list("calls", flat=True)) == [4 * 6, 4]
    assert {call.step for call in batch.calls.order_by("-finished_at")[:4]} == {"overall"}
    Call.objects.update(cache_key="")
    served.counts.clear()
    directly, _ = judged(study, judge)
    assert readings(batch) == readings(directly)
    assert list(verify_study(study)) == []


def test_where_one_of_the_others_can_t_be_read_the_last_one_is_in_no_batch(owner, served, settings):
    settings.ASSAY_RUN_UNREAD = 1
    study = make_questions_study(owner, queries=4, systems=("aspen",))
    judge = make_judge(
        study, served, "coin:babble@0.1", one_call_per_question=True, options={"last_question": "overall"}
    )
    run = by_batch(study, judge)
    bad = set(run.calls.filter(outcome="unparsed").exclude(step="overall").values_list("item", flat=True))
    assert 0 < len(bad) < 4
    last = run.calls.filter(step="overall")
    assert set(last.filter(attempts=0).values_list("item", flat=True)) == bad
    assert list(run.batches.order_by("pk").values_list("calls", flat=True)) == [4 * 6, 4 - len(bad)]
    assert (run.state, list(verify_study(study))) == ("complete", [])


def test_replies_of_batches_are_known_to_runs_asked_directly_and_the_other_way_round(study, served):
    judge = make_judge(study, served, "coin")
    by_batch(study, judge)
    run, _ = judged(study, judge)
    assert set(run.calls.values_list("cached", flat=True)) == {True}
    again = by_batch(study, judge)
    assert (again.state, again.batches.count()) == ("complete", 0), "there was nothing to ask"
    assert set(again.calls.values_list("cached", flat=True)) == {True}


def test_limits_make_several_batches(study, served, settings):
    settings.ASSAY_RUN_BATCH_CALLS = 3
    run = by_batch(study, make_judge(study, served, "coin"))
    assert [each.calls for each in run.batches.all()] == [3, 3, 2]
    assert (run.state, served.steps.count("POST batches")) == ("complete", 3)
    sizes = list(run.batches.values_list("size", flat=True))
    settings.ASSAY_RUN_BATCH_CALLS = 50
    settings.ASSAY_RUN_BATCH_MEGABYTES = (sizes[0] + 10) / 1_000_000
    Call.objects.update(cache_key="")
    run = by_batch(study, make_judge(study, served, "coin", name="other"))
    assert [each.calls for each in run.batches.all()] == [3, 3, 2]
    assert all(each.size <= sizes[0] + 10 for each in run.batches.all())


def test_a_request_that_no_file_takes_has_failed(study, served, settings):
    settings.ASSAY_RUN_BATCH_MEGABYTES = 0.0001
    run = by_batch(study, make_judge(study, served, "coin"))
    assert run.state == "complete"
    assert set(run.calls.values_list("outcome", "error")) == {
        ("failed", "The request is too large for a batch: more than 0.0001 MB.")
    }
    assert served.steps == ["GET batches"]


def test_unreadable_replies_are_asked_again_in_a_further_batch(study, served):
    run = by_batch(study, make_judge(study, served, "coin:babble@0.5"))
    assert run.state == "complete"
    assert run.batches.count() > 1
    first, second = run.batches.all()[:2]
    assert (first.calls, second.calls) == (8, run.calls.filter(attempts__gt=1).count())
    assert {"ok"} <= set(run.calls.values_list("outcome", flat=True)) <= {"ok", "unparsed"}
    # An unread reply is asked with another seed.
    assert len({json.dumps(seen.body) for seen in served.log}) == served_requests(served)


def served_requests(served):
    return sum(batch.counts["total"] for batch in served.batches.values())


def test_what_stands_in_the_error_file_is_tried_again_or_has_failed(study, served):
    run = by_batch(study, make_judge(study, served, "coin:500@0.4"))
    assert run.state == "complete"
    assert run.batches.count() > 1
    assert run.calls.filter(outcome="ok").count() > 0
    run = by_batch(study, make_judge(study, served, "coin:400@0.4", name="other"))
    assert run.batches.count() == 1
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok", "failed"}
    assert list(verify_study(study)) == []


@pytest.mark.parametrize("behaviour", ["500", "400", "401", "429", "error200=429", "quota"])
def test_answers_that_are_none_are_paid_for(study, served, behaviour):
    run = by_batch(study, make_judge(study, served, f"coin:{behaviour}@0.4:billed", **build.PRICES))
    assert run.state == ("stopped" if behaviour in ("401", "quota") else "complete")
    build.costs_what_was_counted(run, served)
    assert list(verify_study(study)) == []


def test_so_are_those_that_a_paused_run_collects(study, served, slow):
    served.batch_behaviours = "polls=1"
    run = out(study, make_judge(study, served, "coin:500@0.4:billed", **build.PRICES))
    pause_run(run)
    withdraw_item(run.calls.last().item)
    make_due()
    follow_batches(run.pk, seconds=1)
    run.refresh_from_db()
    build.costs_what_was_counted(run, served)
    tried = set(run.calls.values_list("state", "attempts"))
    assert tried == {("final", 1), ("open", 0)}, "what brought no answer counts as never asked"


def test_an_expired_batch_keeps_its_answers_and_frees_the_rest(study, served):
    served.batch_behaviours = "expire"
    run = by_batch(study, make_judge(study, served, "coin"))
    assert run.state == "complete"
    # Half of each batch is answered; what is not is asked again, of those that are due together, three times at most.
    asked = [each.calls for each in run.batches.order_by("pk")]
    assert asked[0] == 8
    assert sum(asked) == sum(run.calls.values_list("attempts", flat=True)) == 14
    failed = run.calls.filter(outcome="failed")
    assert set(failed.values_list("attempts", "error")) == {(3, "The batch expired before this request.")}
    assert 1 <= failed.count() <= 2
    assert run.calls.filter(outcome="ok").count() == 8 - failed.count()
    assert list(verify_study(study)) == []


def test_a_batch_that_fails_stops_the_run_with_the_reason_and_frees_its_calls(study, served):
    served.batch_behaviours = "fail"
    run = by_batch(study, make_judge(study, served, "coin"))
    said = "The endpoint failed the batch: Enqueued token limit reached."
    assert (run.state, run.reason) == ("stopped", said)
    assert set(run.calls.values_list("state", "lease", "error")) == {("open", None, said)}
    assert ends(run) == [("ended", "failed", 8, said)]
    served.batch_behaviours = ""
    resume_run(run)
    work_on(run.pk)
    run.refresh_from_db()
    assert (run.state, run.batches.count()) == ("complete", 2)
    assert set(run.calls.values_list("attempts", flat=True)) == {1}


def test_an_endpoint_without_batches_stops_the_run_and_is_remembered(study, served):
    served.behaviours = "no_batches"
    judge = make_judge(study, served, "coin")
    run = by_batch(study, judge)
    assert run.state == "stopped"
    assert (
        run.reason == "The endpoint has no Batch API that lists its batches. Start the run without batches."
    )
    judge.refresh_from_db()
    judge.endpoint.refresh_from_db()
    with pytest.raises(Refused, match="The endpoint here has no Batch API"):
        start_run(study, judge, by_batch=True)
    assert judged(study, judge)[0].state == "complete"


def test_only_chat_completions_of_runs_that_can_wait_are_asked_as_batches(study, served):
    with pytest.raises(Refused, match="Only chat completions"):
        start_run(study, heuristic_judge(study, "longer"), by_batch=True)
    with pytest.raises(Refused, match="Somebody waits for a trial"):
        start_run(study, make_judge(study, served), purpose="trial", by_batch=True)


# --- money ------------------------------------------------------------------------------------------------------------


def test_batches_have_their_own_price(study, served):
    judge = make_judge(study, served, "coin", **PRICES)
    judge.endpoint.batch_price_factor = Decimal("0.5")
    judge.endpoint.save()
    assert estimate(study, judge, by_batch=True).cost * 2 == estimate(study, judge).cost
    batch = by_batch(study, judge)
    Call.objects.update(cache_key="")
    directly, _ = judged(study, judge)
    assert batch.spent * 2 == directly.spent > 0
    assert (batch.price_prompt, directly.price_prompt) == (500, 1_000)
    for run in (batch, directly):
        entries = LedgerEntry.objects.filter(run=run)
        assert sum(each.cost for each in entries) == run.spent
        assert sum(each.calls for each in entries) == 8


def test_a_budget_is_set_aside_while_a_batch_is_out(study, served):
    judge = make_judge(study, served, "coin", **PRICES)
    run = by_batch(study, judge, budget=Decimal(4))
    assert run.state == "stopped"
    assert run.reason.startswith("The budget of 4 would be exceeded")
    assert 0 < run.spent <= 4
    assert run.spent == sum(run.calls.values_list("cost", flat=True))
    assert not run.calls.exclude(reserved=0).exists()
    assert 0 < run.calls.filter(state="final").count() < 8
    resume_run(run, budget=Decimal(1_000))
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "complete"
    assert list(verify_study(study)) == []


# --- standing still ---------------------------------------------------------------------------------------------------


def out(study, judge):
    """A run whose batch is at the endpoint."""
    run = start_run(study, judge, by_batch=True)
    work_on(run.pk, seconds=60)
    run.refresh_from_db()
    return run


@pytest.fixture
def slow(served, settings):
    """Batches that are not done before they have been asked after ten times, a worker that is not that patient."""
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 6
    served.batch_behaviours = "polls=10"


def make_due():
    CallBatch.objects.update(due_at=timezone.now())


def test_a_worker_does_not_wait_for_a_batch(study, served, slow):
    run = start_run(study, make_judge(study, served, "coin"), by_batch=True)
    worked = work_on(run.pk, seconds=60)
    assert (worked.state, worked.final) == ("running", 0)
    assert 5 < worked.resume_in <= 6
    batch = run.batches.get()
    assert (batch.state, batch.worker) == ("submitted", "")
    assert set(run.calls.values_list("state", "lease")) == {("leased", batch.lease)}
    for _ in range(9):
        make_due()
        worked = work_on(run.pk, seconds=60)
    assert (worked.state, served.steps.count("GET batches/1")) == ("running", 9)
    make_due()
    assert work_on(run.pk, seconds=60).state == "complete"
    assert served.steps.count("POST batches") == 1


def test_a_cancelled_run_cancels_its_batches_and_keeps_what_was_answered(study, served, slow, monkeypatch):
    served.batch_behaviours = "polls=4"
    run = out(study, make_judge(study, served, "coin", **PRICES))
    for _ in range(2):
        make_due()
        work_on(run.pk, seconds=60)
    cancel_run(run)
    make_due()
    assert loose_runs() == [run.pk]
    follow_batches(run.pk, seconds=1)
    assert served.batches["batch-1"].status == "cancelling"
    make_due()
    monkeypatch.setattr(follow_loose_batches, "delay", follow_loose_batches)
    sweep_runs()
    run.refresh_from_db()
    assert (run.state, loose_runs()) == ("cancelled", [])
    assert ends(run) == [("ended", "cancelled", 8, "The batch was cancelled with its run.")]
    assert run.calls.filter(state="final").count() == 6
    assert run.calls.filter(state="open", lease=None, reserved=0).count() == 2
    assert run.spent == sum(run.calls.values_list("cost", flat=True)) > 0
    assert list(verify_study(study)) == []


def test_a_paused_run_collects_what_is_out_and_asks_nothing_more(study, served, slow):
    served.batch_behaviours = "polls=1"
    run = out(study, make_judge(study, served, "coin:babble@0.5"))
    pause_run(run)
    make_due()
    follow_batches(run.pk, seconds=1)
    run.refresh_from_db()
    assert (run.state, run.batches.get().state) == ("paused", "ended")
    assert run.calls.filter(state="final").count() > 0
    assert run.calls.filter(state="open", unread=1).count() > 0
    assert served.steps.count("POST batches") == 1


def test_a_batch_that_was_never_sent_is_given_back(study, served):
    run = start_run(study, make_judge(study, served, "coin"), by_batch=True)
    served.refused = ["POST files"] * 9
    work_on(run.pk)
    run.refresh_from_db()
    assert (run.state, run.batches.get().state) == ("stopped", "uploading")
    assert run.reason == "The endpoint took no batch: 503: told to refuse"
    cancel_run(run)
    make_due()
    follow_batches(run.pk, seconds=1)
    assert run.batches.get().state == "ended"
    assert set(run.calls.values_list("state", flat=True)) == {"open"}
    assert served.steps.count("POST batches") == 0


def test_replies_to_a_withdrawn_item_are_paid_for(study, served, slow):
    served.batch_behaviours = "polls=1"
    run = out(study, make_judge(study, served, "coin", **PRICES))
    withdraw_item(run.calls.first().item)
    make_due()
    work_on(run.pk, seconds=1)
    run.refresh_from_db()
    assert (run.state, run.calls.count()) == ("complete", 7)
    assert run.spent > sum(run.calls.values_list("cost", flat=True))
    assert sum(LedgerEntry.objects.filter(run=run).values_list("calls", flat=True)) == 8
    assert list(verify_study(study)) == []


# --- pages and the API ------------------------------------------------------------------------------------------------


def test_a_run_as_batches_is_started_watched_and_cancelled_on_its_pages(
    study, served, slow, owner, client, monkeypatch
):
    judge = make_judge(study, served, "coin")
    judged(study, judge, purpose="trial", max_items=1)
    monkeypatch.setattr("judging.acts.enqueue_run", lambda run: None)
    told = []
    monkeypatch.setattr(follow_loose_batches, "delay", told.append)
    client.force_login(owner)
    address = reverse("admin:judging_judge_start", args=[judge.pk])
    assert (
        "answered within a day"
        in client.post(address, {"purpose": "main", "by_batch": "on"}).content.decode()
    )
    assert client.post(address, {"purpose": "main", "by_batch": "on", "start": "1"}).status_code == 302
    run = Run.objects.order_by("-pk")[0]
    assert run.by_batch
    work_on(run.pk, seconds=60)
    watch = client.get(reverse("admin:judging_run_watch", args=[run.pk])).content.decode()
    assert "batch-1" in watch
    assert "7 in batches" in watch
    page = reverse("admin:judging_run_cancel", args=[run.pk])
    assert "Its batches are cancelled at the endpoint" in client.get(page).content.decode()
    assert client.post(page, {"reason": ""}).status_code == 302
    assert told in ([], [run.pk]), "told on commit"
    run.refresh_from_db()
    assert run.state == "cancelled"
    heuristic = reverse("admin:judging_judge_start", args=[heuristic_judge(study, "longer").pk])
    assert "by_batch" not in client.get(heuristic).content.decode()


def test_the_api_and_the_command_start_runs_as_batches(study, served, owner, capsys, monkeypatch):
    monkeypatch.setattr("judging.acts.enqueue_run", lambda run: None)
    judge = make_judge(study, served, "coin")
    client = APIClient()
    client.force_authenticate(owner)
    runs = f"/api/v1/studies/{study.slug}/runs/"
    told = client.post(runs, {"judge": judge.pk, "by_batch": True}, format="json").json()
    assert (told["by_batch"], told["batches"]) == (True, [])
    call_command("run_judge", study.slug, "--judge", "llm", "--batch", "--yes")
    assert "complete. Calls: 8 ok" in capsys.readouterr().out
    [batch] = client.get(f"{runs}{told['id']}/").json()["batches"]
    assert (batch["state"], batch["status"], batch["calls"], batch["done"]) == ("ended", "completed", 8, 8)
    estimated = client.get(f"/api/v1/studies/{study.slug}/judges/{judge.pk}/estimate/", {"by_batch": "true"})
    assert estimated.json()["seconds"] is None
    call_command("run_judge", study.slug, "--judge", "llm", "--batch", "--estimate")
    assert "answered within a day" in capsys.readouterr().out


# --- answers that are lost --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step", ["POST files", "POST batches", "GET batches/1", "GET files/2/content", "DELETE files/1"]
)
def test_an_answer_that_is_lost_is_no_reason_to_ask_twice(study, served, step):
    served.lost = [step]
    run = by_batch(study, make_judge(study, served, "coin"))
    assert run.state == "complete"
    assert served.lost == []
    assert [served.steps.count(f"POST {what}") for what in ("files", "batches")] == [1, 1]
    assert set(run.calls.values_list("outcome", "attempts")) == {("ok", 1)}
    assert list(verify_study(study)) == []


def test_a_batch_that_the_endpoint_has_forgotten_is_asked_again(study, served, slow, settings):
    run = out(study, make_judge(study, served, "coin"))
    served.batches.clear()
    served.batch_behaviours = ""
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
    make_due()
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "complete"
    assert run.batches.first().reason == "The endpoint does not know the batch or its answers any more."
    assert set(run.calls.values_list("attempts", flat=True)) == {2}


def test_the_key_goes_to_the_endpoint_alone_and_into_no_row(study, served, monkeypatch):
    monkeypatch.setenv("ASSAY_KEY_BATCH", "sk-batch-4f9a8b7c6d5e")
    served.require_key = "sk-batch-4f9a8b7c6d5e"
    judge = make_judge(study, served, "coin")
    judge.endpoint.key_name = "ASSAY_KEY_BATCH"
    judge.endpoint.save()
    run = by_batch(study, judge)
    assert run.state == "complete"
    assert served.authorizations == {"Bearer sk-batch-4f9a8b7c6d5e"}
    monkeypatch.setenv("ASSAY_KEY_BATCH", "sk-wrong-000000000000")
    Call.objects.update(cache_key="")
    run = by_batch(study, judge)
    assert (run.state, run.reason) == ("stopped", "The endpoint refused the key (401).")
    assert "sk-" not in str(list(CallBatch.objects.values())) + str(list(Run.objects.values()))


def test_what_the_model_can_do_is_found_out_first(study, served):
    run = by_batch(study, make_judge(study, served, "coin", probed=False))
    assert run.state == "complete"
    able = run.judging.judge.endpoint.capabilities["coin"]
    assert (able["json_schema"], able["batches"]) == (ABLE["json_schema"], True)
