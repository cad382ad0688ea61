"""Runs of the perplexity judge: each system's own model at its own endpoint, at its own price."""

import math
from decimal import Decimal

import pytest

from evaluation.models import Answer, Item, Query
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.verification import verify_study
from judging.models import Endpoint, LedgerEntry
from judging.selectors import judges_in_figures
from judging.services.endpoints.access import create_endpoint
from judging.services.endpoints.prices import set_price
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge, edit_judge, preview_request
from judging.services.runs.judge_runs import start_run
from judging.services.runs.lifecycle import retry_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged
from tests.judging.endpoint.completions import logprob, tokens_of
from tests.judging.table import MISBEHAVIOUR

REFERENCE = "Leek soup for two, with potatoes."
# One of each kind of end that the backend gives a call; what ends how is asked of the backend itself.
MISBEHAVIOURS = {
    "": "complete: 16 ok, asked 16 times",
    "vllm:no_echo": "complete: 16 ok, asked 16 times",
    "500": "complete: 16 failed, asked 32 times",
    "odd": "complete: 16 failed, asked 16 times",
    "no_completions": "stopped: 16 open",
}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def other():
    """Another server, whose log-probabilities are others."""
    with endpoint.serve(seed=7) as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.02
    settings.ASSAY_RUN_ATTEMPTS = 2


def make_once(owner):
    return factories.launch(make_draft("soup", owner))


def make_draft(slug, owner):
    """Eight pairs of aspen and birch, each with a query of its own."""
    study = factories.make_study(
        slug, owner=owner, arms=factories.PAPER_ARMS[:1], queries=8, training=False, checks=0
    )
    for number, query in enumerate(Query.objects.filter(study=study).order_by("pk")):
        query.text, query.references = f"What is soup number {number}?", [REFERENCE, "Another."]
        query.save()
    return study


@pytest.fixture
def draft(owner):
    return make_draft("stew", owner)


def place(name, served, *models, form="echo", **fields):
    """An endpoint of which it is known what these models can do."""
    made = create_endpoint(user=None, name=name, base_url=served.url, timeout_seconds=30, **fields)
    made.capabilities = {model: {"prompt_logprobs": form, "prompt_logprobs_problem": ""} for model in models}
    made.save()
    return made


def make(study, here, *models, **fields):
    models = models or ("aspen = m1", "birch = m2")
    options = {"models": list(models), **fields.pop("options", {})}
    return create_judge(study, name="ppl", backend="perplexity", endpoint=here, options=options, **fields)


def expected(seed, query, reference=REFERENCE):
    before = f"{query}\n\n"
    tokens = tokens_of(before + reference)
    start = next(n for n in range(len(tokens)) if len("".join(tokens[: n + 1])) > len(before))
    values = [logprob(seed, tokens[:n], tokens[n]) for n in range(start, len(tokens))]
    return math.exp(-sum(values) / len(values))


def test_each_system_s_model_is_asked_at_its_endpoint_and_the_lower_perplexity_wins(study, served, other):
    here, there = place("here", served, "m1"), place("there", other, "m2")
    here.studies.add(study)
    judge = make(study, here, "aspen = m1", "birch = m2 @ there")
    run, _ = judged(study, judge)
    assert run.state == "complete"
    assert (served.total, other.total) == (8, 8)
    assert {seen.model for seen in served.log} == {"m1"}
    assert {seen.model for seen in other.log} == {"m2"}
    assert there.studies.filter(pk=study.pk).exists(), "whoever may, opens what they choose"
    for judgment in run.judging.rater.judgments.select_related("item"):
        found = {(each.question, each.part): each.label or each.number for each in judgment.answers.all()}
        query = judgment.item.stimulus["query"]["text"]
        wanted = {
            each["part"]: expected(0 if each["system"] == "aspen" else 7, query)
            for each in judgment.item.stimulus["responses"]
        }
        assert found.pop(("preference", "")) == min(wanted, key=wanted.get)
        assert found == {("measure:perplexity", part): pytest.approx(value) for part, value in wanted.items()}
    assert list(verify_study(study)) == []
    about = run.judging.rater.about
    assert (about["reference"], about["questions"]) == (True, ["preference"])
    [said] = judges_in_figures(study)
    assert said.startswith(
        "Judge ppl v1: perplexity of the reference, by the models aspen = m1, birch = m2 @ there."
    )


def test_each_call_is_paid_at_its_own_price_and_the_run_keeps_the_prices_of_its_start(study, served, other):
    here, there = place("here", served, "m1"), place("there", other, "m2")
    set_price(here, "m1", Decimal(1_000), Decimal(0))
    set_price(there, "m2", Decimal(2_000), Decimal(500))
    judge = make(study, here, "aspen = m1", "birch = m2 @ there")
    told = estimate(study, judge)
    assert (told.calls, told.completion_tokens) == (16, 16)
    run = start_run(study, judge)
    set_price(there, "m2", Decimal(9_999), Decimal(9_999))
    work_on(run.pk)
    run.refresh_from_db()
    tokens = sum(len(tokens_of(seen.body["prompt"])) for seen in served.log)
    ledger = {
        (each.endpoint.name, each.model): (each.calls, each.cost)
        for each in LedgerEntry.objects.filter(run=run, purpose="judging")
    }
    assert ledger == {
        ("here", "m1"): (8, Decimal(tokens) / 1_000),
        ("there", "m2"): (8, Decimal(2 * tokens) / 1_000 + Decimal(8) * 500 / 1_000_000),
    }
    assert run.spent == sum(cost for _, cost in ledger.values())
    characters = sum(len(seen.body["prompt"]) for seen in served.log) / 4
    assert float(told.cost) == pytest.approx(3 * characters / 1_000 + 0.004, rel=0.02)


