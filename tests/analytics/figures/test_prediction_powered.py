"""Prediction-powered means in reports: what they are, of which judges, and what is said where there are none."""

import numpy as np
import pytest

from analytics.figures.cross_fitted import NO_FOLDS, NO_MEMBERS, OF_FITTED
from analytics.figures.replacement.prediction_powered import JUDGMENTS_CHOSEN, NOT_BY_DESIGN, OTHER_KIND
from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.filters import Filters
from evaluation.models import Query
from evaluation.protocols import AnswerValue, Kind
from evaluation.selectors import queries_of_people
from evaluation.services.judgments import JudgmentInput, record_judgments
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from judging.services.judges import create_judge
from tests import factories
from tests.analytics.reports.answering import answered_study, give, new_rater, some_answers
from tests.analytics.reports.judging import answer, main_items, new_judge
from tests.judging.build import judged
from tests.judging.services.derived.build import imported, items_of, study_in_categories
from tests.judging.services.derived.test_weighted import ASPECTS

pytestmark = pytest.mark.django_db
KEY = "replacement/prediction_powered"
SCORES = {"r1": 1.0, "r2": 0.0, "tie": 0.5}
LABELS = tuple(SCORES)


def sampled_study(queries=120, human_sample=40, **fields):
    study = factories.make_study(
        "sampled", queries=queries, arms=PAPER_ARMS[:1], training=False, checks=0, **fields
    )
    return factories.launch(study, human_sample=human_sample)


def drawn(study, seed):
    """A label of each item, by its key; those of people and of a judge (another seed) are often the same."""
    found = {}
    for item in main_items(study):
        rng = np.random.default_rng([len(item.key), *item.query.key.encode()])
        truth = LABELS[rng.integers(3)]
        own = np.random.default_rng([seed, *item.query.key.encode()])
        found[item.key] = truth if own.random() < 0.7 else LABELS[own.integers(3)]
    return found


def items_of_people(study):
    theirs = queries_of_people(study)
    return [item for item in main_items(study) if theirs is None or item.query_id in theirs]


def people_judge(study, items=None, raters=2):
    """Two people, the second often of another mind; {item key: mean score}."""
    scores = {}
    for number in range(raters):
        rater, labels = new_rater(study, f"person-{number}"), drawn(study, number)
        for item in items_of_people(study) if items is None else items:
            answer(study, rater, item, labels[item.key])
            scores.setdefault(item.key, []).append(SCORES[labels[item.key]])
    return {key: float(np.mean(each)) for key, each in scores.items()}


def judge_judges(study, name="cedar", silent=(), seed=7, **about):
    rater, labels = new_judge(study, name, **about), drawn(study, seed)
    for item in main_items(study):
        if item.key not in silent:
            answer(study, rater, item, labels[item.key])
    return {key: SCORES[label] for key, label in labels.items() if key not in silent}


def record_of(report, group="judge-cedar", question="preference"):
    [found] = [
        each
        for each in report["records"]
        if (each["figure"], each["group"], each["question"]) == (KEY, group, question)
    ]
    return found


def by_hand(people, judge):
    """Weight and mean of {key: value} of people's queries and of all."""
    keys = sorted(people)
    ours, own = np.array([people[key] for key in keys]), np.array([judge[key] for key in keys])
    others = np.array([value for key, value in judge.items() if key not in people])
    n, every = len(keys), np.concatenate([own, others])
    weight = np.cov(ours, own, ddof=0)[0, 1] / (1 + n / len(others)) / every.var(ddof=1)
    weight = min(1.0, max(0.0, weight))
    return weight, ours.mean() + weight * (others.mean() - own.mean())


def test_people_with_a_judge_of_all_queries():
    study = sampled_study()
    people, judge = people_judge(study), judge_judges(study)
    report = build_report(study, replicates=20, only=[KEY])
    found = record_of(report)
    assert (found["refused"], found["cross_fitted"], found["sampled"], found["withdrawn"]) == (
        "",
        False,
        40,
        0,
    )
    [cell] = found["cells"]
    weight, value = by_hand(people, judge)
    assert (cell["system"], cell["opponent"]) == ("aspen", "birch")
    assert (cell["labelled"], cell["sampled"], cell["queries"], cell["unjudged"]) == (40, 40, 120, 0)
    assert cell["people"]["value"] == pytest.approx(np.mean(list(people.values())))
    assert (cell["weight"], cell["combined"]["value"]) == pytest.approx((weight, value))
    alone, combined = (cell[name]["high"] - cell[name]["low"] for name in ("people", "combined"))
    assert combined < alone
    assert cell["worth"] > 40
    one, two, five = cell["needed"]
    assert one["people"] > two["people"] > five["people"]
    # Over 120 queries people's own values leave more than a point, even where all of them are labelled.
    assert one["with_judge"] is None
    page = report_markdown(report)
    assert ": people's means with a judge" in page
    assert "Cannot be reached by labelling more of the 120 judged queries" in page
    assert "prediction-powered inference with a tuned weight" in page
    assert NOT_BY_DESIGN not in page


