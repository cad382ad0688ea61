"""Derived judges on published judgments, through runs of real judges and the report."""

import json

import pytest
from django.core.management import call_command

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.imports.scores import import_scores
from evaluation.dumps.published import read_release
from evaluation.models import Answer, Study
from judging.services.judges import create_judge, heuristic_judge
from tests.judging.build import judged
from tests.published import published_data

pytestmark = pytest.mark.django_db
# Of formality, amount of information and factuality (the LFQA paper, section 4.2).
PUBLISHED = {"formality": 0.335, "amount_info": 0.739, "factuality": 2.048}


def run(study, judge):
    found, _ = judged(study, judge)
    assert (found.state, found.reason) == ("complete", "")
    return found


def of_figure(report, figure):
    labels = {group["key"]: group["label"] for group in report["groups"]}
    return {
        (labels[each["group"]], each["question"]): each
        for each in report["records"]
        if each["figure"] == figure
    }


@pytest.fixture(scope="module")
def lfqa(around_module):
    path = published_data("lfqa/gpt4_ratings.jsonl")
    return import_dump(read_release("lfqa", path.parent), slug="lfqa")


@pytest.mark.audit
def test_pandalm(owner):
    """Of 50 categories none has thirty queries, so that every fold takes the heuristic that is best over all."""
    path = published_data("pandalm/testset-v1.json")
    call_command("import_published", "pandalm", str(path), slug="pandalm", verbosity=0)
    study = Study.objects.get(slug="pandalm")
    members = ["longer", "shorter", "random"]
    for name in members:
        run(study, heuristic_judge(study, name))
    made = run(study, create_judge(study, name="best", backend="composite", options={"members": members}))
    about = made.judging.rater.about["derived"]
    assert (len(about["categories"]), len(about["by_default"])) == (50, 50)
    assert {name for fold in about["folds"] for name in fold.values()} == {"longer"}
    report = build_report(study, replicates=200, only=["judges/labels_vs_people", "judges/composites"])
    found = of_figure(report, "judges/labels_vs_people")
    outer = {label: round(each["outer"]["value"], 4) for (label, _), each in found.items()}
    assert outer["longer v1"] == outer["best v1"] == 0.6009
    assert outer["shorter v1"] == 0.3043
    assert {round(each["inner"]["value"], 4) for each in found.values()} == {0.9199}
    assert {each["outer"]["n"] for each in found.values()} == {999}
    [beside] = of_figure(report, "judges/composites").values()
    shown = {"agreement": beside["agreement"], "in_sample": beside["in_sample"]}
    shown |= {each["member"]: each["agreement"] for each in beside["members"]}
    assert {name: round(each["value"], 4) for name, each in shown.items()} == {
        "agreement": 0.6009,
        "in_sample": 0.6009,
        "longer": 0.6009,
        "shorter": 0.3043,
        "random": outer["random v1"],
    }
    assert all(each["low"] < each["value"] < each["high"] for each in shown.values())
    stated = about["agreement"]["cross_fitted"]
    assert (round(stated["value"], 4), stated["n"], stated["n_left_out"]) == (0.6009, 999, 0)