def test_a_budget_holds_over_all_endpoints(study, served, other):
    here, there = place("here", served, "m1", max_in_flight=2), place("there", other, "m2", max_in_flight=2)
    set_price(there, "m2", Decimal(2_000), Decimal(0))
    run, _ = judged(study, make(study, here, "aspen = m1", "birch = m2 @ there"), budget=Decimal("0.3"))
    assert run.state == "stopped"
    assert 0 < run.spent <= Decimal("0.3")


def test_a_system_without_a_model_makes_the_pair_fail_and_nothing_of_it_is_sent(study, served):
    run, _ = judged(study, make(study, place("here", served, "m1"), "aspen = m1"))
    assert run.state_text == "complete, 16 of 16 not answered"
    assert served.total == 0
    assert set(run.calls.values_list("outcome", "error", "attempts")) == {
        ("failed", "No model: the judge maps none to birch.", 0)
    }
    failed = run.judging.rater.judgments.filter(outcome="failed")
    assert failed.count() == 8
    assert "No model" in str(failed.first().trace)


def test_a_query_without_a_reference_fails_with_the_reason(draft, served):
    item = Item.objects.filter(study=draft).order_by("pk")[0]
    Query.objects.filter(pk=item.query_id).update(references=[])
    study = factories.launch(draft)
    run, _ = judged(study, make(study, place("here", served, "m1", "m2")))
    assert set(run.calls.filter(outcome="failed").values_list("item", "error")) == {
        (item.pk, "The query has no human-written reference.")
    }
    assert served.total == 14


def test_a_second_run_is_answered_from_the_cache_and_a_margin_makes_ties(study, served):
    judge = make(study, place("here", served, "m1", "m2"))
    judged(study, judge)
    wide = edit_judge(judge, options={**judge.options, "margin": 1_000})
    run, _ = judged(study, wide)
    assert served.total == 16
    labels = Answer.objects.filter(judgment__rater=run.judging.rater, question="preference")
    assert set(labels.values_list("label", flat=True)) == {"tie"}


def test_one_model_behind_two_systems_is_asked_once_where_its_answer_is_known(study, served, settings):
    settings.ASSAY_BATCH_SIZE = 1
    here = place("here", served, "m", max_in_flight=1)
    run, _ = judged(study, make(study, here, "aspen = m", "birch = m"), in_flight=1)
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    labels = Answer.objects.filter(judgment__rater=run.judging.rater, question="preference")
    assert set(labels.values_list("label", flat=True)) == {"tie"}


def test_the_text_before_the_reference_may_be_a_chat_template(study, served):
    judge = make(
        study,
        place("here", served, "m1", "m2"),
        options={"prompt": "<|user|>\\n{query}<|end|>\\n<|assistant|>\\n"},
    )
    item = study.items.order_by("pk")[0]
    shown = preview_request(judge, item, step="r1")
    query = item.stimulus["query"]["text"]
    assert [each["content"] for each in shown.messages] == [
        f"<|user|>\n{query}<|end|>\n<|assistant|>\n",
        REFERENCE,
    ]
    judged(study, judge, max_items=1)
    assert {seen.body["prompt"][:9] for seen in served.log} == {"<|user|>\n"}


# --- what the models can do -------------------------------------------------------------------------------------------


def test_each_model_is_probed_once_and_what_is_known_for_chat_stays(study, served, other):
    here, there = place("here", served), place("there", other)
    here.capabilities = {"m1": {"token_limit": "max_tokens"}}
    here.save()
    judge = make(study, here, "aspen = m1", "birch = m2:vllm:no_echo @ there")
    run, _ = judged(study, judge)
    assert run.state == "complete"
    assert (served.total, other.total) == (9, 10), "the second form only where the first is refused"
    assert Endpoint.objects.get(name="here").capabilities["m1"] == {
        "token_limit": "max_tokens",
        "prompt_logprobs": "echo",
        "prompt_logprobs_problem": "",
    }
    there.refresh_from_db()
    assert there.capabilities["m2:vllm:no_echo"]["prompt_logprobs"] == "prompt_logprobs"
    assert {(each.endpoint.name, each.calls) for each in LedgerEntry.objects.filter(purpose="probe")} == {
        ("here", 1), ("there", 2)
    }  # fmt: skip
    work_on(start_run(study, judge, purpose="anchor").pk)
    assert (served.total, other.total) == (17, 18)


