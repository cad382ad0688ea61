"""Agreement over queries, and over queries and raters, in reports: of every kind of question."""

import numpy as np
import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db
KEY = "agreement/two_ways"
# Those that it is held against.
FIGURES = [KEY, "agreement/alpha", "agreement/concordance", "agreement/gwet_ac1", "agreement/two_votes"]
PARTS = ("r1", "r2", "r3")


def records(report, figure=KEY):
    return {each["question"]: each for each in report["records"] if each["figure"] == figure}


def a_study_of_scores():
    """Six people rate three responses, and say yes or no to each, more or less alike."""
    study = answered_study("custom", queries=8)
    rng = np.random.default_rng(3)
    worth = rng.normal(size=(8, 3))
    for number in range(6):
        answers = []
        for of_item in worth:
            seen = of_item + rng.normal(size=3) + number / 4
            rated = np.clip(np.round(3 + seen), 1, 5).astype(int).tolist()
            answers.append(
                {
                    "coherence": dict(zip(PARTS, rated, strict=True)),
                    "sound": dict(zip(PARTS, (seen > 0).astype(int).tolist(), strict=True)),
                }
            )
        give(study, new_rater(study, f"person-{number}"), answers)
    return study


def test_ratings_and_checklists_at_their_levels():
    report = build_report(a_study_of_scores(), replicates=20, only=FIGURES)
    found = records(report)
    alphas = records(report, "agreement/alpha")
    assert (found["coherence"]["level"], found["sound"]["level"]) == ("ordinal", "nominal")
    for question, record in found.items():
        # One number has one interval, wherever it stands.
        assert record["alpha"]["over_queries"] == alphas[question]["levels"][0]["alpha"]
        assert (record["tau"], record["raters"]) == (None, 6)
        both = record["alpha"]["over_both"]
        assert both["low"] < record["alpha"]["over_queries"]["low"] < both["value"] < both["high"]
    # Of a scale there is no chance of the same label.
    assert found["coherence"]["pairwise"] is None
    rates = records(report, "agreement/gwet_ac1")["sound"]
    assert found["sound"]["pairwise"]["over_queries"]["value"] == pytest.approx(rates["agreement"])
    page = report_markdown(report)
    assert page.count("Over queries and raters") == 1
    assert "alpha, ordinal" in page
    assert "two raters agree, %" in page


def test_rankings_by_tau():
    study = answered_study("ranking", queries=6)
    rng = np.random.default_rng(5)
    for number in range(5):
        orders = [np.argsort(np.argsort(np.arange(3) + rng.normal(size=3))) + 1 for _ in range(6)]
        give(
            study,
            new_rater(study, f"person-{number}"),
            [{"ranking": dict(zip(PARTS, order.tolist(), strict=True))} for order in orders],
        )
    report = build_report(study, replicates=20, only=FIGURES)
    [found] = records(report).values()
    [concordance] = records(report, "agreement/concordance").values()
    assert found["tau"]["over_queries"] == concordance["tau"]
    assert found["tau"]["over_both"]["method"] == "jackknife over 6 queries and 5 raters"
    assert found["alpha"] is found["pairwise"] is found["level"] is None


def test_picks_by_system():
    study = answered_study("aspects")
    for number in range(5):
        give(study, new_rater(study, f"person-{number}"), [{"best": "r1" if number else "r2"}] * 4)
    report = build_report(study, replicates=20, only=FIGURES)
    found = records(report)["best"]
    # Four of five agree on every item: six of ten pairs.
    assert found["pairwise"]["over_queries"]["value"] == pytest.approx(0.6)
    assert found["alpha"]["over_queries"] == records(report, "agreement/alpha")["best"]["levels"][0]["alpha"]


def test_preferences_as_they_stand_elsewhere(owner):
    study = judged_study(owner=owner)
    judge(study, raters=5)
    report = build_report(study, replicates=20, only=FIGURES)
    [found], [votes], [alpha] = (
        records(report, figure).values() for figure in (KEY, "agreement/two_votes", "agreement/alpha")
    )
    limits = [(each["value"], each["low"], each["high"]) for each in (
        found["pairwise"]["over_queries"], votes["within"]["with_ties"],
        found["alpha"]["over_queries"], alpha["levels"][0]["alpha"],
    )]  # fmt: skip
    assert limits[0] == pytest.approx(limits[1])
    assert limits[2] == pytest.approx(limits[3])


def test_a_single_rater_has_none():
    study = answered_study("aspects")
    give(study, new_rater(study, "person-0"), [{"best": "r1"}] * 4)
    assert not records(build_report(study, replicates=20, only=FIGURES))


def test_a_rule_about_preferences_keeps_no_interval_of_ratings():
    study = a_study_of_scores()
    study.stopping, study.redundancy = {"figure": "agreement", "half_width": 0.1}, 6
    study.save()
    found = records(build_report(study, replicates=20, only=FIGURES))["coherence"]
    assert found["alpha"]["over_both"]["low"] is not None
