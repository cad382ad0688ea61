"""Runs of embedding judges at an endpoint: what they say, what they cost, and what misbehaviour does to them."""

from decimal import Decimal

import pytest

from evaluation.models import Answer, Item, Query
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.verification import verify_study
from judging.models import Endpoint, LedgerEntry
from judging.selectors import judges_in_figures
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import edit_judge, preview_request
from judging.services.runs.judge_runs import start_run
from judging.services.runs.trials import needs_trial
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import PRICES, costs_what_was_counted, judged, make_judge
from tests.judging.endpoint.embeddings import embed
from tests.judging.table import MISBEHAVIOUR

REFERENCES = ["Leek soup for two, with potatoes.", "A tin of soup."]
NEAR, FAR = "Leek soup for two.", "Buy bread and cheese instead, slowly."
# One of each kind of end that the backend gives a call; what ends how is asked of the backend itself.
MISBEHAVIOURS = {
    "": "complete: 8 ok, asked 8 times",
    "deaf_base64": "complete: 8 ok, asked 8 times",
    "500": "complete: 8 failed, asked 16 times",
    "odd": "complete: 8 failed, asked 8 times",
    "no_embeddings": "stopped: 8 open",
}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def quick(settings):
    settings.ASSAY_RUN_BACKOFF_SECONDS = 0.02
    settings.ASSAY_RUN_ATTEMPTS = 2


def make_once(owner):
    return factories.launch(make_draft("soup", owner))


def make_draft(slug, owner):
    """Eight pairs; aspen's responses are near the reference."""
    study = factories.make_study(
        slug, owner=owner, arms=factories.PAPER_ARMS[:1], queries=8, training=False, checks=0
    )
    Query.objects.filter(study=study).update(references=REFERENCES)
    for item in study.items.all():
        for response in item.responses.select_related("system"):
            response.text = NEAR if response.system.key == "aspen" else FAR
            response.save()
    return study


@pytest.fixture
def draft(owner):
    return make_draft("stew", owner)


def make(study, served, behaviour="", **fields):
    model = f"bag:{behaviour}" if behaviour else "bag"
    return make_judge(study, served, model, name="near", backend="embedding", **fields)


def near_of(item):
    return next(each["part"] for each in item.stimulus["responses"] if each["text"] == NEAR)


def cosine(one, other):
    return sum(a * b for a, b in zip(embed(one), embed(other), strict=True))


def test_the_response_nearer_to_the_nearest_reference_wins_and_each_has_its_cosine(study, served):
    run, _ = judged(study, make(study, served))
    assert run.state == "complete"
    assert list(verify_study(study)) == []
    for judgment in run.judging.rater.judgments.select_related("item"):
        near = near_of(judgment.item)
        found = {(each.question, each.part): each.label or each.number for each in judgment.answers.all()}
        assert found["preference", ""] == near
        for response in judgment.item.stimulus["responses"]:
            best = max(cosine(response["text"], each) for each in REFERENCES)
            assert found["measure:cosine", response["part"]] == pytest.approx(best)
    about = run.judging.rater.about
    assert (about["questions"], about["reference"], about["heuristic"]) == (["preference"], True, False)
    assert [each["name"] for each in about["measures"]] == ["cosine"]
    [said] = judges_in_figures(study)
    assert said.startswith("Judge near v1: embeddings compared with the reference, by the model bag.")


def test_all_texts_of_an_item_are_one_request_and_none_is_in_it_twice(draft, served):
    for item in draft.items.all():
        response = item.responses.get(system__key="birch")
        response.text = REFERENCES[1]
        response.save()
    study = factories.launch(draft)
    run, _ = judged(study, make(study, served))
    assert served.total == 8
    assert {tuple(seen.body["input"]) for seen in served.log} == {(*REFERENCES, NEAR)}
    numbers = Answer.objects.filter(judgment__rater=run.judging.rater, question="measure:cosine")
    assert max(numbers.values_list("number", flat=True)) == pytest.approx(1)


def test_within_the_margin_it_is_a_tie_and_another_margin_is_not_paid_for(study, served):
    judge = make(study, served)
    judged(study, judge)
    wide = edit_judge(judge, options={"margin": 2})
    run, _ = judged(study, wide)
    labels = Answer.objects.filter(judgment__rater=run.judging.rater, question="preference")
    assert set(labels.values_list("label", flat=True)) == {"tie"}
    assert (served.total, run.spent) == (8, 0)
    assert "a tie where they differ by no more than 2." in " ".join(judges_in_figures(study))


def test_an_item_that_can_t_be_compared_fails_with_the_reason_and_is_not_sent(draft, served):
    without, blank = Item.objects.filter(study=draft).order_by("pk")[:2]
    Query.objects.filter(pk=without.query_id).update(references=["  "])
    response = blank.responses.get(system__key="birch")
    response.text = " \n"
    response.save()
    study = factories.launch(draft)
    judge = make(study, served, price_prompt=1_000)
    told = estimate(study, judge)
    assert "2 of 8 sampled calls will fail without being sent: " in told.basis
    run, _ = judged(study, judge)
    assert run.state_text == "complete, 2 of 8 not answered"
    failed = run.calls.filter(outcome="failed")
    assert set(failed.values_list("item", "error", "attempts", "cost")) == {
        (without.pk, "The query has no human-written reference.", 0, 0),
        (blank.pk, "A response has no text to embed.", 0, 0),
    }
    assert served.total == 6
    assert LedgerEntry.objects.get(run=run).calls == 6
    assert run.judging.rater.judgments.filter(outcome="failed").count() == 2