def test_an_endpoint_without_an_echo_is_told_apart_and_refused_in_words(study, served):
    judge = make(study, place("here", served), "aspen = m1:no_echo", "birch = m2")
    run, _ = judged(study, judge)
    assert run.state == "stopped"
    assert run.reason == (
        "The model m1:no_echo gives no log-probabilities of a prompt: "
        "The endpoint does not give back the prompt with its log-probabilities (completions with echo)."
    )
    assert not run.calls.exclude(state="open").exists()
    judge = judge.__class__.objects.select_related("endpoint").get(pk=judge.pk)
    with pytest.raises(Refused, match="gives no log-probabilities of a prompt"):
        estimate(study, judge)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "fields", "said"),
    [
        ([], {}, "Name the model of at least one system"),
        (["aspen"], {}, "'aspen' is not of the form"),
        (["aspen = m", "aspen = n"], {}, "aspen has two models"),
        (["elm = m"], {}, "no system 'elm'"),
        (["aspen = m @ nowhere"], {}, "no endpoint 'nowhere'"),
        (["aspen = m"], {"model": "m"}, "leave this empty"),
        (["aspen = m"], {"samples": 2}, "one sample in one order"),
        (["aspen = m"], {"extra": {"echo": False}}, "echo can't be among"),
        (["aspen = m"], {"options": {"prompt": "no place"}}, "must stand in it once"),
        (["aspen = m"], {"endpoint": None}, "needs an endpoint"),
    ],
)
def test_what_does_not_fit_is_refused(study, served, models, fields, said):
    options = {"models": models, **fields.pop("options", {})}
    fields = {"endpoint": place("here", served), **fields, "options": options}
    with pytest.raises(FieldsRefused, match=said):
        create_judge(study, name="ppl", backend="perplexity", **fields)


def test_every_endpoint_must_be_open_to_the_study_and_keep_what_is_private(draft, served, other, colleague):
    Query.objects.filter(study=draft).update(split="private")
    study = factories.launch(draft)
    here = place("here", served, "m1", local=True)
    place("there", other, "m2")
    here.studies.add(study)
    with pytest.raises(FieldsRefused, match="The endpoint there is not open to this study"):
        make(study, here, "aspen = m1", "birch = m2 @ there", user=colleague)
    judge = make(study, here, "aspen = m1", "birch = m2 @ there")
    with pytest.raises(Refused, match="the endpoint there is not marked as one that keeps"):
        start_run(study, judge)
    Endpoint.objects.filter(name="there").update(local=True)
    run = start_run(study, judge)
    Endpoint.objects.filter(name="there").update(local=False)
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "there is not marked" in run.reason
    assert (served.total, other.total) == (0, 0)


# --- misbehaviour -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "wanted"), MISBEHAVIOURS.items(), ids=lambda value: value or "well-behaved"
)
def test_what_an_endpoint_does_to_a_run_of_perplexities(study, served, record_property, behaviour, wanted):
    models = [f"{name}:{behaviour}" if behaviour else name for name in ("m1", "m2")]
    form = "prompt_logprobs" if "vllm" in behaviour else "echo"
    here = place("here", served, *models, form=form, max_in_flight=8)
    run, _ = judged(study, make(study, here, f"aspen = {models[0]}", f"birch = {models[1]}"))
    counts = {}
    for state, outcome in run.calls.values_list("state", "outcome"):
        counts[outcome or state] = counts.get(outcome or state, 0) + 1
    what = ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    asked = f", asked {served.total} times" if run.state == "complete" else ""
    found = f"{run.state}: {what}{asked}"
    error = run.reason or run.calls.exclude(error="").values_list("error", flat=True).first() or ""
    record_property(MISBEHAVIOUR, (f"perplexity: {behaviour or '(well-behaved)'}", found, error))
    assert found == wanted
    judgments = run.judging.rater.judgments
    assert judgments.count() == (8 if run.state == "complete" else 0), "once for both halves of a pair"
    answered = Answer.objects.filter(judgment__in=judgments.exclude(outcome="ok"))
    assert not answered.exists(), "nothing is made up where nothing came"
    assert judgments.filter(outcome="ok").count() == counts.get("ok", 0) / 2


def test_one_endpoint_that_fails_costs_its_half_of_each_pair_and_a_retry_makes_it_good(study, served, other):
    here = place("here", served, "m1")
    place("there", other, "m2")
    other.behaviours = "400"
    run, _ = judged(study, make(study, here, "aspen = m1", "birch = m2 @ there"))
    assert sorted(run.calls.values_list("outcome", flat=True)) == ["failed"] * 8 + ["ok"] * 8
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"failed"}
    other.behaviours = ""
    assert retry_run(run) == 8
    work_on(run.pk)
    assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"ok"}
    assert served.total == 8, "what was answered is not asked again"


def test_failing_fifths_at_two_endpoints_are_made_good(study, served, other, settings):
    settings.ASSAY_RUN_ATTEMPTS = 8
    here = place("here", served, "m1")
    place("there", other, "m2")
    served.behaviours, other.behaviours = "500@0.2:half@0.2", "429=0.01@0.3"
    run, _ = judged(study, make(study, here, "aspen = m1", "birch = m2 @ there"))
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    assert run.judging.rater.judgments.count() == 8
