"""The judges of a paper by one choice of models: what they are, that they judge, and what is refused."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.models import Query
from judging.models import Judge
from judging.services.endpoints.access import create_endpoint
from tests import factories
from tests.judging import endpoint
from tests.judging.build import ABLE, judged
from tests.judging.services.runs.test_protocol_runs import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def here(served):
    made = create_endpoint(user=None, name="here", base_url=served.url, timeout_seconds=5)
    made.capabilities = {name: dict(ABLE) for name in ("longer", "coin", "first", "m-4", "m-5")}
    made.save()
    return made


@pytest.fixture
def pairs(owner, here):
    study = factories.make_study("pairs", owner=owner, queries=3, training=False, checks=0)
    Query.objects.filter(study=study).update(references=["Leek soup for two, with potatoes."])
    return factories.launch(study)


def add(study, preset, *models):
    out = io.StringIO()
    call_command(
        "add_judges", study.slug, preset=preset, models=[f"here:{each}" for each in models], stdout=out
    )
    return out.getvalue().split("\n")[:-1]


def test_href_judges_with_and_without_the_reference_and_excludes_nobody(pairs):
    made = add(pairs, "href", "coin")
    assert made == ["coin v1", "coin-reference v1", "random v1", "shorter v1", "longer v1", "rouge_l v1"]
    with_, without = Judge.objects.get(name="coin-reference"), Judge.objects.get(name="coin")
    assert (with_.with_reference, without.with_reference) == (True, False)
    assert {(each.orders, each.self_preference, each.rationale) for each in (with_, without)} == {
        ("both", "none", "none")
    }
    run, _ = judged(pairs, with_)
    items = pairs.items.filter(role="main").count()
    assert (run.state, run.calls.filter(outcome="ok").count()) == ("complete", 2 * items)


def test_contextevals_autoraters_give_a_verdict_and_then_their_reasons(pairs):
    made = add(pairs, "contexteval", "longer", "coin", "first", "m-4", "m-5")
    assert made == [f"{name} v1" for name in ("longer", "coin", "first", "m-4", "m-5")]
    assert set(Judge.objects.values_list("rationale", "self_preference")) == {("after", "system")}


def test_lfqas_judges_rate_in_one_call_and_aspect_by_aspect(owner, here):
    study = make_study("aspects", owner)
    assert add(study, "lfqa", "longer") == ["longer-whole v1", "longer-by-aspect v1"]
    judges = Judge.objects.order_by("pk")
    assert [each.one_call_per_question for each in judges] == [False, True]
    assert all("acceptability" in each.questions for each in judges)
    assert {(each.samples, each.options["repeated_share"]) for each in judges} == {(3, 20)}
    run, _ = judged(study, judges[1])
    assert set(run.calls.values_list("step", flat=True)) == set(judges[1].questions)


def test_agent_cqs_jury_rates_metric_by_metric_and_overall_last(owner, here):
    study = make_study("question_quality", owner)
    names = [f"longer-jury-{name} v1" for name in ("conservative", "balanced", "creative")]
    assert add(study, "agent_cq", "longer") == names
    judges = list(Judge.objects.order_by("pk"))
    assert [each.temperature for each in judges] == [0.2, 0.5, 0.7]
    assert {each.jury.combination for each in judges} == {"mean"}
    run, _ = judged(study, judges[0])
    per_item = [
        question["key"] for question in study.revisions.get().spec["questions"] if question["kind"] == "scale"
    ]
    assert run.calls.count() == len(per_item) * study.items.filter(role="main").count() > 0
    overall = run.calls.filter(step="overall").order_by("pk").first()
    assert overall.pk > run.calls.filter(item=overall.item).exclude(step="overall").order_by("-pk")[0].pk


def test_condambigqas_judges_score_sets_against_the_reference_set(owner, here):
    study = make_study("condition_calibration", owner)
    assert add(study, "condambigqa", "coin") == ["coin-entries v1", "entry_overlap v1"]
    for item in study.items.all():
        item.stimulus["query"]["references"] = [item.stimulus["responses"][0]["text"]]
        item.save()
    for each in Judge.objects.all():
        run, _ = judged(study, each)
        assert set(run.judging.rater.judgments.values_list("outcome", flat=True)) == {"ok"}
    assert run.judging.rater.judgments.filter(
        answers__question="measure:citation_recall", answers__part="r1", answers__number=1
    ).exists()


@pytest.mark.parametrize(
    ("preset", "models", "said"),
    [
        ("href", [], "Choose the models that judge"),
        ("href", ["coin", "coin"], "chosen twice"),
        ("lfqa", ["coin"], "It is for ratings by aspect"),
        ("condambigqa", ["coin"], "It is for sets of entries"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_made(pairs, preset, models, said):
    with pytest.raises(CommandError, match=said):
        add(pairs, preset, *models)
    assert not Judge.objects.exists()


def test_a_judge_that_is_there_stands_in_nobodys_way(pairs):
    add(pairs, "contexteval", "coin")
    with pytest.raises(CommandError, match="coin: The study already has a judge coin"):
        add(pairs, "href", "longer", "coin")
    assert list(Judge.objects.values_list("name", flat=True)) == ["coin"]


def test_the_page_makes_them(pairs, owner, here):
    here.studies.add(pairs)
    client = Client()
    client.force_login(owner)
    page = reverse("admin:judging_judge_preset", args=[pairs.slug])
    assert "ContextEval" in client.get(page).content.decode()
    half = client.post(page, {"preset": "contexteval", "endpoint_1": here.pk})
    assert half.status_code == 422
    assert "Enter both an endpoint and the name of a model there" in half.content.decode()
    rows = {"endpoint_1": here.pk, "model_1": "m-4", "endpoint_3": here.pk, "model_3": "m-5"}
    answer = client.post(page, {"preset": "contexteval", **rows})
    assert answer.status_code == 302
    assert (
        "Created the judges of ContextEval: m-4 v1, m-5 v1."
        in client.get(answer["Location"]).content.decode()
    )


def test_the_models_of_a_paper_are_one_jury(pairs):
    out = io.StringIO()
    given = {"models": ["here:coin", "here:first", "here:longer"], "jury": "autoraters", "stdout": out}
    call_command("add_judges", pairs.slug, preset="contexteval", **given)
    assert out.getvalue().split() == [
        "autoraters-coin", "v1", "autoraters-first", "v1", "autoraters-longer", "v1",
    ]  # fmt: skip
    members = Judge.objects.order_by("pk")
    assert {each.jury.name for each in members} == {"autoraters"}
    assert {(each.temperature, each.rationale, each.self_preference) for each in members} == {
        (0.0, "after", "system")
    }
    for preset in ("href", "agent_cq"):
        with pytest.raises(CommandError):
            call_command("add_judges", pairs.slug, preset=preset, **given)
    assert Judge.objects.count() == 3


def test_the_page_makes_the_models_of_a_paper_one_jury(pairs, here, owner):
    here.studies.add(pairs)
    client = Client()
    client.force_login(owner)
    sent = {"preset": "contexteval", "jury": "autoraters"}
    for number, model in enumerate(("coin", "first"), 1):
        sent |= {f"endpoint_{number}": here.pk, f"model_{number}": model}
    assert client.post(reverse("admin:judging_judge_preset", args=[pairs.slug]), sent).status_code == 302
    assert [each.name for each in Judge.objects.order_by("pk")] == ["autoraters-coin", "autoraters-first"]
    refused = client.post(reverse("admin:judging_judge_preset", args=[pairs.slug]), sent | {"preset": "href"})
    assert "The models of HREF are no jury" in refused.content.decode()
