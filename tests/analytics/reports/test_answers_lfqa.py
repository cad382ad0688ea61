"""The report of the published ratings of long-form answers reproduces what the study published."""

import json
from collections import defaultdict

import pytest

from evaluation.models import Item, ItemResponse, Query, Response
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import empty_study, new_rater
from tests.analytics.reports.reading import build_report
from tests.published import published_data

pytestmark = pytest.mark.django_db
ASPECTS = {
    "acceptability": "acceptability",
    "factuality": "factuality",
    "amountInfo": "amount_info",
    "formality": "formality",
}
SYSTEMS = {
    "dataset_answer_random": ("human-random", "person"),
    "dataset_answer_top1": ("human-top", "person"),
    "generated_answer_casual": ("model-casual", "model"),
    "generated_answer_formal": ("model-formal", "model"),
}


def lines(name):
    return [json.loads(line) for line in published_data(f"lfqa/{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def report():
    return build_report(lfqa_study(), replicates=200)


def lfqa_study():
    """The published answers as a study, with the published ratings."""
    answers, ratings = lines("answers"), lines("mturk_ratings")
    study = empty_study("aspects", kinds=dict(SYSTEMS.values()))
    arm, systems = study.arms.get(), {system.key: system for system in study.systems.all()}
    by_question = defaultdict(list)
    for answer in answers:
        by_question[answer["question_id"]].append((SYSTEMS[answer["answer_label"]][0], answer["answer_id"]))
    queries = Query.objects.bulk_create(Query(study=study, key=key, text=key) for key in by_question)
    items = Item.objects.bulk_create(Item(study=study, key=each.key, query=each, arm=arm) for each in queries)
    part = {}
    for query, item in zip(queries, items, strict=True):
        named = sorted(by_question[query.key])
        part |= {answer_id: f"r{number}" for number, (_, answer_id) in enumerate(named, 1)}
        responses = Response.objects.bulk_create(
            Response(query=query, system=systems[key], key=answer_id, text=key) for key, answer_id in named
        )
        ItemResponse.objects.bulk_create(ItemResponse(item=item, response=each) for each in responses)
    launch_study(study)
    study.refresh_from_db()
    judge(study, items, ratings, part)
    return study


def judge(study, items, ratings, part):
    """Three assignments per question, by a rater each: who they were tells nothing here."""
    given = defaultdict(list)
    for rating in ratings:
        given[rating["question_id"], rating["assignment_id"]].append(rating)
    raters = [new_rater(study, f"worker {number}") for number in range(3)]
    item, revision, seen = {each.key: each.pk for each in items}, study.revisions.get().pk, defaultdict(int)
    batch = []
    for (question, _), rows in given.items():
        answers = [
            AnswerValue(key, Kind.SCALE, part[row["answer_id"]], number=float(row[name]))
            for row in rows
            for name, key in ASPECTS.items()
        ]
        (best,) = [part[row["answer_id"]] for row in rows if row["preference"]]
        answers.append(AnswerValue("best", Kind.PREFERENCE, label=best))
        rater = raters[seen[question]]
        seen[question] += 1
        batch.append(
            JudgmentInput(rater_id=rater.pk, item_id=item[question], revision_id=revision, answers=answers)
        )
    record_judgments(study=study, batch=batch)


def test_the_published_figures(report):
    figures = {
        question["key"]: question["groups"][0] for question in report["questions"] if question["groups"]
    }
    means = {each["system"]: each["mean"]["value"] for each in figures["acceptability"]["by_system"]}
    assert means == pytest.approx(
        {"human-random": 1.157, "human-top": 1.384, "model-casual": 2.356, "model-formal": 2.458}, abs=5e-4
    )
    alphas = {key: figures[key]["alpha"]["value"] for key in ASPECTS.values()}
    assert alphas == pytest.approx(
        {"factuality": 0.284, "amount_info": 0.523, "formality": 0.396, "acceptability": 0.467}, abs=5e-4
    )
    assert {question["level"] for question in report["questions"] if question["kind"] == "scale"} == {
        "ordinal"
    }
    picks = figures["best"]["picks"]
    (models,) = [each for each in picks["by_kind"] if each["kind"] == "model"]
    assert models["share"]["value"] == pytest.approx(0.83, abs=5e-4)
    assert (picks["same"]["n_all_same"], picks["same"]["n_two_same"], picks["same"]["all_same"]["n"]) == (
        69,
        259,
        300,
    )
    assert [(each["kind"], each["about"]) for each in report["findings"]] == [
        ("rated", "model-formal"),
        ("rated_last", "human-random"),
        ("rated_last", "human-random"),
        ("picked", "model-formal and model-casual"),
        ("picked_less", "human-random and human-top"),
    ]
