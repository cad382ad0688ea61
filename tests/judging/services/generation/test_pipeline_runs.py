"""Pipelines at work: steps in their order, failures retried or passed over, money kept, studies made of products."""

import json
import re
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation.models import Study
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.verification import verify_study
from judging.generation.pipelines import PIPELINES
from judging.models import Endpoint, GenerationUnit, LedgerEntry, ModelPrice, Product, Run
from judging.services.generation.later_steps import make_later_steps
from judging.services.generation.made_studies import make_study
from judging.services.generation.pipeline_runs import estimate_pipeline, pipeline_settings, start_pipeline
from judging.services.generation.products import drop_products, edit_product, pass_over, restore_products
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run, retry_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.generating import Stories, chosen, contents, generated, make_endpoint, study_of_queries

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(30)]


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served):
    make_endpoint(served)
    with PIPELINES.registered(Stories()):
        yield study_of_queries(tmp_path, QUERIES)


def questions(served):
    return [seen.body["messages"][-1]["content"] for seen in served.log]


def test_steps_are_made_one_after_the_other(study, served):
    run = generated(study, "stories", models=("aspen", "birch"))
    assert (run.state, run.asked, run.unanswered) == ("complete", 90, 0)
    assert served.total == 90
    titles, choice, stories = (contents(run, step) for step in ("titles", "choice", "story"))
    assert len(titles) == len(choice) == len(stories) == len(QUERIES)
    assert all(len(made) == 4 for made in titles.values())
    assert all(choice[query][0] in titles[query] for query in choice)
    [asked_last] = questions(served)[-1:]
    assert any(each[0]["title"] in asked_last for each in choice.values())
    assert list(verify_study(study)) == []
    assert run_progress(run).total == 90


def test_each_product_tells_what_made_it(study):
    run = generated(study, "stories")
    product = Product.objects.filter(unit__run=run, unit__step="story").first()
    call = product.unit.calls.get()
    assert product.provenance["call"] == call.pk
    assert (product.provenance["model"], product.provenance["endpoint"]) == ("aspen", "here")
    assert product.provenance["parameters"]["temperature"] == 0.5
    assert "seed" in product.provenance["parameters"]
    assert run.generating.version == "1"
    assert Product.objects.filter(unit__step="choice", provenance={}).count() == len(QUERIES)


def test_the_same_run_again_costs_nothing_and_makes_the_same(study, served):
    first = generated(study, "stories")
    again = generated(study, "stories")
    assert served.total == 60
    for step in ("titles", "choice", "story"):
        assert contents(first, step) == contents(again, step)
    other = generated(study, "stories", seed=7)
    assert contents(first, "titles").keys() == contents(other, "titles").keys()
    assert served.total == 120


def test_a_query_whose_unit_failed_stays_behind_until_a_retry_has_made_it(study, served):
    served.behaviours = "400@0.3"
    run = generated(study, "stories")
    behind = set(run.units.exclude(outcome="ok").filter(step="titles").values_list("query__key", flat=True))
    assert run.state == "complete"
    assert 0 < len(behind) < len(QUERIES)
    assert not behind & contents(run, "choice").keys()
    served.behaviours = ""
    retry_run(run)
    assert work_on(run.pk).state == "complete"
    assert len(contents(run, "story")) == len(QUERIES)
    assert not GenerationUnit.objects.filter(run=run).exclude(outcome="ok").exists()
    assert run.units.filter(step="titles").count() == len(QUERIES)


def test_a_query_goes_on_without_what_could_not_be_made_where_a_researcher_says_so(study, served):
    served.behaviours = "400@0.3"
    run = generated(study, "stories", models=("aspen", "birch"))
    served.behaviours = ""
    waiting = set(run.units.exclude(outcome="ok").values_list("query__key", flat=True))
    assert pass_over(run) == run.units.exclude(outcome="ok").count() > 0
    run.refresh_from_db()
    assert run.state == "pending"
    assert work_on(run.pk).state == "complete"
    with_a_title = contents(run, "titles").keys()
    assert contents(run, "choice").keys() == with_a_title
    assert waiting & with_a_title


