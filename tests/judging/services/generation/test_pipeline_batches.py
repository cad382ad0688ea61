"""Pipelines as batches: what runs that are asked directly make, one step after the other, whatever befalls a batch."""

from collections import Counter
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from judging.generation.pipelines import PIPELINES
from judging.models import Call, CallBatch, Endpoint, LedgerEntry, ModelPrice, Product, Run
from judging.services.batches import batch_loop
from judging.services.batches.batch_loop import BatchLoop
from judging.services.batches.following import follow_batches, loose_runs
from judging.services.generation.pipeline_runs import (
    batch_refusals,
    estimate_pipeline,
    pipeline_settings,
    start_pipeline,
)
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run, retry_run
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.generating import Stories, chosen, contents, make_endpoint, study_of_queries

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(10)]
MODELS = ("aspen", "birch")


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.01
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
    settings.ASSAY_RUN_ATTEMPTS = 3


@pytest.fixture
def study(db, tmp_path, served):
    make_endpoint(served, batch_price_factor=Decimal("0.5"))
    with PIPELINES.registered(Stories()):
        yield study_of_queries(tmp_path, QUERIES)


def started(study, models=MODELS, **limits):
    settings = pipeline_settings(study, "stories", models=chosen(*models))
    return start_pipeline(study, settings, **limits)


def by_batch(study, **limits):
    run = started(study, by_batch=True, **limits)
    work_on(run.pk)
    return Run.objects.select_related("generating", "study").get(pk=run.pk)


def made(run):
    return {step: contents(run, step) for step in ("titles", "choice", "story")}


def batches(run):
    return [
        (batch.target.partition(":")[2], batch.calls, batch.status) for batch in run.batches.order_by("pk")
    ]


def test_a_run_by_batch_makes_what_a_run_asked_directly_makes(study, served):
    run = by_batch(study)
    assert run.state == "complete"
    # A file has requests for one model; a step's go out together, the next step's after them.
    assert batches(run) == [
        ("aspen", 10, "completed"),
        ("birch", 10, "completed"),
        ("aspen", 10, "completed"),
    ]
    assert set(run.calls.values_list("attempts", "cached")) == {(1, False)}
    ends = run.batches.order_by("pk").values_list("ended_at", "created_at")
    assert ends[2][1] >= max(ends[0][0], ends[1][0])
    asked = served.total
    Call.objects.update(cache_key="")
    served.counts.clear()
    directly = started(study)
    work_on(directly.pk)
    assert served.total - asked == 30
    assert made(run) == made(directly)
    assert Product.objects.filter(unit__run=run, unit__step="story").first().provenance["model"] == "aspen"
    assert list(verify_study(study)) == []
    assert served.files == {}


def test_each_model_is_paid_for_at_its_price_of_batches(study, served):
    here = Endpoint.objects.get()
    for model, price in (("aspen", 1_000), ("birch", 8_000)):
        ModelPrice.objects.create(endpoint=here, model=model, price_prompt=price, price_completion=price)
    settings = pipeline_settings(study, "stories", models=chosen(*MODELS))
    told, full = (estimate_pipeline(study, settings, by_batch=each).cost for each in (True, False))
    assert told == full / 2 > 0
    run = by_batch(study, budget=told * 2)
    assert run.state == "complete"
    spent = Counter()
    for call in run.calls.select_related("unit"):
        price = {"aspen": 500, "birch": 4_000}[call.unit.model["model"]]
        tokens = call.prompt_tokens + call.completion_tokens
        assert call.cost == Decimal(tokens * price) / 1_000_000
        spent[call.unit.model["model"]] += call.cost
    assert run.spent == sum(spent.values()) <= told
    entered = LedgerEntry.objects.filter(run=run).values_list("model", "cost")
    assert {model: sum(cost for name, cost in entered if name == model) for model in MODELS} == dict(spent)


def test_a_line_that_failed_holds_up_its_query_alone_until_it_is_retried(study, served):
    served.behaviours = "400@0.2"
    run = by_batch(study)
    behind = set(run.units.filter(step="titles").exclude(outcome="ok").values_list("query__key", flat=True))
    assert run.state == "complete"
    assert 0 < len(behind) < len(QUERIES)
    assert not behind & contents(run, "choice").keys()
    served.behaviours = ""
    retry_run(run)
    assert work_on(run.pk).state == "complete"
    assert len(contents(run, "story")) == len(QUERIES)
    assert set(run.units.values_list("outcome", flat=True)) == {"ok"}


