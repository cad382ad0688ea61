"""Contexts at work: from queries to validated follow-up questions, a study of them, and responses that know them."""

import pytest
from django.core.management import call_command

from analytics.reports.build import build_report, fingerprint
from analytics.reports.markdown import report_markdown
from evaluation.models import Import, Item
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from judging.models import Product
from judging.services.generation.made_studies import make_study
from judging.services.generation.products import drop_products
from judging.services.generation.query_facts import query_facts
from tests.analytics.reports.answering import give, new_rater, some_answers
from tests.judging import endpoint
from tests.judging.generating import chosen, contents, generated, make_endpoint, study_of_queries

QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(12)]
GENERATORS = ("elm:yes:full", "fir:yes:full")
# Two find everything important, one is drawn.
JURY = ("gum:yes", "hop:yes", "ivy")
CASTS = {
    "generators": {"models": chosen(*GENERATORS)},
    "jury": {"models": chosen(*JURY)},
    "sampler": {"models": chosen("ivy")},
}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served):
    make_endpoint(served, models=("aspen", *GENERATORS, *JURY))
    return study_of_queries(tmp_path, QUERIES)


def test_questions_are_drawn_judged_by_a_jury_and_answered_by_one_person(study, served):
    run = generated(study, "contexts", models=(), casts=CASTS)
    assert (run.state, run.unanswered) == ("complete", 0)
    drawn, kept, answers = (contents(run, step) for step in ("drawn", "kept", "answers"))
    assert len(drawn) == len(QUERIES)
    assert {each["generator"] for made in drawn.values() for each in made} == set(GENERATORS)
    for query, made in drawn.items():
        assert [each["rank"] for each in made] == list(range(1, 11))
        assert len({each["generator"] for each in made}) == 1
        assert {each["votes"] for each in kept.get(query, [])} <= {"3 of 3"}
    assert 0 < sum(map(len, kept.values())) < 120
    for query, made in answers.items():
        assert [each["rank"] for each in made] == [each["rank"] for each in kept[query]]
        assert all(each["answer"] in each["answers"] for each in made)
    asked = {seen.model: seen.body.get("temperature") for seen in served.log}
    assert [asked[name] for name in ("elm:yes:full", "gum:yes")] == [None, 0]
    assert list(verify_study(study)) == []


def test_most_jurors_keep_more_than_all_of_them(study):
    run = generated(study, "contexts", models=(), casts=CASTS, options={"jury_rule": "majority"})
    assert sum(map(len, contents(run, "kept").values())) == 120


def test_queries_that_need_no_context_are_left_alone(study, served):
    casts = {**CASTS, "generators": {"models": chosen("aspen", "elm:yes:full")}}
    run = generated(study, "contexts", models=(), casts=casts)
    said = contents(run, "need")
    needed = {query for query, made in said.items() if all(each["needed"] for each in made)}
    assert 0 < len(needed) < len(QUERIES)
    assert contents(run, "follow_ups").keys() == needed
    made = make_study(run)
    assert made.items.count() == len(needed)
    assert Import.objects.get(created_study=made).notes["left_out"] == {
        "queries that need no context": len(QUERIES) - len(needed)
    }


def test_people_validate_the_drawn_questions_or_those_that_were_kept(study):
    run = generated(study, "contexts", models=(), casts=CASTS)
    first = Product.objects.filter(unit__run=run, unit__step="drawn", number=1, unit__query__key="q0").get()
    drop_products(run, [first.pk])
    every = make_study(run, slug="every-question")
    assert every.protocol == "context_validation"
    asked = {item.key: item.context.follow_ups for item in every.items.select_related("context")}
    assert {key: len(found) for key, found in asked.items()} == {
        each["key"]: 9 if each["key"] == "q0" else 10 for each in QUERIES
    }
    by_query = {query: made[0]["generator"] for query, made in contents(run, "drawn").items()}
    assert {item.key: item.context.source for item in every.items.select_related("context")} == by_query
    assert first.content["question"] not in [each["question"] for each in asked["q0"]]
    assert not any(each.get("answer") for found in asked.values() for each in found)
    launch_study(every)
    assert list(verify_study(every)) == []
    kept = make_study(run, {"which": "kept"}, slug="kept-questions")
    found = sum(len(item.context.follow_ups) for item in kept.items.select_related("context"))
    assert found == sum(map(len, contents(run, "kept").values()))


def test_responses_are_written_for_that_person(study, served):
    run = generated(study, "contexts", models=(), casts=CASTS, options={"jury_rule": "majority"})
    told = contents(run, "answers")["q0"]
    responses = generated(study, "responses", models=("aspen", "ivy"), options={"follow_ups": "2"})
    assert responses.generating.sources == {"contexts": run.pk}
    asked = [seen.body["messages"][-1]["content"] for seen in served.log if seen.model == "aspen"]
    [knowing] = [each for each in asked if "on day 0?" in each and "They answered" in each]
    assert knowing.count("They answered") == 2
    assert f"You asked: {told[0]['question']}\nThey answered: {told[0]['answer']}" in knowing
    made = make_study(responses, slug="pairs")
    item = Item.objects.get(study=made, query__key="q0", arm__key="CtxGen-CtxEval")
    assert [each["question"] for each in item.context.follow_ups] == [each["question"] for each in told[:2]]
    assert item.context.source == told[0]["generator"] != ""