def test_replies_that_are_not_what_was_asked_for_are_counted_and_made_into_nothing(study, served):
    served.behaviours = "babble"
    run = generated(study, "stories", in_flight=4)
    assert run.state == "paused"
    assert Product.objects.count() == 0
    assert "could be read" in run.reason


def test_a_budget_is_kept(study):
    ModelPrice.objects.create(endpoint=Endpoint.objects.get(), model="aspen", price_completion=1_000)
    run = generated(study, "stories", budget=Decimal("1.5"))
    assert run.state == "stopped"
    assert 0 < run.spent <= Decimal("1.5")
    assert LedgerEntry.objects.filter(run=run, purpose="generation").exists()
    resume_run(run, budget=None)
    assert work_on(run.pk).state == "complete"
    assert list(verify_study(study)) == []


def test_paused_resumed_and_cancelled(study):
    run = generated(study, "stories", work=False)
    pause_run(run)
    assert work_on(run.pk).final == 0
    resume_run(run)
    cancel_run(run)
    assert (run.state, Product.objects.count()) == ("cancelled", 0)


def test_so_many_queries_drawn_by_the_seed(study):
    drawn = {
        seed: set(contents(generated(study, "stories", max_queries=5, seed=seed), "story")) for seed in (1, 2)
    }
    assert [len(keys) for keys in drawn.values()] == [5, 5]
    assert drawn[1] != drawn[2]


def test_what_is_wrong_is_said_before_anything_is_asked(study, served):
    with pytest.raises(Refused, match="There is no pipeline 'tales'"):
        pipeline_settings(study, "tales")
    with pytest.raises(FieldsRefused) as refused:
        pipeline_settings(
            study, "stories", models=chosen("aspen", at="nowhere"), options={"length": 3}, max_queries=0,
            casts={"reader": {}},
        )  # fmt: skip
    said = " ".join(refused.value.problems)
    for part in ("no endpoint 'nowhere'", "no option 'length'", "more than zero", "no role 'reader'"):
        assert part in said
    with pytest.raises(FieldsRefused, match="Writer: a model is needed"):
        pipeline_settings(study, "stories")
    assert served.total == 0


def test_private_queries_stay_where_they_are_kept(study, served):
    private = study.queries.get(key="q3")
    settings = pipeline_settings(study, "stories", models=chosen("aspen"))
    run = start_pipeline(study, settings)
    private.split = "private"
    private.save()
    for act in (estimate_pipeline, start_pipeline):
        with pytest.raises(Refused, match="1 query has the split private"):
            act(study, settings)
    assert work_on(run.pk).state == "stopped"
    run.refresh_from_db()
    assert "private" in run.reason
    assert not any("day 3?" in asked for asked in questions(served))


def test_an_estimate_is_never_less_than_what_comes(study):
    settings = pipeline_settings(study, "stories", models=chosen("aspen", "birch"))
    told = estimate_pipeline(study, settings)
    run = start_pipeline(study, settings)
    work_on(run.pk)
    assert told.queries == len(QUERIES)
    assert told.total >= run.calls.count()
    assert told.completion_tokens >= sum(run.calls.values_list("completion_tokens", flat=True))


def test_products_are_dropped_restored_and_edited_and_the_made_ones_are_kept(study, owner):
    run = generated(study, "stories", models=("aspen",))
    one, other = Product.objects.filter(unit__step="titles", unit__query__key="q0")
    assert drop_products(run, [one.pk, other.pk], by=owner) == 2
    assert "q0" not in contents(run, "titles")
    assert restore_products(run, [other.pk]) == 1
    edit_product(other, {"title": "Leek"}, by=owner)
    other.refresh_from_db()
    assert other.edited == {"title": "Leek"}
    assert other.content != other.edited
    edit_product(other, other.content)
    assert (other.edited, other.edited_at) == (None, None)
    with pytest.raises(Refused):
        edit_product(other, ["Leek"])