def import_lengths(study, file):
    """Words between blanks in the texts as they were released, as an outside script would count them."""
    answers = published_data("lfqa/answers.jsonl").read_text("utf-8").splitlines()
    rows = [
        {
            "item": row["question_id"],
            "response": row["answer_id"],
            "name": "length",
            "score": len(row["answer"].split()),
        }
        for row in map(json.loads, answers)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    import_scores(study, file, judge="length as released")


def test_lfqa(lfqa, tmp_path):
    for name, member, options in (
        ("gpt4-fixed", "gpt-4", {"weights": "fixed", "fixed": PUBLISHED}),
        ("gpt4-equal", "gpt-4", {"weights": "equal"}),
        ("gpt4-fitted", "GPT-4", {}),
        ("llama-fixed", "llama-2-7b", {"weights": "fixed", "fixed": PUBLISHED}),
        ("llama-equal", "llama-2-7b", {"weights": "equal"}),
        ("llama-fitted", "llama-2-7b", {}),
    ):
        options = {"members": [member], **options}
        made = run(lfqa, create_judge(lfqa, name=name, backend="weighted", options=options))
        reasons = made.calls.filter(outcome="failed").values_list("error", flat=True)
        if member == "llama-2-7b":
            # It rated the answers to 108 of the 300 questions.
            assert len(reasons) == 192
            assert set(reasons) == {"llama-2-7b: no rating of factuality of r1."}
        else:
            assert not reasons
    run(lfqa, heuristic_judge(lfqa, "words"))
    import_lengths(lfqa, tmp_path / "lengths.jsonl")
    fitted = made.judging.rater.about["derived"]["weights"]
    assert fitted == pytest.approx(
        {"factuality": 2.0473, "amount_info": 0.7342, "formality": 0.3465}, abs=5e-5
    )
    keys = ["judges/ratings_vs_people", "judges/measures", "judges/weighted_aspects"]
    report = build_report(lfqa, replicates=200, only=keys)
    direct = of_figure(report, "judges/ratings_vs_people")
    for label, r, n in (("GPT-4", 0.7007, 1200), ("Llama 2 7B, fine-tuned", 0.7120, 432)):
        found = direct[label, "acceptability"]["pearson"]
        assert (round(found["value"], 4), found["n"]) == (r, n)
    measures = of_figure(report, "judges/measures")

    def of_people(question):
        return {each["judge"]: each for each in measures["People", question]["measures"]}

    overall = of_people("acceptability")
    r = {label: (round(each["pearson"]["value"], 4), each["pearson"]["n"]) for label, each in overall.items()}
    assert r == {
        "gpt4-fixed v1": (0.7161, 1200),
        "gpt4-equal v1": (0.7347, 1200),
        "gpt4-fitted v1": (0.7164, 1200),
        "llama-fixed v1": (0.7418, 432),
        "llama-equal v1": (0.7344, 432),
        "llama-fitted v1": (0.7423, 432),
        # Published as .227: words between blanks in the texts as released, where <br> joins two lines to one word.
        "length as released": (0.2274, 1200),
        "words v1": (0.2178, 1200),
    }
    assert all(each["pearson"]["low"] < each["pearson"]["value"] for each in overall.values())
    ways = of_figure(report, "judges/weighted_aspects")
    for label, wanted in (
        ("gpt4-fixed v1", {"direct": 0.7007, "fitted": 0.7164, "fixed": 0.7161, "equal": 0.7347}),
        ("gpt4-fitted v1", {"direct": 0.7007, "fitted": 0.7164, "equal": 0.7347}),
        ("llama-fixed v1", {"direct": 0.7120, "fitted": 0.7423, "fixed": 0.7418, "equal": 0.7344}),
    ):
        found = {each["way"]: each for each in ways[label, "acceptability"]["ways"]}
        assert {way: round(each["pearson"]["value"], 4) for way, each in found.items()} == wanted
        n = 1200 if label.startswith("gpt4") else 432
        assert {each["pearson"]["n"] for each in found.values()} == {n}
        assert all(each["pearson"]["low"] < each["pearson"]["value"] for each in found.values())
    accuracy = {each["way"]: each["accuracy"] for each in ways["gpt4-fixed v1", "acceptability"]["ways"]}
    assert {way: round(each["value"], 3) for way, each in accuracy.items()} == {
        "direct": 0.673, "fitted": 0.699, "fixed": 0.698, "equal": 0.699,
    }  # fmt: skip
    assert {each["n"] for each in accuracy.values()} == {2_700}
    page = report_markdown(report)
    assert "Acceptability from aspects" in page
    assert page.count("asked directly") == 2
    picked = of_people("best")["gpt4-fixed v1"]["accuracy"]
    assert (round(picked["value"], 3), picked["n"]) == (0.698, 2_700)


def test_a_score_that_leaves_the_scale_is_a_measure_and_held_to_it_an_answer(lfqa):
    """Weights of 3.122 points in all take an answer that is as bad as can be below 0."""
    options = {"members": ["gpt-4"], "weights": "fixed", "fixed": PUBLISHED}
    made = run(lfqa, create_judge(lfqa, name="fixed", backend="weighted", options=options))
    answers = Answer.objects.filter(judgment__rater=made.judging.rater)
    scores = answers.filter(question="measure:weighted_overall").values_list("number", flat=True)
    held = answers.filter(question="acceptability").values_list("number", flat=True)
    assert (min(scores), max(scores), len(scores)) == (pytest.approx(-0.122), 3.0, 1200)
    assert (min(held), max(held), len(held)) == (0.0, 3.0, 1200)