def test_the_source_of_a_study_s_own_context_is_kept(study, served):
    query = study.queries.get(key="q0")
    context = query.contexts.create(
        key="own",
        source="dublin",
        follow_ups=[{"question": "For whom?", "answers": ["Me"], "answer": "Me"}],
    )
    responses = generated(study, "responses", models=("aspen", "ivy"))
    made = make_study(responses, slug="own")
    item = Item.objects.get(study=made, query__key="q0", arm__key="CtxGen-CtxEval")
    assert (item.context.source, item.context.follow_ups) == ("dublin", context.follow_ups)


def test_arms_tell_the_first_so_many(study, served):
    run = generated(study, "contexts", models=(), casts=CASTS, options={"jury_rule": "majority"})
    told = contents(run, "answers")["q0"]
    assert len(told) > 2
    responses = generated(study, "responses", models=("aspen", "ivy"), options={"follow_ups": "10, 0,2"})
    made = make_study(responses, slug="amounts")
    assert list(made.arms.values_list("key", "label")) == [
        ("NoCtxGen-NoCtxEval", "No context"),
        ("NoCtxGen-CtxEval-2", "Context at judging, first 2"),
        ("NoCtxGen-CtxEval-10", "Context at judging, first 10"),
        ("CtxGen-CtxEval-2", "Context throughout, first 2"),
        ("CtxGen-CtxEval-10", "Context throughout, first 10"),
    ]
    of_q0 = Item.objects.filter(study=made, query__key="q0").select_related("arm", "context")
    shown = {item.arm.key: len(item.context.follow_ups) if item.context else 0 for item in of_q0}
    assert shown == {
        "NoCtxGen-NoCtxEval": 0, "NoCtxGen-CtxEval-2": 2, "NoCtxGen-CtxEval-10": len(told),
        "CtxGen-CtxEval-2": 2, "CtxGen-CtxEval-10": len(told),
    }  # fmt: skip
    # What is shown beside responses is what they were written with.
    asked = [seen.body["messages"][-1]["content"] for seen in served.log if seen.model == "aspen"]
    counts = sorted(each.count("They answered") for each in asked if "on day 0?" in each)
    assert counts[-2:] == [2, len(told)]


def test_what_the_paper_says_of_its_queries_is_counted(study, capsys):
    casts = {**CASTS, "generators": {"models": chosen("aspen", "elm:yes:full")}}
    run = generated(study, "contexts", models=(), casts=casts, options={"jury_rule": "majority"})
    needed = len(contents(run, "follow_ups"))
    drawn, kept = (sum(map(len, contents(run, step).values())) for step in ("drawn", "kept"))
    by_name = {each.name: each for each in query_facts(run)}
    assert by_name["Queries that need a context"].value == f"{needed} of 12"
    assert "elm:yes:full: 12 of 12" in by_name["Queries that need a context"].detail
    assert by_name["Follow-up questions kept"].value == f"{kept} of {drawn}"
    assert by_name["Follow-up questions per query"].value == f"{kept / needed:.2f}"
    call_command("generate", study.slug, "--run", str(run.pk), "--shares", "need")
    assert f"Queries that need a context: {needed} of 12 (" in capsys.readouterr().out
    made = make_study(run, slug="own")
    launch_study(made)
    give(made, new_rater(made, "person"), some_answers(made))
    report = report_markdown(build_report(made, replicates=20, only=["texts/contexts"]))
    assert f"| Queries that need a context | all generators say so | {needed} | 12 |" in report
    assert "| elm:yes:full | 12 | 12 | 100.0" in report
    assert f"| Follow-up questions kept | most jurors find them important | {kept} | {drawn} |" in report
    assert f"| Follow-up questions per query | kept | {kept} | {needed} | {kept / needed:.2f} |" in report
    assert f"| Follow-up questions per query | in the study's items | {drawn} | {needed} |" in report
    before = fingerprint(made)
    first = Product.objects.filter(unit__run=run, unit__step="kept").first()
    drop_products(run, [first.pk])
    assert {each.name: each.value for each in query_facts(run)}[
        "Follow-up questions kept"
    ] == f"{kept - 1} of {drawn}"
    assert fingerprint(made) != before


def test_types_of_the_study_s_own_queries_are_counted(study):
    run = generated(study, "query_types", models=("aspen",))
    said = [made[0]["types"] for made in contents(run, "types").values()]
    counts = {each.name: each.value for each in query_facts(run)}
    assert counts["Open-ended"] == f"{sum('open_ended' in each for each in said)} of 12"
    assert len(counts) == 5
    assert (
        query_facts(generated(study, "responses", models=("aspen",), options={"settings": "without"})) == []
    )