def test_pairs_in_three_arms_are_made_of_responses(study, served):
    with_context = study.queries.get(key="q0")
    follow_up = {"question": "For how many?", "answers": ["One", "Two"], "answer": "Two"}
    with_context.contexts.create(key="c1", follow_ups=[follow_up])
    run = generated(study, "responses", models=("aspen", "birch"))
    assert run.calls.count() == 2 * len(QUERIES) + 2
    assert sum("They answered: Two" in asked for asked in questions(served)) == 2
    with pytest.raises(Refused, match="stories, which"):
        pipeline_settings(
            study, "responses", models=chosen("aspen"), sources=[generated(study, "stories").pk]
        )
    made = make_study(run, slug="soups")
    assert Study.objects.get(slug="soups").origin["how"] == "responses"
    by_arm = dict.fromkeys(("NoCtxGen-NoCtxEval", "NoCtxGen-CtxEval", "CtxGen-CtxEval"), 0)
    for item in made.items.select_related("arm"):
        by_arm[item.arm.key] += 1
    assert by_arm == {"NoCtxGen-NoCtxEval": 30, "NoCtxGen-CtxEval": 1, "CtxGen-CtxEval": 1}
    shown = made.items.get(arm__key="CtxGen-CtxEval")
    assert shown.context.follow_ups[0]["answer"] == "Two"
    assert {each.context.key for each in shown.responses.all()} == {shown.context.key}
    assert Run.objects.filter(study=made).count() == 0


def test_the_same_model_at_two_endpoints_is_two_systems(study, served):
    make_endpoint(served, "there")
    writers = [*chosen("aspen"), *chosen("aspen", at="there")]
    run = generated(study, "responses", models=(), casts={"writers": {"models": writers}}, max_queries=2)
    made = make_study(run, {"arms": "without"}, slug="soups")
    assert sorted(made.systems.values_list("key", "label")) == [
        ("aspen-here", "aspen @ here"), ("aspen-there", "aspen @ there"),
    ]  # fmt: skip
    assert {each.responses.count() for each in made.items.all()} == {2}
    places = run.units.values_list("key", "products__provenance__endpoint")
    assert set(places) == {("aspen-here:without", "here"), ("aspen-there:without", "there")}


def test_the_whole_way_at_the_shell(study, capsys):
    call_command("generate", "queries")
    assert "stories: Stories about queries." in capsys.readouterr().out
    asked = ("generate", "queries", "--pipeline", "stories", "--set", "endpoint=here", "--model", "aspen")
    call_command(*asked, "--estimate")
    assert "30 queries, at most 60 calls (titles: 30, story: 30)." in capsys.readouterr().out
    call_command(*asked, "--set", "writer.temperature=0.2", "--queries", "4")
    said = capsys.readouterr().out
    assert "complete. Calls: 8 ok; 0 left." in said
    run = Run.objects.get()
    assert run.generating.casts["writer"]["temperature"] == 0.2
    call_command("generate", "queries", "--run", str(run.pk), "--show", "choice")
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(shown) == 4
    number = str(shown[0]["product"])
    call_command(
        "generate", "queries", "--run", str(run.pk), "--drop", number, "--edit", number, '{"title": "Leek"}'
    )
    assert capsys.readouterr().out.splitlines()[0] == "Dropped: 1."
    for wrong in (["--edit", "0", "{}"], ["--edit", number, "{"], ["--make"]):
        with pytest.raises(CommandError):
            call_command("generate", "queries", "--run", str(run.pk), *wrong)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--set", "length=3"], "there is no option 'length'; there are: endpoint, writer."),
        (["--set", "writer"], "--set writer: NAME=VALUE is needed."),
        (
            ["--set", "writer.heat=1"],
            "Writer: there is no setting 'heat'; there are: models, temperature, top_p, max_tokens.",
        ),
        (["--set", "endpoint=nowhere"], "Writer: there is no endpoint 'nowhere'."),
        (["--make", "--set", "arms=all"], "there is no option 'arms'; there are: endpoint, writer."),
    ],
)
def test_what_a_pipeline_does_not_take_is_refused_by_its_name(study, given, said):
    with pytest.raises(CommandError, match=re.escape(said)):
        call_command(
            "generate", "queries", "--pipeline", "stories", "--endpoint", "here", "--model", "aspen", *given
        )
    assert not Run.objects.exists()


