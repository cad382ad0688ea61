"""Responses by attribute at work: queries chosen over many batches, and both shapes of the study."""

import pytest

from evaluation.models import Import, Study
from evaluation.protocols.attributes import ATTRIBUTES
from evaluation.services.studies.launch import launch_study
from evaluation.services.studies.verification import verify_study
from judging.models import Product
from judging.services.generation.made_studies import make_study
from judging.services.generation.pipeline_runs import estimate_pipeline, pipeline_settings
from judging.services.generation.products import edit_product
from judging.services.runs.lifecycle import retry_run
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.generating import chosen, contents, generated, make_endpoint, study_of_queries

# More than are looked at together here.
AT_ONCE = 10
QUERIES = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(24)]
CASTS = {"checker": {"models": chosen("elm:yes")}, "writers": {"models": chosen("aspen", "birch")}}
OPTIONS = {"attributes": ["age", "style"], "per_attribute": 3}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served, monkeypatch):
    for module in ("workload", "states"):
        monkeypatch.setattr(f"judging.services.generation.{module}.QUERIES_AT_ONCE", AT_ONCE)
    make_endpoint(served, models=("aspen", "birch", "elm:yes", "fir"))
    return study_of_queries(tmp_path, QUERIES)


def by_attribute(run):
    found = {}
    for query, made in contents(run, "chosen").items():
        for each in made:
            found.setdefault(each["attribute"], set()).add(query)
    return found


def test_so_many_queries_are_chosen_for_each_attribute_among_all(study):
    settings = pipeline_settings(study, "adaptability", casts=CASTS, options=OPTIONS)
    told = estimate_pipeline(study, settings)
    run = generated(study, "adaptability", models=(), casts=CASTS, options=OPTIONS)
    assert (run.state, run.unanswered) == ("complete", 0)
    assert len(contents(run, "filter")) == len(QUERIES)
    found = by_attribute(run)
    assert {key: len(queries) for key, queries in found.items()} == {"age": 3, "style": 3}
    assert contents(run, "default").keys() == found["age"] | found["style"]
    assert sum(map(len, contents(run, "adapted").values())) == 2 * (3 * 5 + 3 * 5)
    assert run.calls.count() <= told.total == 48 + 12 + 60
    assert list(verify_study(study)) == []


def test_a_query_that_is_not_fit_is_never_chosen(study):
    casts = {**CASTS, "checker": {"models": chosen("fir")}}
    options = {"attributes": ["age"], "responses": "default"}
    run = generated(study, "adaptability", models=(), casts=casts, options=options)
    fit = {
        query
        for query, [said] in contents(run, "filter").items()
        if said["important"] and said["independent"] and said["well_formed"]
    }
    assert 0 < len(fit) < len(QUERIES)
    assert by_attribute(run) == {"age": fit}
    assert contents(run, "adapted") == {}


def test_queries_that_come_later_find_the_places_taken(study, served):
    served.behaviours = "400@0.5"
    run = generated(study, "adaptability", models=(), casts=CASTS, options=OPTIONS)
    before = by_attribute(run)
    assert run.unanswered > 0
    served.behaviours = ""
    retry_run(run)
    assert work_on(run.pk).state == "complete"
    after = by_attribute(run)
    assert all(queries <= after[key] for key, queries in before.items())
    assert {key: len(queries) for key, queries in after.items()} == {"age": 3, "style": 3}
    assert len(contents(run, "filter")) == len(QUERIES)


def test_people_rate_default_responses_for_every_value_of_the_attribute(study):
    run = generated(study, "adaptability", models=(), casts=CASTS, options=OPTIONS)
    made = make_study(run, slug="defaults")
    assert (made.protocol, made.items.count()) == ("relevance", 2 * (3 + 3))
    launch_study(made)
    item = made.items.filter(key__contains="-age-").first()
    [follow_up] = item.stimulus["context"]["follow_ups"]
    assert follow_up["answers"] == list(ATTRIBUTES["age"].values)
    assert not follow_up["answer"]
    assert {arm.key for arm in made.arms.all()} == {"NoCtxGen-CtxEval"}
    assert item.responses.get().context is None
    assert list(verify_study(made)) == []


def test_people_rate_adapted_responses_for_the_value_they_were_written_for(study):
    run = generated(study, "adaptability", models=(), casts=CASTS, options=OPTIONS)
    made = make_study(run, {"shape": "adapted"}, slug="adapted")
    assert made.items.count() == 2 * (3 * 5 + 3 * 5)
    launch_study(made)
    written = {each["text"]: each for found in contents(run, "adapted").values() for each in found}
    for item in made.items.all():
        [follow_up], [response] = item.stimulus["context"]["follow_ups"], item.stimulus["responses"]
        assert follow_up["answer"] == written[response["text"]]["value"]
    assert {arm.key for arm in made.arms.all()} == {"CtxGen-CtxEval"}
    assert list(verify_study(made)) == []


def test_people_who_read_german_rate_the_same_values_in_german(study):
    Study.objects.update(language="de")
    run = generated(study, "adaptability", models=(), casts=CASTS, options=OPTIONS)
    made = make_study(run, {"shape": "adapted"}, slug="adapted")
    ages = ["Kinder", "Jugendliche", "Junge Erwachsene", "Erwachsene mittleren Alters", "Ältere Menschen"]
    assert made.attributes.get(key="age").values == ages
    launch_study(made)
    written = {each["text"]: each for found in contents(run, "adapted").values() for each in found}
    for item in made.items.filter(key__contains="-age-"):
        [follow_up], [response] = item.stimulus["context"]["follow_ups"], item.stimulus["responses"]
        assert follow_up["answers"] == ages
        value = ATTRIBUTES["age"].values[ages.index(follow_up["answer"])]
        assert value == written[response["text"]]["value"]
    assert list(verify_study(made)) == []


def test_a_study_has_the_attributes_that_its_run_brought(study):
    Study.objects.update(language="de")
    diet = "diet | What do you eat? | Everything | Children"
    options = {"own_attributes": [diet], "attributes": ["diet"], "per_attribute": 2}
    run = generated(study, "adaptability", models=(), casts=CASTS, options=options)
    made = make_study(run, {"shape": "adapted"}, slug="diets")
    assert made.attributes.get(key="diet").values == ["Everything", "Children"]
    assert made.items.count() == 2 * 2 * 2
    launch_study(made)
    edited = Product.objects.filter(unit__run=run, unit__step="adapted").first()
    edit_product(edited, {**edited.content, "value": "Fish"})
    fewer = make_study(run, {"shape": "adapted"}, slug="fewer-diets")
    assert fewer.items.count() == 2 * 2 * 2 - 1
    left_out = Import.objects.get(created_study=fewer).notes["left_out"]
    assert left_out["responses to a value that the attribute does not have"] == 1
    assert list(verify_study(made)) == []


def test_what_was_not_written_is_counted_and_not_made_up(study):
    options = {**OPTIONS, "responses": "default"}
    run = generated(study, "adaptability", models=(), casts=CASTS, options=options)
    made = make_study(run, slug="defaults")
    assert (
        Import.objects.get(created_study=made).notes["left_out"]["queries that were chosen for no attribute"]
        >= 18
    )
