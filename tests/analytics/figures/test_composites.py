"""Composite judges in reports: the member of each category, cross-fitted and in-sample agreement, the members' own."""

import numpy as np
import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.judging import new_judge
from tests.judging.services.derived.build import (
    OTHER,
    items_of,
    people,
    right_in,
    say,
    study_in_categories,
    truth,
)

pytestmark = pytest.mark.django_db
KEY = "judges/composites"


@pytest.fixture
def judged(owner):
    study = study_in_categories({"facts": 20, "style": 10}, owner=owner)
    people(study)
    right_in(study, "alpha", "facts")
    right_in(study, "beta", "style")
    return study


def made_of(study, labels, **about):
    derived = {
        "kind": "composite",
        "questions": ["preference"],
        "members": {"alpha": "judge-alpha", "beta": "judge-beta"},
        "otherwise": "alpha",
        **about,
    }
    return say(study, new_judge(study, "best", derived=derived), labels)


def record(study):
    report = build_report(study, replicates=50, only=[KEY, "judges/labels_vs_people"])
    [found] = [each for each in report["records"] if each["figure"] == KEY]
    return report, found


def test_agreement_is_that_of_its_judgments_and_in_sample_that_of_the_map(judged):
    """In the folds it was wrong five times in facts; the map for everything is right wherever its member is."""
    labels = [OTHER[truth(at)] if at < 5 else truth(at) for at in range(30)]
    folds = [{"facts": "beta", "style": "beta"}, *[{"facts": "alpha", "style": "beta"}] * 4]
    categories = {"facts": "alpha", "style": "beta"}
    made_of(judged, labels, fitted=True, categories=categories, folds=folds, by_default=["style"])
    report, found = record(judged)
    assert found["agreement"]["value"] == pytest.approx(25 / 30)
    assert found["in_sample"]["value"] == 1.0
    # Of facts the first fold chose another member than the map.
    assert (found["of_map"]["value"], found["of_map"]["n"]) == (1.0, 10)
    assert {each["member"]: each["agreement"]["value"] for each in found["members"]} == pytest.approx(
        {"alpha": 20 / 30, "beta": 10 / 30}
    )
    facts, style = found["categories"]
    assert (facts["member"], facts["by_default"], facts["folds"]) == (
        "alpha",
        False,
        ["beta", *["alpha"] * 4],
    )
    assert (facts["agreement"]["value"], facts["agreement"]["n"]) == (pytest.approx(15 / 20), 20)
    assert (style["agreement"]["value"], style["in_sample"]["value"], style["by_default"]) == (1.0, 1.0, True)
    page = report_markdown(report)
    assert "cross-fitted, of the map" in page
    assert "Of the map: the categories for which every fold chose the member of the map" in page
    assert "beta in 1; alpha in 2, 3, 4, 5" in page
    assert "In sample: the members were chosen on the same people that they are compared with" in page
    assert "Its in-sample agreement, with members chosen on the same people, is too high" in page


def test_the_interval_is_that_of_the_same_judge_beside_people(judged):
    drawn = np.random.default_rng(4)
    labels = [truth(at) if drawn.random() < 0.7 else OTHER[truth(at)] for at in range(30)]
    made_of(judged, labels, fitted=True, categories={}, folds=[{}] * 5)
    report, found = record(judged)
    [beside] = [
        each
        for each in report["records"]
        if each["figure"] == "judges/labels_vs_people" and each["group"] == found["group"]
    ]
    assert found["agreement"] == beside["outer"]


def test_by_a_given_map_nothing_is_in_sample(judged):
    made_of(judged, [truth(at) for at in range(30)], fitted=False, categories={"style": "beta"})
    report, found = record(judged)
    assert found["in_sample"] is found["of_map"] is found["least_judged"] is None
    assert [each["member"] for each in found["categories"]] == ["alpha", "beta"]
    page = report_markdown(report)
    assert "by a given map" in page
    assert "In sample" not in page


def test_a_member_that_left_the_figures_has_no_agreement(judged):
    made_of(
        judged, [truth(at) for at in range(30)], fitted=True, categories={"style": "beta"}, folds=[{}] * 5
    )
    judged.raters.filter(pseudonym="judge-beta").update(in_figures=False)
    _, found = record(judged)
    assert [each["agreement"]["n"] for each in found["members"]] == [30, 0]
    assert len(items_of(judged)) == found["agreement"]["n"]
    assert found["in_sample"]["n"] == 20
