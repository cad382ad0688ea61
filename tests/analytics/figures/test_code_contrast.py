"""Codes of people's and models' justifications in reports, by setting, and coders beside each other."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.models import Arm, Item, ItemResponse, Query, Response
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import empty_study, give, items_of, new_rater

pytestmark = pytest.mark.django_db
KEY = "ratings/code_contrast"
QUERIES = 12


def coded_study():
    """Per query and setting a reason by a person and one by a model. A judge finds style in every reason of people, and
    in every fourth of the model; relevance in all. A person codes the first half otherwise."""
    study = empty_study("justification_coding", kinds={"crowd": "person", "gpt": "model"})
    study.arms.update(context_at_judging=False)
    Arm.objects.create(study=study, key="with", label="With context")
    for number in range(QUERIES):
        query = Query.objects.create(study=study, key=f"q{number}", text=f"What about {number}?")
        for arm in study.arms.all():
            for system in study.systems.all():
                key = f"{system.key}-{arm.key}"
                response = Response.objects.create(query=query, key=key, system=system, text="It says why.")
                item = Item.objects.create(study=study, key=f"{query.key}-{key}", query=query, arm=arm)
                ItemResponse.objects.create(item=item, response=response)
    launch_study(study)
    study.refresh_from_db()
    [question] = study.protocol_object.questions(study.revisions.get().spec, items_of(study)[0].stimulus)
    style, relevance = (
        next(tag for tag in question.choices if question.groups[tag] == group)
        for group in dict.fromkeys(question.groups[tag] for tag in question.choices)
    )

    def tags(held):
        return {question.key: {tag: int(tag in held) for tag in question.choices}}

    judged, coded = [], []
    for item in items_of(study):
        number, people = int(item.query.key[1:]), "crowd" in item.key
        judged.append(tags({relevance, style} if people or number % 4 == 0 else {relevance}))
        coded.append(tags({style}) if number < QUERIES // 2 else None)
    give(study, new_rater(study, "coder", "judge"), judged)
    give(study, new_rater(study, "ann"), coded)
    return study, style, relevance


def test_people_and_models_and_two_coders():
    study, style, relevance = coded_study()
    report = build_report(study, replicates=20, only=[KEY])
    records = {r["group"]: r for r in report["records"] if r["figure"] == KEY}
    judge = next(each["key"] for each in report["groups"] if each["kind"] == "judge")
    writers = {each["code"]: each for each in records[judge]["writers"]}
    assert (writers[style]["first"]["value"], writers[style]["second"]["value"]) == (1, 0.25)
    assert writers[style]["paired"]
    assert writers[style]["test"]["n"] == QUERIES
    tests = [each["test"] for each in records[judge]["writers"]]
    # Others that differ on few queries could not have had as small a p-value.
    as_small = sum(test["least"] <= 2 * 2**-9 for test in tests)
    assert writers[style]["test"]["p_value"] == pytest.approx(2 * 2**-9)
    assert writers[style]["test"]["tests"] == len(tests)
    assert writers[style]["test"]["p_corrected"] == pytest.approx(2 * 2**-9 * as_small)
    assert writers[relevance]["difference"]["value"] == 0
    assert [each["arm"] for each in writers[style]["by_arm"]] == ["all", "with"]
    grouped = [each for each in records[judge]["writers"] if each["group_of_tags"]]
    assert [each["difference"]["value"] for each in grouped] == [-0.75, 0]
    coders = {each["code"]: each for each in records[judge]["coders"]}
    # On the texts of the first six queries: those of people, and those of the model on two queries.
    assert coders[style]["first"]["value"] == 1
    assert coders[style]["second"]["value"] == pytest.approx((12 + 4) / 24)
    assert coders[relevance]["difference"]["value"] == 1
    assert records["person"]["coders"] == []
    text = report_markdown(report)
    assert "Texts by people and by models" in text
    assert "Coding by people and by others" in text