def test_what_a_batch_left_unanswered_is_asked_in_a_further_one(study, served, settings):
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 3_600
    served.batch_behaviours = "expire"
    run = started(study, by_batch=True)
    work_on(run.pk, seconds=60)
    served.batch_behaviours = ""
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
    make_due()
    assert work_on(run.pk).state == "complete"
    first, second, *further = batches(run)
    assert [first[2], second[2]] == ["expired", "expired"]
    assert {model for model, *_ in further} == set(MODELS)
    assert len(contents(run, "story")) == len(QUERIES)


class Killed(BaseException):
    """Nothing of the worker's own runs after it."""


@pytest.mark.parametrize("where", ["_create", "_look_at", "_collect"])
def test_a_worker_that_is_killed_on_the_way_loses_nothing_and_asks_nothing_twice(
    study, served, monkeypatch, settings, where
):
    """After the upload, while the batch is at the endpoint, and when its answers are to be read: at each step again."""
    settings.ASSAY_RUN_LEASE_SECONDS = 0.1
    step, kills = getattr(BatchLoop, where), []

    async def die_once(self, batch, *arguments):
        if batch.pk not in kills:
            kills.append(batch.pk)
            raise Killed
        return await step(self, batch, *arguments)

    monkeypatch.setattr(BatchLoop, where, die_once)
    monkeypatch.setattr(
        BatchLoop, "_steps",
        {state: die_once if each is step else each for state, each in BatchLoop._steps.items()},
    )  # fmt: skip
    run = started(study, by_batch=True)
    for _ in range(10):
        try:
            work_on(run.pk, over_limit=True)
            break
        except Killed:
            continue
    run.refresh_from_db()
    assert (run.state, len(kills)) == ("complete", 3)
    assert set(run.calls.values_list("attempts", flat=True)) == {1}
    assert len(served.log) == 30, "each request was asked once"
    assert (
        sum(LedgerEntry.objects.filter(run=run, purpose="generation").values_list("calls", flat=True)) == 30
    )
    assert Counter(run.units.values_list("query", "step", "key")).most_common(1)[0][1] == 1
    assert len(contents(run, "story")) == len(QUERIES)
    assert list(verify_study(study)) == []


def make_due():
    CallBatch.objects.update(due_at=timezone.now())


def test_a_run_that_stands_still_gets_what_is_out_and_a_cancelled_one_has_it_cancelled(
    study, served, settings
):
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 3_600
    served.batch_behaviours = "polls=1"
    run = started(study, by_batch=True)
    assert work_on(run.pk, seconds=60).resume_in > 60
    assert batches(run) == [("aspen", 10, "validating"), ("birch", 10, "validating")]
    pause_run(run)
    make_due()
    assert loose_runs() == [run.pk]
    follow_batches(run.pk, seconds=1)
    assert [status for *_, status in batches(run)] == ["completed", "completed"]
    assert len(contents(run, "titles")) == len(QUERIES)
    assert not run.units.filter(step="choice").exists()
    served.batch_behaviours = "polls=9"
    resume_run(run)
    work_on(run.pk, seconds=60)
    assert batches(run)[2] == ("aspen", 10, "validating")
    cancel_run(run)
    for _ in range(3):
        make_due()
        follow_batches(run.pk, seconds=1)
    assert batches(run)[2] == ("aspen", 10, "cancelled")
    assert loose_runs() == []
    assert len(contents(run, "story")) < len(QUERIES), "what was answered before is kept"


def test_what_can_t_be_asked_as_batches_is_refused_with_the_reason(study, served, tmp_path):
    make_endpoint(served, "there", models=MODELS)
    elsewhere = [*chosen("aspen"), *chosen("birch", at="there")]
    settings = pipeline_settings(study, "stories", models=elsewhere)
    with pytest.raises(Refused, match="at one endpoint; these are at here, there"):
        start_pipeline(study, settings, by_batch=True)
    with pytest.raises(Refused, match="at one endpoint"):
        estimate_pipeline(study, settings, by_batch=True)
    here = Endpoint.objects.get(name="here")
    here.capabilities["birch"]["batches"] = False
    here.save()
    with pytest.raises(CommandError, match="The endpoint here has no Batch API"):
        call_command(
            "generate", "queries", pipeline="stories", endpoint="here", model=list(MODELS), batch=True
        )
    assert batch_refusals(pipeline_settings(study, "stories", models=chosen("aspen"))) == []
    assert Run.objects.count() == 0


def test_the_command_starts_batches_and_stays_until_all_steps_are_made(study, served, capsys):
    call_command("generate", "queries", pipeline="stories", endpoint="here", model=["aspen"], batch=True)
    run = Run.objects.get()
    assert (run.by_batch, run.state, run.batches.count()) == (True, "complete", 2)
    assert "story: 10 made" in capsys.readouterr().out
    assert batch_loop.NO_BATCHES not in run.reason