def test_a_run_that_is_there_takes_options_of_its_study_alone(study):
    run = generated(study, "responses", models=("aspen", "birch"), max_queries=2)
    at = ("generate", "queries", "--run", str(run.pk))
    with pytest.raises(CommandError, match="a run keeps the settings it began with"):
        call_command(*at, "--set", "follow_ups=3")
    with pytest.raises(CommandError, match="there is no option 'follow_ups'; there are: arms, baseline"):
        call_command(*at, "--make", "--set", "follow_ups=3")
    call_command(*at, "--make", "--set", "arms=without", "--slug", "soups")
    assert Study.objects.get(slug="soups").arms.count() == 1


def test_products_travel_in_files(study, tmp_path):
    run = generated(study, "stories", max_queries=3)
    first, second, *_ = Product.objects.order_by("pk")
    edit_product(first, {"title": "Leek"})
    drop_products(run, [second.pk])
    file = tmp_path / "products.jsonl"
    call_command("generate", "queries", "--run", str(run.pk), "--export", str(file), verbosity=0)
    elsewhere = study_of_queries(tmp_path, QUERIES, slug="elsewhere")
    call_command("generate", "elsewhere", "--import", str(file), verbosity=0)
    there = Run.objects.get(study=elsewhere)
    assert there.state == "complete"
    for step in ("titles", "choice", "story"):
        assert contents(there, step) == contents(run, step)
    assert Product.objects.filter(unit__run=there, dropped_at__isnull=False).count() == 1
    assert Product.objects.filter(unit__run=there, provenance__model="aspen").exists()
    assert list(verify_study(elsewhere)) == []


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{}"], "no file of products"),
        (['{"assay_products": 1, "pipeline": "tales"}'], "no pipeline 'tales'"),
        (['{"assay_products": 1, "pipeline": "stories"}'], "no products"),
        (['{"assay_products": 1, "pipeline": "stories"}', "{"], "line 2: not JSON"),
        (
            ['{"assay_products": 1, "pipeline": "stories"}', '{"query": "q0", "step": "title", "content": {"a": 1}}',
             '{"query": "q99", "step": "titles", "content": {"a": 1}}', '{"query": "q1", "step": "titles"}'],
            "stories has no step 'title'",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_none_changes_nothing(lines, said, study, tmp_path):
    file = tmp_path / "products.jsonl"
    file.write_text("\n".join(lines))
    with pytest.raises(CommandError, match=said):
        call_command("generate", "queries", "--import", str(file))
    assert (Run.objects.count(), Product.objects.count()) == (0, 0)


def test_later_steps_are_made_again_of_what_was_edited(study, served):
    run = generated(study, "stories")
    before, asked = contents(run, "story"), served.total
    choices = Product.objects.filter(unit__run=run, unit__step="choice")
    edit_product(choices.get(unit__query__key="q3"), {"title": "Another title"})
    drop_products(run, [choices.get(unit__query__key="q4").pk])
    new = make_later_steps(run, "choice")
    work_on(new.pk)
    new.refresh_from_db()
    assert (new.state, new.unanswered) == ("complete", 0)
    stories = contents(new, "story")
    assert set(stories) == set(before) - {"q4"}
    # Of the others the prompt is what it was, and the reply is in the cache.
    assert served.total == asked + 1
    assert "Another title" in questions(served)[-1]
    assert {key: story for key, story in stories.items() if key != "q3"} == {
        key: story for key, story in before.items() if key not in ("q3", "q4")
    }
    assert contents(run, "story") == before
    assert contents(new, "choice")["q3"] == [{"title": "Another title"}]
    assert product_count(new, "titles") == product_count(run, "titles")
    assert list(verify_study(study)) == []


def product_count(run, step):
    return Product.objects.filter(unit__run=run, unit__step=step).count()


def test_later_steps_are_refused_where_they_could_not_go_on(study, served):
    run = generated(study, "stories")
    for step, sentence in (("story", "No step comes after story."), ("plot", "Stories has no step 'plot'")):
        with pytest.raises(Refused, match=sentence):
            make_later_steps(run, step)
    stuck = run.units.filter(step="titles").first()
    stuck.outcome = "refused"
    stuck.save()
    with pytest.raises(Refused, match="1 unit up to this step could not be made"):
        make_later_steps(run, "choice")
    assert Run.objects.filter(study=study).count() == 1


def test_the_command_makes_later_steps_again(study, served, capsys):
    run = generated(study, "stories")
    call_command("generate", study.slug, run=run.pk, after="choice")
    new = Run.objects.exclude(pk=run.pk).get()
    assert f"Run {new.pk} goes on from run {run.pk}." in capsys.readouterr().out
    assert (new.state, served.total) == ("complete", 60)
    assert contents(new, "story") == contents(run, "story")


def test_a_list_of_prompts_is_a_file_of_queries(db, tmp_path):
    prompts = tmp_path / "queries.csv"
    prompts.write_text('prompt\nWhich soup?\n"And which bread, please?"\n')
    call_command("import_queries", str(prompts), slug="listed", verbosity=0)
    assert sorted(Study.objects.get(slug="listed").queries.values_list("text", flat=True)) == [
        "And which bread, please?", "Which soup?",
    ]  # fmt: skip


def test_a_query_counts_for_each_of_its_types(study, capsys):
    run = generated(study, "query_types")
    held = (["ambiguous", "subjective"], ["ambiguous"], ["open_ended"])
    for number, product in enumerate(Product.objects.filter(unit__run=run).order_by("pk")):
        product.content = {"types": held[number % 3], "reason": "It depends."}
        product.save(update_fields=["content"])
    capsys.readouterr()
    call_command("generate", study.slug, "--run", str(run.pk), "--shares", "types")
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line[0] == "|"]
    assert rows[0] == ["types", "code", "all"]
    shares = {
        row[1]: float(row[2].partition(" ")[0]) for row in rows if row[0] == "types" and row[1] != "code"
    }
    assert shares == {
        "ambiguous": 66.7,
        "incomplete": 0,
        "subjective": 33.3,
        "open_ended": 33.3,
        "closed_ended": 0,
    }
    assert rows[-1] == ["products", "30"]


