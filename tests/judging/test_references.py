"""The reference that a judge compares with: people's, or a system's; and a duel of responses with it."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analytics.reports.build import build_report
from analytics.reports.page import report_page
from evaluation.models import Answer, Item, Query, Response, System
from evaluation.refusals import FieldsRefused
from evaluation.services.studies.creation import PAPER_ARMS
from judging.models import Endpoint
from judging.services.estimates.run_estimate import estimate
from judging.services.judges import create_judge
from tests import factories
from tests.analytics.reports.answering import answered_study
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

pytestmark = pytest.mark.django_db
HUMAN, OTHER = "Written by a person.", "Leek soup for two, with potatoes."


@pytest.fixture
def draft(owner):
    """Six pairs; all queries have a reference, and all but the last a response of a third system."""
    study = factories.make_study(
        "sources",
        owner=owner,
        queries=6,
        training=False,
        checks=0,
        arms=PAPER_ARMS[:1],
        systems=("aspen", "birch"),
    )
    Query.objects.filter(study=study).update(references=[HUMAN])
    third = System.objects.create(study=study, key="cedar")
    for query in Query.objects.filter(study=study).order_by("pk")[:5]:
        Response.objects.create(query=query, system=third, key="cedar", text=OTHER)
    return study


@pytest.fixture
def served():
    with endpoint.serve(keep=True) as server:
        yield server


def test_the_responses_of_a_system_stand_in_for_the_reference(draft, served):
    study = factories.launch(draft)
    chosen = {"with_reference": True, "reference_from": "cedar", "questions": ["preference"]}
    judge = make_judge(study, served, **chosen)
    assert estimate(study, judge).prompt_tokens > 0
    run, _ = judged(study, judge)
    assert len(served.log) == 5
    sent = [seen.body["messages"][-1]["content"] for seen in served.log]
    assert all(OTHER in text and HUMAN not in text for text in sent)
    failed = study.judgments.get(rater=run.judging.rater, outcome="failed")
    assert failed.trace["error"] == "cedar has no response to this query that could be the reference."
    assert run.judging.rater.about["reference_from"] == "cedar"
    [told] = build_report(study, replicates=20)["judges"]
    assert "llm v1 was given the responses of cedar as the reference." in told["caveats"]


def test_a_system_is_no_reference_for_itself(draft, served):
    study = factories.launch(draft)
    judge = make_judge(study, served, with_reference=True, reference_from="aspen", questions=["preference"])
    run, _ = judged(study, judge)
    errors = set(study.judgments.filter(rater=run.judging.rater).values_list("outcome", "trace__error"))
    assert errors == {("failed", "The reference is by aspen, one of whose responses is judged.")}
    assert served.total == 0


def test_metrics_compare_with_the_chosen_source(draft):
    for response in Response.objects.filter(query__study=draft, system__key="cedar"):
        response.text = Response.objects.get(query=response.query, system__key="aspen").text
        response.save()
    study = factories.launch(draft)
    numbers = []
    for name, source in (("people", ""), ("system", "cedar")):
        judge = create_judge(study, name=name, backend="rouge_1", reference_from=source)
        run, _ = judged(study, judge)
        given = Answer.objects.filter(judgment__rater=run.judging.rater, kind="measure")
        numbers.append(list(given.values_list("number", flat=True)))
    assert [len(each) for each in numbers] == [12, 10]
    assert max(numbers[0]) < max(numbers[1]) == 1


@pytest.mark.parametrize("backend", ["rouge_l", "embedding"])
@pytest.mark.parametrize("asked", [[], ["factuality"]])
def test_the_other_responses_are_measured_where_one_of_several_is_the_reference(
    owner, served, backend, asked
):
    """LFQA Table 1: the top human answer is the reference of the three others."""
    study = answered_study("aspects", queries=6, owner=owner)
    item = Item.objects.filter(study=study, role="main")[0]
    source = item.stimulus["responses"][0]["system"]
    fields = {"backend": backend, "reference_from": source, "questions": asked}
    if backend == "embedding":
        judge = make_judge(study, served, "bag", **fields)
        assert estimate(study, judge).prompt_tokens > 0
    else:
        judge = create_judge(study, name="rouge", **fields)
    run, _ = judged(study, judge)
    judgments = run.judging.rater.judgments
    assert set(judgments.values_list("outcome", flat=True)) == {"ok"}
    for judgment in judgments.select_related("item"):
        others = {each["part"] for each in judgment.item.stimulus["responses"] if each["system"] != source}
        found = set(judgment.answers.values_list("kind", "part"))
        # It is not said which of all is the best, since the reference has no number.
        assert found == {("measure", part) for part in others} | {("scale", part) for part in others if asked}
    assert report_page(build_report(study, replicates=20)).sections


@pytest.mark.parametrize("backend", ["rouge_l", "embedding"])
def test_a_pair_that_shows_the_reference_is_not_compared(draft, served, backend):
    study = factories.launch(draft)
    fields = {"backend": backend, "reference_from": "aspen"}
    judge = (
        make_judge(study, served, "bag", **fields)
        if backend == "embedding"
        else create_judge(study, name="rouge", **fields)
    )
    run, _ = judged(study, judge)
    errors = set(study.judgments.filter(rater=run.judging.rater).values_list("outcome", "trace__error"))
    assert errors == {("failed", "One of the two responses is itself the reference.")}
    assert served.total == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"with_reference": True, "reference_from": "oak"}, "The study has no system 'oak'."),
        ({"reference_from": "cedar"}, "This judge is shown no reference"),
    ],
)
def test_a_source_that_can_not_be_is_refused(draft, served, fields, said):
    study = factories.launch(draft)
    with pytest.raises(FieldsRefused, match=said):
        make_judge(study, served, **fields)
    assert Endpoint.objects.exists()


def pair(study, *systems):
    out = io.StringIO()
    call_command("pair_references", study.slug, system=list(systems), stdout=out)
    return out.getvalue().strip()


def test_responses_duel_with_the_reference(draft, served):
    Query.objects.filter(pk=Query.objects.filter(study=draft).order_by("pk")[0].pk).update(references=[])
    said = pair(draft, "aspen")
    assert said == (
        "Added 5 pairs with the human-written reference of 5 queries. "
        "Queries without a reference, and so without such a pair: 1."
    )
    study = factories.launch(draft)
    duels = [item for item in Item.objects.filter(study=study) if "reference" in item.systems_key]
    assert len(duels) == 5
    for item in duels:
        assert {each["system"] for each in item.stimulus["responses"]} == {"aspen", "reference"}
        assert HUMAN in {each["text"] for each in item.stimulus["responses"]}
    run, _ = judged(study, make_judge(study, served, questions=["preference"]))
    assert study.judgments.filter(rater=run.judging.rater, outcome="ok").count() == 11


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda study: pair(study), "already has a system 'reference'"),
        (lambda study: factories.launch(study), "its items are frozen"),
        (
            lambda study: Query.objects.filter(study=study).update(references=[]),
            "No query that has a reference",
        ),
    ],
)
def test_pairs_that_can_not_be_added_are_refused_and_nothing_is_left(draft, prepare, said):
    prepare(draft)
    before = Item.objects.filter(study=draft).count(), System.objects.filter(study=draft).count()
    with pytest.raises(CommandError, match=said):
        pair(draft)
    assert (Item.objects.filter(study=draft).count(), System.objects.filter(study=draft).count()) == before


def test_the_overview_offers_it_where_it_can_be(draft, owner):
    client = Client()
    client.force_login(owner)
    overview = reverse("admin:evaluation_study_overview", args=[draft.slug])
    page = reverse("admin:evaluation_study_pair_references", args=[draft.slug])
    assert page in client.get(overview).content.decode()
    assert client.post(page, {}).status_code == 302
    assert Item.objects.filter(study=draft).count() == 6 + 12
    assert client.post(page, {}).status_code == 422