def test_without_the_design_one_line_says_so():
    study = factories.make_study("plain", queries=12, arms=PAPER_ARMS[:1], training=False, checks=0)
    study = factories.launch(study)
    people_judge(study)
    judge_judges(study)
    judge_judges(study, "oak", seed=9)
    report = build_report(study, replicates=20, only=[KEY])
    assert record_of(report) | {"refused": NOT_BY_DESIGN, "cells": []} == record_of(report)
    page = report_markdown(report)
    assert page.count(NOT_BY_DESIGN) == 1
    assert "prediction-powered" not in page


def test_queries_that_people_did_not_complete():
    study = sampled_study()
    theirs = items_of_people(study)
    people_judge(study, theirs[:36])
    judge_judges(study)
    report = build_report(study, replicates=20, only=[KEY])
    [cell] = record_of(report)["cells"]
    assert (cell["labelled"], cell["sampled"], cell["combined"]["undefined"]) == (36, 40, "")
    assert "without complete judgments are taken to be like the others" in report_markdown(report)


def test_too_many_of_them_are_missing():
    study = sampled_study()
    people_judge(study, items_of_people(study)[:35])
    judge_judges(study)
    [cell] = record_of(build_report(study, replicates=20, only=[KEY]))["cells"]
    assert cell["combined"]["value"] is None
    assert cell["combined"]["undefined"].startswith(
        "People's judgments are complete for 35 of the 40 queries of their part (87.5 %), fewer than 90 %"
    )
    assert (cell["weight"], cell["needed"], cell["labelled"]) == (None, [], 35)
    assert cell["people"]["value"] is not None


def test_too_few_of_them():
    study = sampled_study(queries=60, human_sample=20)
    people_judge(study)
    judge_judges(study)
    [cell] = record_of(build_report(study, replicates=20, only=[KEY]))["cells"]
    assert "at least 30 queries with people's judgments; there are 20" in cell["combined"]["undefined"]


def test_what_people_said_outside_their_part_does_not_count():
    study = sampled_study()
    people_judge(study, main_items(study))
    judge_judges(study)
    [cell] = record_of(build_report(study, replicates=20, only=[KEY]))["cells"]
    assert (cell["labelled"], cell["queries"]) == (40, 120)


@pytest.mark.parametrize(("silent", "undefined"), [(5, False), (30, True)])
def test_queries_that_the_judge_did_not_judge(silent, undefined):
    study = sampled_study()
    people = people_judge(study)
    judge = judge_judges(study, silent={item.key for item in main_items(study)[:silent]})
    [cell] = record_of(build_report(study, replicates=20, only=[KEY]))["cells"]
    assert cell["unjudged"] == silent
    if undefined:
        assert "The judge has judged 90 of the 120 queries (75.0 %)" in cell["combined"]["undefined"]
        return
    mean = np.mean(list(judge.values()))
    filled = {item.key: judge.get(item.key, mean) for item in main_items(study)}
    assert cell["combined"]["value"] == pytest.approx(by_hand(people, filled)[1])


def test_views_keep_it_where_they_choose_queries_and_not_judgments():
    study = sampled_study(queries=240, human_sample=80)
    people = people_judge(study)
    judge = judge_judges(study)
    half = {f"q{number}" for number in range(150)}
    Query.objects.filter(study=study, key__in=half).update(category="here")
    keys = {item.key for item in main_items(study) if item.query.key in half}
    found = record_of(build_report(study, replicates=20, filters=Filters(categories=("here",)), only=[KEY]))
    [cell] = found["cells"]
    kept = {key: value for key, value in people.items() if key in keys}
    assert (cell["labelled"], cell["sampled"], cell["queries"]) == (len(kept), len(kept), 150)
    here = {key: value for key, value in judge.items() if key in keys}
    assert cell["combined"]["value"] == pytest.approx(by_hand(kept, here)[1])
    for filters in (Filters(without_raters=("person-1",)), Filters(revision=1)):
        report = build_report(study, replicates=20, filters=filters, only=[KEY])
        assert record_of(report)["refused"] == JUDGMENTS_CHOSEN
        assert JUDGMENTS_CHOSEN in report_markdown(report)