def test_two_prompts_of_one_model_are_two_systems(study, served):
    wanted = {
        "settings": "without",
        "variants": ["formal: Answer as an encyclopedia would.", "casual: Answer as a friend would."],
    }
    run = generated(study, "responses", options=wanted, casts={"writers": {"top_p": 0.9}}, max_queries=3)
    assert {seen.body["messages"][0]["content"] for seen in served.log} == {
        "Answer as an encyclopedia would.", "Answer as a friend would.",
    }  # fmt: skip
    assert {seen.body["top_p"] for seen in served.log} == {0.9}
    assert Product.objects.filter(unit__run=run).first().provenance["parameters"]["top_p"] == 0.9
    made = make_study(run, {"arms": "without"}, slug="registers")
    assert made.items.count() == 3
    assert set(made.systems.values_list("key", "label", "family")) == {
        ("aspen-formal", "aspen, formal", "aspen"), ("aspen-casual", "aspen, casual", "aspen"),
    }  # fmt: skip
    estimate = estimate_pipeline(
        study, pipeline_settings(study, "responses", models=chosen("aspen"), options=wanted, max_queries=3)
    )
    assert estimate.total == run.calls.count() == 6


def test_a_model_is_asked_for_no_top_p_unless_its_role_has_one(study, served):
    generated(study, "responses", options={"settings": "without"}, max_queries=1)
    assert all("top_p" not in seen.body for seen in served.log)
    for wrong in (0, 1.5):
        with pytest.raises(FieldsRefused, match="Systems: top_p is more than 0 and at most 1"):
            pipeline_settings(
                study, "responses", models=chosen("aspen"), casts={"writers": {"top_p": wrong}}
            )  # fmt: skip