def test_the_estimate_is_of_prompt_tokens_alone_and_the_run_costs_what_they_cost(study, served):
    judge = make(study, served, price_prompt=1_000, price_completion=9_000)
    told = estimate(study, judge)
    characters = sum(map(len, [*REFERENCES, NEAR, FAR]))
    assert (told.calls, told.prompt_tokens, told.completion_tokens) == (8, round(8 * characters / 4), 0)
    assert told.cost == Decimal(told.prompt_tokens) / 1_000
    assert not told.measured
    assert needs_trial(judge)
    run, _ = judged(study, judge)
    words = sum(len(text.split()) for text in [*REFERENCES, NEAR, FAR])
    assert run.spent == Decimal(8 * words) / 1_000
    assert LedgerEntry.objects.get(run=run).prompt_tokens == 8 * words
    assert not needs_trial(judge)
    again = estimate(study, judge)
    assert (again.cached_share, again.cost, again.measured) == (1, 0, True)


def test_a_budget_holds(draft, served):
    for number, item in enumerate(draft.items.all()):
        response = item.responses.get(system__key="birch")
        response.text = f"{FAR} {number}"  # or one reply would do for all
        response.save()
    judge = make(factories.launch(draft), served, price_prompt=1_000)
    bound = sum(len(text) + 16 for text in [*REFERENCES, NEAR, f"{FAR} 1"])
    budget = Decimal(bound) / 1_000 * Decimal("1.1")
    run, _ = judged(draft, judge, budget=budget)
    assert run.state == "stopped"
    assert 0 < run.spent <= budget
    assert 0 < run.calls.filter(outcome="ok").count() < 8


def test_the_probe_embeds_one_text_and_is_asked_once(study, served):
    judge = make(study, served, probed=False)
    judged(study, judge)
    assert served.total == 9
    assert Endpoint.objects.get().capabilities == {"bag": {"embeddings": 64}}
    assert LedgerEntry.objects.filter(purpose="probe").count() == 1
    run = start_run(study, judge, purpose="anchor")
    work_on(run.pk)
    assert served.total == 17


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("babble", "gives no embeddings at this endpoint"), ("no_embeddings", "knows no such model or path")],
)
def test_a_model_without_embeddings_stops_the_run_in_words(study, served, behaviour, said):
    run, _ = judged(study, make(study, served, behaviour, probed=False))
    assert run.state == "stopped"
    assert said in run.reason
    assert run.calls.count() == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"samples": 2}, "one sample in one order"),
        ({"orders": "both"}, "one sample in one order"),
        ({"template": "{query} {responses} {format}"}, "can't have a prompt of its own"),
        ({"rationale": "before"}, "can't have a rationale"),
        ({"extra": {"input": ["x"]}}, "input can't be among the further parameters"),
        ({"questions": ["note"]}, "'note' can't be answered by a number"),
        ({"options": {"margin": -1}}, "a number from 0 is needed"),
        ({"endpoint": None}, "needs an endpoint"),
    ],
)
def test_settings_without_a_meaning_are_refused(study, served, fields, said):
    judge = make(study, served)
    with pytest.raises(FieldsRefused, match=said):
        edit_judge(judge, **fields)


def test_further_parameters_are_sent_and_the_preview_shows_the_texts(study, served):
    judge = make(study, served, extra={"dimensions": 16})
    item = study.items.first()
    shown = [message["content"] for message in preview_request(judge, item).messages]
    assert shown[:2] == REFERENCES
    assert set(shown[2:]) == {NEAR, FAR}
    judged(study, judge, max_items=1)
    [seen] = served.log
    assert (seen.body["dimensions"], seen.body["input"]) == (16, shown)


@pytest.mark.parametrize(
    ("behaviour", "expected"), MISBEHAVIOURS.items(), ids=lambda value: value or "well-behaved"
)
def test_what_an_endpoint_does_to_a_run_of_embeddings(study, served, record_property, behaviour, expected):
    judge = make(study, served, behaviour, in_flight=8)
    run, _ = judged(study, judge)
    counts = {}
    for state, outcome in run.calls.values_list("state", "outcome"):
        counts[outcome or state] = counts.get(outcome or state, 0) + 1
    what = ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    asked = f", asked {served.total} times" if run.state == "complete" else ""
    found = f"{run.state}: {what}{asked}"
    error = run.reason or run.calls.exclude(error="").values_list("error", flat=True).first() or ""
    record_property(MISBEHAVIOUR, (f"embedding: {behaviour or '(well-behaved)'}", found, error))
    assert found == expected
    judgments = run.judging.rater.judgments
    assert judgments.count() == run.calls.filter(state="final").count()
    answered = Answer.objects.filter(judgment__in=judgments.exclude(outcome="ok"))
    assert not answered.exists(), "nothing is made up where nothing came"
    assert all(each.trace["error"] for each in judgments.exclude(outcome="ok"))


@pytest.mark.parametrize("behaviour", ["nan", "uneven", "empty", "truncated", "500:billed", "404:billed"])
def test_vectors_that_are_none_are_paid_for(study, served, behaviour):
    name, *beside = behaviour.split(":")
    model = ":".join(["bag", f"{name}@0.5", *beside])
    judge = make_judge(study, served, model, name="near", backend="embedding", **PRICES)
    run, _ = judged(study, judge)
    assert any(each.behaviour == name for each in served.log)
    costs_what_was_counted(run, served)


def test_a_failing_fifth_is_made_good(study, served, settings):
    settings.ASSAY_RUN_ATTEMPTS = 8
    served.behaviours = "500@0.2:half@0.2"
    run, _ = judged(study, make(study, served))
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}
    assert run.judging.rater.judgments.count() == 8
