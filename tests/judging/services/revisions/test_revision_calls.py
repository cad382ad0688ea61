"""Revisions that participants ask for are calls of a run: counted, paid for, and held to its budget."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.extension import RevisionFailed
from evaluation.models import Query
from evaluation.refusals import Refused, WrongState
from evaluation.services.studies.verification import verify_study
from judging.models import Call, LedgerEntry, Run, Spending
from judging.services.judges import edit_judge
from judging.services.revisions.draft_revision import revise_draft, reviser_name
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run, retry_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from judging.services.runs.workers import unattended_runs
from tests import factories
from tests.calibrations import NEW, OLD, calibration_study, form, kept
from tests.judging.build import make_judge
from tests.judging.endpoint import serve

PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000)}


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


@pytest.fixture
def study(db, server):
    server.reset()
    return calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD]]})


def revise(study, key="q1"):
    return revise_draft(study.items.get(key=key), [OLD], "Split the first entry.")


def name(study, key="q1"):
    return reviser_name(study.items.get(key=key))


def test_each_is_a_call_with_its_tokens_and_cost(study, server):
    make_judge(study, server, **PRICES)
    revise(study)
    revise(study)
    revise(study, "q2")
    run = Run.objects.get()
    assert (run.judging.purpose, run.state, run.state_text) == ("revision", "running", "open")
    calls = list(run.calls.order_by("pk").values_list("item__key", "replicate", "state", "outcome"))
    assert calls == [("q1", 0, "final", "ok"), ("q1", 1, "final", "ok"), ("q2", 0, "final", "ok")]
    at = run_progress(run)
    assert at.final == 3
    assert at.spent == sum(call.cost for call in run.calls.all()) > 0
    assert at.tokens > 0
    assert all(call.raw for call in run.calls.all())
    assert not run.judging.rater.judgments.exists()
    assert list(verify_study(study)) == []


def test_what_a_participant_asks_for_stands_in_the_ledger(client, study, server, settings):
    """From the button of their page to the run's account."""
    settings.CELERY_TASK_ALWAYS_EAGER = True
    make_judge(study, server, **PRICES)
    participant = enter(study, Visit("link", "person-1"))
    assignment = participant.assignments.get()
    fields = {**form(kept(OLD, "r1.e1")), "round.instruction": "Split it."}
    asked = client.post(f"/p/{participant.token}/a/{assignment.pk}/revise/", fields)
    assert asked.status_code == 303
    assert assignment.draft_rounds.get().state == "done"
    [call] = Call.objects.filter(item=assignment.item)
    assert (call.outcome, call.prompt_tokens > 0, call.cost > 0) == ("ok", True, True)
    assert call.run.spent == call.cost


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [("babble", "unparsed"), ("refusal", "refused"), ("500", "failed"), ("401:billed", "failed")],
)
def test_what_brought_nothing_is_in_the_ledger_too(study, server, behaviour, outcome):
    make_judge(study, server, f"longer:{behaviour}", **PRICES)
    with pytest.raises(RevisionFailed):
        revise(study)
    call = Call.objects.get()
    assert (call.state, call.outcome) == ("final", outcome)
    assert call.error
    assert Run.objects.get().spent == call.cost
    assert (call.cost > 0) == (behaviour != "500"), "what reports its tokens is paid for, whatever it says"
    assert [call.prompt_tokens, call.completion_tokens] == server.reported


def test_what_was_never_sent_is_not_in_the_ledger(study, server, settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01
    judge = make_judge(study, server, "longer:500", **PRICES)
    judge.endpoint.capabilities = {}
    judge.endpoint.save()
    with pytest.raises(RevisionFailed):
        revise(study)
    call = Call.objects.get()
    assert (call.state, call.outcome, call.attempts) == ("final", "failed", 0)
    assert not LedgerEntry.objects.filter(purpose=Spending.REVISION).exists()


def test_the_budget_holds_them(study, server):
    judge = make_judge(study, server, **PRICES)
    run = start_run(study, judge, purpose="revision", budget=Decimal("0.01"))
    assert name(study) == "longer"
    with pytest.raises(RevisionFailed, match="No model is available in this study any more"):
        revise(study)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "The budget of 0.01 would be exceeded" in run.reason
    assert (server.total, run.spent, run.calls.count()) == (0, 0, 0)
    assert name(study) == "", "no button any more"
    resume_run(run, budget=Decimal(100))
    assert name(study) == "longer"
    revise(study)
    run.refresh_from_db()
    assert 0 < run.spent <= 100
    assert run.state == "running"


def test_a_run_that_is_paused_or_cancelled_answers_nobody(study, server):
    make_judge(study, server)
    revise(study)
    run = Run.objects.get()
    pause_run(run)
    assert name(study) == ""
    resume_run(run)
    assert run.state == "running"
    assert name(study) == "longer"
    cancel_run(run)
    assert run.state == "cancelled"
    assert name(study) == ""
    start_run(study, run.judging.judge, purpose="revision")
    assert name(study) == "longer"


def test_a_new_version_goes_on_with_what_is_left(study, server):
    judge = make_judge(study, server, **PRICES)
    start_run(study, judge, purpose="revision", budget=Decimal(100))
    revise(study)
    newer = edit_judge(judge, max_tokens=5_000)
    assert newer.version == 2, "it has run"
    revise(study)
    old, new = Run.objects.order_by("pk")
    assert (old.state, new.state, new.judging.judge) == ("complete", "running", newer)
    assert new.budget == 100 - old.spent


def test_no_worker_takes_it_for_a_run_over_the_items(study, server):
    run = start_run(study, make_judge(study, server), purpose="revision")
    assert unattended_runs() == []
    assert work_on(run.pk).state == "running"
    assert (server.total, run.calls.count()) == (0, 0)
    with pytest.raises(WrongState, match="participants ask again themselves"):
        retry_run(run)


def test_where_there_is_nothing_to_revise_none_is_opened(study, server):
    judge = make_judge(study, server)
    start_run(study, judge, purpose="revision")
    with pytest.raises(Refused, match="already holds the revisions of llm"):
        start_run(study, judge, purpose="revision")
    pairs = factories.launch(factories.make_study("pairs"))
    with pytest.raises(Refused, match="in which entries are calibrated"):
        start_run(pairs, make_judge(pairs, server), purpose="revision")


def test_a_worker_that_was_lost_holds_no_money(study, server):
    judge = make_judge(study, server, **PRICES)
    run = start_run(study, judge, purpose="revision", budget=Decimal(100))
    revise(study)
    Call.objects.update(
        state="leased", outcome="", reserved=100, lease="00000000-0000-0000-0000-000000000001",
        leased_until=timezone.now() - timedelta(seconds=1),
    )  # fmt: skip
    revise(study)
    outcomes = run.calls.order_by("pk").values_list("outcome", "reserved")
    assert list(outcomes) == [("failed", 0), ("ok", 0)]


def test_an_item_of_a_private_split_is_asked_about_nowhere_else(study, server):
    make_judge(study, server)
    Query.objects.filter(study=study, key="q1").update(split="private")
    assert (name(study, "q1"), name(study, "q2")) == ("", "longer")
    with pytest.raises(RevisionFailed, match="No model is available in this study any more"):
        revise(study, "q1")
    assert server.total == 0
    assert revise(study, "q2")
    call_command("set_endpoint", "here", "--local")
    assert revise(study, "q1")