def test_withdrawn_queries():
    study = sampled_study()
    people_judge(study)
    judge_judges(study)
    for item in items_of_people(study)[:4]:
        withdraw_item(item)
    report = build_report(study, replicates=20, only=[KEY])
    found = record_of(report)
    assert (found["sampled"], found["withdrawn"], found["cells"][0]["labelled"]) == (40, 4, 36)
    assert "4 of the 40 queries of people's part are withdrawn" in report_markdown(report)
    withdraw_item(items_of_people(study)[4])
    found = record_of(build_report(study, replicates=20, only=[KEY]))
    assert (
        "5 of the 40 queries of people's random part are withdrawn, more than one in ten" in found["refused"]
    )


def test_a_system_over_all_opponents():
    study = sampled_study(systems=("aspen", "birch", "cedar"), items_per_query=3)
    people_judge(study)
    judge_judges(study)
    cells = record_of(build_report(study, replicates=20, only=[KEY]))["cells"]
    assert [(cell["system"], cell["opponent"]) for cell in cells] == [
        ("aspen", "birch"),
        ("aspen", "cedar"),
        ("birch", "cedar"),
        ("aspen", None),
        ("birch", None),
        ("cedar", None),
    ]
    assert sum(cell["people"]["value"] for cell in cells[3:]) == pytest.approx(1.5)
    assert all(cell["labelled"] == 40 for cell in cells)


@pytest.fixture
def composed(owner):
    """A composite of two members that are right as often as each other, and lean to either side."""
    study = study_in_categories({"facts": 90, "style": 90}, owner=owner, human_sample=80)
    people = people_judge(study)
    labels = drawn(study, 3)
    for name, favourite, at in (("alpha", "r1", 0), ("beta", "r2", 1)):
        said = [
            labels[item.key] if place % 2 == at else favourite for place, item in enumerate(items_of(study))
        ]
        imported(study, name, name, said)
    best = create_judge(study, name="best", backend="composite", options={"members": ["alpha", "beta"]})
    run, _ = judged(study, best)
    return study, people, run.judging


def test_a_judge_that_was_chosen_on_people_enters_by_its_folds(composed):
    study, people, judging = composed
    about = judging.rater.about["derived"]
    keys = {item.query.key for item in items_of_people(study)}
    assert about["by_query"] == {key: judging.folds[key] for key in keys}
    rows = study.judgments.values_list("rater__pseudonym", "item__key", "answers__label")
    said = {(rater, item): SCORES[label] for rater, item, label in rows}

    def by(chosen, item):
        name = chosen.get(item.query.category, about["otherwise"])
        return said[about["members"][name], item.key]

    values = {}
    for item in items_of(study):
        fold = about["by_query"].get(item.query.key)
        folds = about["folds"] if fold is None else [about["folds"][fold]]
        values[item.key] = float(np.mean([by(chosen, item) for chosen in folds]))
    report = build_report(study, replicates=20, only=[KEY])
    found = record_of(report, judging.rater.pseudonym)
    assert found["cross_fitted"]
    assert found["cells"][0]["combined"]["value"] == pytest.approx(by_hand(people, values)[1])
    assert "by the mean over the folds" in report_markdown(report)


def test_without_its_folds_or_members_it_is_refused(composed):
    study, _, judging = composed
    rater = judging.rater
    label = rater.label
    by_map = {"kind": "composite", "fitted": False, "categories": {}, "otherwise": "best"}
    of_it = new_judge(study, "of it", derived={**by_map, "members": {"best": rater.pseudonym}})
    for item in main_items(study):
        answer(study, of_it, item, "r1")
    report = build_report(study, replicates=20, only=[KEY])
    assert OF_FITTED in record_of(report, "judge-of it")["refused"]
    study.raters.filter(pseudonym="alpha").update(in_figures=False)
    assert NO_MEMBERS in record_of(build_report(study, replicates=20, only=[KEY]), rater.pseudonym)["refused"]
    del rater.about["derived"]["by_query"]
    rater.save()
    report = build_report(study, replicates=20, only=[KEY])
    assert (
        record_of(report, rater.pseudonym)["refused"] == f"{label} is not combined with people: {NO_FOLDS}."
    )
    assert f"{label} is not combined with people" in report_markdown(report)


