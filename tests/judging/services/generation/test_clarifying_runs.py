"""Clarifying questions taken up by simulated users and by the classifier, at the tests' endpoint."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation.models import Study
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.studies.verification import verify_study
from judging.services.generation.made_studies import make_study
from judging.services.generation.pipeline_runs import estimate_pipeline, pipeline_settings
from judging.services.generation.products import drop_products, products_of
from tests.judging import endpoint
from tests.judging.generating import chosen, contents, generated, make_endpoint, study_of_queries

NEEDS = ["A soup without meat.", "A soup in ten minutes.", ""]
QUERIES = [
    {"key": f"q{n}", "text": f"Which soup can I make on day {n}?", "information_need": need}
    for n, need in enumerate(NEEDS)
]
FEW = {"facets": 3, "questions": 4}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served):
    make_endpoint(served)
    return study_of_queries(tmp_path, QUERIES)


@pytest.fixture
def pairs_study(db, tmp_path, served):
    """A draft of answer pairs: what people said to a question."""
    make_endpoint(served)
    rows = [("topic_id", "initial_request", "facet_id", "facet_desc", "question_id", "question", "answer")]
    rows += [
        ("1", "soup", facet, need, "Q1", "which soup do you mean", f"the one {need}")
        for facet, need in (("F1", "without meat"), ("F2", "in ten minutes"))
    ]
    file = tmp_path / "dev.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    call_command("import_published", "clariq", str(file), slug="pairs", protocol="answer_pairs", verbosity=0)
    return Study.objects.get(slug="pairs")


def asked(served):
    return ["\n".join(each["content"] for each in seen.body["messages"]) for seen in served.log]


def test_no_request_for_questions_has_the_information_need(study, served):
    run = generated(study, "clarifying_questions", options=FEW)
    assert run.state == "complete"
    assert not any(need in text for text in asked(served) for need in NEEDS if need)
    told = estimate_pipeline(
        study, pipeline_settings(study, "clarifying_questions", models=chosen("aspen"), options=FEW)
    )
    assert told.total >= run.calls.count()


def test_what_is_kept_is_the_best_by_the_scores_that_were_given(study):
    run = generated(study, "clarifying_questions", options={**FEW, "kept": 2})
    for query, kept in contents(run, "filtered").items():
        scores = [
            round(0.4 * each["relevance"] + 0.6 * each["clarification"], 6)
            for each in contents(run, "scores")[query]
        ]
        assert max(each["score"] for each in kept) == max(scores)
        assert [each["rank"] for each in kept] == [1, 2, 1, 2]
        assert kept[0]["score"] >= kept[1]["score"]


def test_a_dropped_question_makes_room_for_the_next(study):
    run = generated(study, "clarifying_questions", options=FEW)
    made = products_of(run).filter(
        unit__step="filtered", unit__query__key="q0", unit__about__approach="facet"
    )
    first, second, _ = made
    drop_products(run, [first.pk])
    [item] = make_study(run, slug="ranked").items.filter(query__key="q0")
    assert item.responses.count() == 3
    assert item.responses.get(system__key="facet-aspen").text == second.content["question"]


def abouts(run):
    """The values that were drawn for each query's answer."""
    units = run.units.filter(key__startswith="parameterised")
    return list(units.order_by("query__key", "key").values_list("about", flat=True))


def test_simulated_users_answer_the_best_questions_and_are_compared_by_variant(study):
    with pytest.raises(FieldsRefused, match="A complete run of clarifying_questions is needed first"):
        pipeline_settings(study, "simulated_answers", models=chosen("aspen"))
    questions = generated(study, "clarifying_questions", options=FEW)
    run = generated(study, "simulated_answers", options={"approach": "facet"})
    best = {
        query: next(each["question"] for each in kept if each["rank"] == 1)
        for query, kept in contents(questions, "filtered").items()
    }
    answers = contents(run, "answers")
    assert {query: {each["question"] for each in made} for query, made in answers.items()} == {
        query: {best[query]} for query in ("q0", "q1")
    }
    about = abouts(run)
    assert len(about) == 2
    assert all(10 <= each["verbosity"] <= 60 and 0 <= each["reveal"] <= 0.9 for each in about)
    again = generated(study, "simulated_answers", options={"approach": "facet"})
    assert abouts(again) == about
    made = make_study(run, slug="pairs")
    assert (made.protocol, made.items.count()) == ("answer_pairs", 2)
    item = made.items.get(query__key="q1")
    assert (item.clarifying_question, item.query.information_need) == (best["q1"], NEEDS[1])
    assert set(item.responses.values_list("system__key", flat=True)) == {"parameterised-aspen", "plain-aspen"}
    assert Study.objects.get(slug="pairs").created_by_import.notes["left_out"] == {
        "queries without an information need": 1
    }
    call_command("launch", "pairs", "--confirm", verbosity=0)
    assert list(verify_study(made)) == []


def test_simulated_users_stand_beside_people(pairs_study, served):
    run = generated(
        pairs_study, "simulated_answers",
        options={"questions": "items", "given": "own-facet", "parameterised": False},
    )  # fmt: skip
    assert run.calls.count() == 2
    assert all("which soup do you mean" in text for text in asked(served))
    made = make_study(run, {"pairs": "given", "people": "own-facet"}, slug="beside")
    assert {
        (
            item.query.key,
            item.clarifying_question,
            *sorted(item.responses.values_list("system__key", flat=True)),
        )
        for item in made.items.all()
    } == {(facet, "which soup do you mean", "own-facet", "plain-aspen") for facet in ("F1", "F2")}
    # By which the report tells whether a jury favours text by models.
    kinds = dict(made.systems.values_list("key", "kind"))
    assert (kinds["own-facet"], kinds["plain-aspen"]) == ("person", "model")
    with pytest.raises(Refused, match="2 questions without a pair"):
        make_study(run, slug="nothing")


def test_categories_of_what_was_kept_and_of_peoples_questions(study, pairs_study, capsys):
    generated(study, "clarifying_questions", options=FEW)
    run = generated(study, "question_categories", options={"questions": "kept", "most": 50})
    by_system = {each["system"] for made in contents(run, "categories").values() for each in made}
    assert by_system == {"facet-aspen", "temperature-aspen", "baseline-aspen"}
    with pytest.raises(Refused, match="No study is made of"):
        make_study(run)
    capsys.readouterr()
    call_command("generate", study.slug, "--run", str(run.pk), "--show", "categories")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == run.calls.count() > 9
    assert {"pattern", "purpose", "response_type"} <= lines[0]["content"].keys()
    call_command("generate", study.slug, "--run", str(run.pk), "--shares", "categories")
    table = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line[0] == "|"]
    assert table[0][2:] == sorted(by_system)
    patterns = [row[2:] for row in table if row[0] == "pattern"]
    for column in zip(*patterns, strict=True):
        assert sum(float(cell.partition(" ")[0]) for cell in column) == pytest.approx(100, abs=0.5)
    with pytest.raises(CommandError, match="has no step 'nothing'"):
        call_command("generate", study.slug, "--run", str(run.pk), "--shares", "nothing")
    theirs = generated(pairs_study, "question_categories", options={"questions": "items"})
    assert [each["question"] for [each] in contents(theirs, "categories").values()] == [
        "which soup do you mean"
    ] * 2
