"""Condition drafts at work: a study to calibrate, one of answers to score, and CondAmbigQA from questions to scores."""

from itertools import combinations

import pytest

from analytics.reports.build import build_report
from benchmarks.condambigqa_whole import MEASURES, SETTINGS, Whole, run_whole
from evaluation.protocols.entries.sets import read_set
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from judging.generation.conditions.answering import LABELS
from judging.models import Product
from judging.services.generation.made_studies import make_study
from judging.services.generation.products import drop_products
from tests.analytics.reports.answering import give, new_rater
from tests.calibrations import FRAGMENTS, NEW, OLD, calibrated, calibration_study, kept
from tests.judging import endpoint
from tests.judging.generating import chosen, contents, generated, make_endpoint, study_of_queries
from tests.published import published_data

QUERIES = [
    {"key": f"q{n}", "text": f"When was bridge {n} opened?", "documents": list(FRAGMENTS)} for n in range(8)
]
ALL = {"screening": "none", "settings": "all"}
DRAFTERS = {"drafters": {"models": chosen("aspen", "birch", "birch")}}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        make_endpoint(server)
        yield server


@pytest.fixture
def study(db, tmp_path, served):
    return study_of_queries(tmp_path, QUERIES)


def test_what_is_ambiguous_becomes_a_study_to_calibrate(study):
    run = generated(study, "condition_drafts", casts=DRAFTERS)
    screened = contents(run, "screening")
    ambiguous = {key for key, [made] in screened.items() if made["ambiguous"]}
    assert 0 < len(ambiguous) < len(QUERIES)
    assert contents(run, "fragments").keys() == ambiguous
    assert all(len(made) == 3 for made in contents(run, "drafts").values())
    merged = contents(run, "merged")
    made = make_study(run, slug="drafts")
    assert (made.protocol, made.redundancy) == ("condition_calibration", 2)
    assert set(made.items.values_list("key", flat=True)) == {
        key for key, [each] in merged.items() if each["entries"]
    }
    for item in made.items.select_related("query"):
        [response] = item.responses.all()
        assert read_set(response.text) == [{**each, "origins": []} for each in merged[item.key][0]["entries"]]
        assert item.query.documents == list(FRAGMENTS)


def test_every_drafters_set_side_by_side(study):
    run = generated(study, "condition_drafts", casts=DRAFTERS, options={"screening": "none"})
    made = make_study(run, {"drafts": "all"}, slug="drafts")
    assert set(made.systems.values_list("key", flat=True)) == {"aspen-d1", "birch-d2", "birch-d3"}
    item = made.items.first()
    assert item.responses.count() == 3
    # The same question to the same model is another sample: not the same draft out of the cache.
    assert run.calls.filter(step="drafts", cached=True).count() == 0


def test_answers_are_held_against_the_merged_draft_where_nothing_else_is_known(study):
    run = generated(study, "condition_drafts", models=("aspen",), options=ALL)
    made = make_study(run, {"study": "answers"}, slug="answers")
    assert set(made.systems.values_list("key", "family")) == {
        (f"aspen-{setting}", "aspen") for setting in SETTINGS
    }
    merged = contents(run, "merged")
    for item in made.items.select_related("query"):
        assert item.query.references[0]["entries"] == merged[item.key][0]["entries"]
    assert made.redundancy == 1


def test_a_dropped_draft_is_in_nothing_that_is_made(study):
    run = generated(study, "condition_drafts", models=("aspen",), options={"screening": "none"})
    products = Product.objects.filter(unit__run=run, unit__step="merged")
    drop_products(run, products.values_list("pk", flat=True))
    with pytest.raises(Refused, match="queries without a drafted entry"):
        make_study(run, slug="drafts")


def test_sets_that_people_settled_are_given_and_compared_with(db, served):
    settled = calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD]]}, redundancy=1)
    give(settled, new_rater(settled, "ANNE"), [calibrated(kept(NEW, "r1.e2")), None])
    run = generated(settled, "condition_drafts", models=("aspen",), options=ALL)
    assert contents(run, "drafts").keys() == {"q2"}
    asked = [seen.body["messages"][-1]["content"] for seen in served.log]
    assert sum("=== Condition 1" in each and NEW["condition"] in each for each in asked) == 1
    made = make_study(run, {"study": "answers"}, slug="answers")
    [reference] = made.queries.get(key="q1").references
    assert [each["condition"] for each in reference["entries"]] == [NEW["condition"]]
    assert list(verify_study(settled)) == []


def test_condambigqa_from_its_questions_to_its_scores(db, tmp_path, settings, served):
    settings.ASSAY_CORPORA = str(tmp_path)
    whole = Whole()
    run_whole(published_data("condambigqa/conditions.jsonl"), tmp_path, served, whole)
    counts = whole.counts
    assert counts["questions"] == 20
    assert counts["fragments"] > counts["questions"]
    assert 0 < counts["items to calibrate"] <= counts["ambiguous"] < 20
    assert counts["sets of drafts"] == 3 * counts["ambiguous"]
    assert counts["items to resolve"] == counts["items to calibrate"] == counts["items to score"]
    assert counts["answers"] == 6 * counts["items to resolve"]
    systems = {f"{model}-{setting}" for model in ("aspen", "birch") for setting in SETTINGS}
    for measure in MEASURES:
        found = {system: values for (system, name), values in whole.scores.items() if name == measure}
        if "condition_score" in measure:
            # Answers without conditions have none, nor have sets without entries that are in their setting.
            systems_scored = {system for system in systems if not system.endswith("-rag")}
        else:
            systems_scored = systems
        assert found.keys() == systems_scored
        assert {len(values) for values in found.values()} <= {
            counts["items to score"]
        } or measure == "citation_recall"
    report = build_report(whole.studies[-1], only=["judges/measure_settings"])
    [record] = report["records"]
    [scores] = [each for each in record["measures"] if each["measure"] == "answer_score"]
    assert {
        (cell["first"], cell["second"]) for cell in scores["cells"] if cell["between"] == "settings"
    } == set(combinations(sorted(LABELS.values()), 2))
    assert {cell["within"] for cell in scores["cells"] if cell["between"] == "settings"} == {
        None,
        "aspen",
        "birch",
    }
    given = whole.scores["aspen-given", "answer_count_difference"]
    assert given == [0.0] * counts["items to score"]
    for study in whole.studies:
        assert list(verify_study(study)) == []