def test_without_the_design_a_run_keeps_no_folds_with_its_rater(owner):
    study = study_in_categories({"facts": 20}, owner=owner)
    people_judge(study)
    for name in ("alpha", "beta"):
        imported(study, name, name, list(drawn(study, len(name)).values()))
    best = create_judge(study, name="best", backend="composite", options={"members": ["alpha", "beta"]})
    run, _ = judged(study, best)
    assert "by_query" not in run.judging.rater.about["derived"]
    assert len(run.judging.folds) == 20


def rate(study, rater, items, seed):
    """Draws an answer to every scale for each response; {(item, part): acceptability}."""
    said, batch = {}, []
    for item in items:
        shared = np.random.default_rng(list(item.key.encode()))
        own = np.random.default_rng([seed, *item.key.encode()])
        answers = []
        for response in item.stimulus["responses"]:
            part = response["part"]
            base, near = shared.integers(4), own.random() < 0.6
            value = float(base if near else own.integers(4))
            said[item.key, part] = value
            answers.append(AnswerValue("acceptability", Kind.SCALE, part, number=value))
            given = (
                value if own.random() < 0.7 else 1.0,
                float(own.integers(-1, 2)),
                float(own.integers(-1, 2)),
            )
            answers += [
                AnswerValue(key, Kind.SCALE, part, number=number)
                for key, number in zip(ASPECTS, given, strict=True)
            ]
        batch.append(
            JudgmentInput(
                rater_id=rater.pk, item_id=item.pk, revision_id=study.revisions.get().pk, answers=answers
            )
        )
    record_judgments(study=study, batch=batch)
    return said


def test_ratings_by_system_their_differences_and_weighted_aspects(owner):
    study = answered_study("aspects", queries=100, owner=owner, human_sample=36)
    items = main_items(study)
    people = rate(study, new_rater(study, "someone"), items_of_people(study), 1)
    judge = rate(study, new_rater(study, "cedar", "judge"), items, 2)
    options = {"members": ["cedar"]}
    run, _ = judged(study, create_judge(study, name="by-aspect", backend="weighted", options=options))
    report = build_report(study, replicates=20, only=[KEY])
    cells = record_of(report, "cedar", "acceptability")["cells"]
    systems = [response["system"] for response in items[0].stimulus["responses"]]
    names = sorted(systems)
    assert [cell["system"] for cell in cells if cell["opponent"] is None] == names

    def of(values, system):
        return {
            item.key: values[item.key, each["part"]]
            for item in items
            for each in item.stimulus["responses"]
            if each["system"] == system and (item.key, each["part"]) in values
        }

    sides = {name: (of(people, name), of(judge, name)) for name in names}
    for cell in cells:
        ours, own = sides[cell["system"]]
        if cell["opponent"] is not None:
            theirs, other = sides[cell["opponent"]]
            ours = {key: value - theirs[key] for key, value in ours.items()}
            own = {key: value - other[key] for key, value in own.items()}
        weight, value = by_hand(ours, own)
        assert (cell["labelled"], cell["queries"]) == (36, 100)
        assert (cell["weight"], cell["combined"]["value"]) == pytest.approx((weight, value))
    assert [each["half_width"] for each in cells[0]["needed"]] == [0.1, 0.2, 0.5]
    fitted = record_of(report, run.judging.rater.pseudonym, "acceptability")
    assert (fitted["cross_fitted"], fitted["refused"]) == (True, "")
    assert all(cell["combined"]["value"] is not None for cell in fitted["cells"])
    labels = {each.key: each.label or each.key for each in study.systems.all()}
    assert f"{labels[names[0]]} minus {labels[names[1]]}" in report_markdown(report)


@pytest.mark.parametrize(("protocol", "question"), [("aspects", "best"), ("ranking", "ranking")])
def test_picks_and_rankings_say_that_they_are_not_combined(protocol, question):
    study = answered_study(protocol, queries=12, human_sample=4)
    for name, kind in (("someone", "person"), ("cedar", "judge")):
        give(study, new_rater(study, name, kind), some_answers(study))
    report = build_report(study, replicates=20, only=[KEY])
    found = record_of(report, "cedar", question)
    prompt = next(each["prompt"] for each in report["questions"] if each["key"] == question)
    assert (found["refused"], found["cells"]) == (OTHER_KIND.format(prompt=prompt), [])
    assert found["refused"] in report_markdown(report)


def test_without_the_design_picks_and_rankings_say_nothing():
    """No design would combine them."""
    study = answered_study("ranking", queries=12)
    for name, kind in (("someone", "person"), ("cedar", "judge")):
        give(study, new_rater(study, name, kind), some_answers(study))
    report = build_report(study, replicates=20, only=[KEY])
    assert KEY not in {each["figure"] for each in report["records"]}
