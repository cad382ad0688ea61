"""The alternative-annotator test and the worth of judges in reports, by kind of question."""

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from tests.analytics.reports.answering import answered_study, drawn_answers, give, new_rater
from tests.analytics.reports.judging import answer, judge, judged_study, main_items, new_judge

pytestmark = pytest.mark.django_db
TEST, WORTH, OWN = (
    f"replacement/{name}" for name in ("alternative_annotator", "people_worth", "self_preference")
)


def records(report, figure, group="judge-0"):
    return {
        record["question"]: record
        for record in report["records"]
        if record["figure"] == figure and record["group"] == group
    }


def test_of_preferences(owner):
    """Everybody prefers the first response, but one person in every fourth item, and the judge never."""
    study = judged_study(owner=owner, queries=12, epsilon=0.2)
    people = judge(study, choose=lambda rater, position: "tie" if rater == 2 and position % 4 == 0 else "r1")
    judge(study, raters=1, kind="judge", choose=lambda rater, position: "r1")
    report = build_report(study, replicates=20, only=[TEST, WORTH, OWN])
    [found] = records(report, TEST).values()
    assert (found["epsilon"], found["score"], found["people"]) == (0.2, "accuracy", 3)
    # Without the third person the judge says what the others say, whatever the third says.
    assert [each["judge"] for each in found["annotators"]] == [1, 1, 1]
    assert {each["rater"]: each["own"] for each in found["annotators"]}[people[2].pseudonym] == 0.75
    assert (found["winning_rate"], found["passes"], found["advantage"]["value"]) == (1, True, 1)
    [worth] = records(report, WORTH).values()
    assert (worth["most"], worth["beyond"], worth["score"]) == (2, True, "agreement")
    assert worth["judge"]["value"] == pytest.approx(11 / 12)
    page = report_markdown(report)
    assert "corrected by Benjamini-Yekutieli for a false discovery rate of 0.05, not by Holm" in page
    assert "more than 2" in page


def test_too_few_items_say_so(owner):
    study = judged_study(owner=owner, queries=4)
    judge(study)
    judge(study, raters=1, kind="judge")
    report = build_report(study, replicates=20, only=[TEST, WORTH, OWN])
    [found] = records(report, TEST).values()
    assert (found["winning_rate"], found["passes"], found["annotators"]) == (None, None, [])
    assert "The test needs at least 3 people with 30 items each; there are 0." in report_markdown(report)


def test_of_ratings_picks_and_choices():
    study = answered_study("aspects", queries=32)
    for number in range(3):
        give(study, new_rater(study, f"person-{number}"), drawn_answers(study, number))
    give(study, new_rater(study, "judge-0", "judge"), drawn_answers(study, 7))
    report = build_report(study, replicates=20, only=[TEST, WORTH, OWN])
    forms = {question["key"]: (question["form"], question["level"]) for question in report["questions"]}
    tested, worth = records(report, TEST), records(report, WORTH)
    assert tested.keys() == worth.keys() == forms.keys()
    for key, (form, level) in forms.items():
        numbers = form == "rated" and level != "nominal"
        assert (tested[key]["score"], worth[key]["score"]) == (
            ("rmse", "rmse") if numbers else ("accuracy", "agreement")
        )
        assert tested[key]["winning_rate"] is not None
        assert worth[key]["judge"]["value"] is not None
        assert worth[key]["others"] == 2
    page = report_markdown(report)
    assert "Judges in people" in page
    # Of a scale the error of three people and more follows from the variance of three ratings.
    assert "Extrapolated: most of what was rated has fewer people" in page
    assert "s being the variance of the ratings of one thing" in page
    assert "predicted by every set of so many others" in page


def test_labels_are_predicted_by_every_set_of_people_and_never_extrapolated(owner):
    study = judged_study(owner=owner)
    judge(study)
    judge(study, raters=1, kind="judge", choose=lambda rater, position: "r1")
    page = report_markdown(build_report(study, replicates=20, only=[TEST, WORTH, OWN]))
    assert "predicted by every set of so many others" in page
    assert "xtrapolat" not in page


def test_a_judge_that_favours_its_own(owner):
    """People never prefer the first system, which is the judge's model, and the judge always does."""
    study = judged_study(owner=owner, queries=12)
    first = study.systems.order_by("key").first()
    judge(study, raters=2, choose=lambda rater, position: "tie")
    for name, choice in ((first.key, "r1"), ("cedar", "r1")):
        own = new_judge(study, name, model=name)
        for item in main_items(study):
            answer(study, own, item, choice)
    report = build_report(study, replicates=20, only=[TEST, WORTH, OWN])
    [found] = [record for record in report["records"] if record["figure"] == OWN]
    assert (found["group"], found["systems"]) == (f"judge-{first.key}", [first.key])
    assert (found["people"]["value"], found["judge"]["value"]) == (0.5, 1)
    assert (found["difference"]["value"], found["test"]["tests"]) == (0.5, 1)
    assert found["test"]["p_corrected"] < 0.001
    assert "Self-preference" in report_markdown(report)


def test_a_judge_is_lenient_towards_all_and_its_family_is_recorded():
    study = answered_study("custom", queries=6)
    study.systems.filter(key__in=("aspen", "birch")).update(family="trees")
    parts = ("r1", "r2", "r3")
    give(study, new_rater(study, "person-0"), [{"coherence": dict.fromkeys(parts, 2)}] * 6)
    lenient = new_rater(study, "judge-0", "judge", model="oak", own_family="trees")
    give(study, lenient, [{"coherence": dict.fromkeys(parts, 4)}] * 6)
    partial = new_rater(study, "judge-1", "judge", model="cedar-7b", own_system="cedar")
    give(study, partial, [{"coherence": {"r1": 2, "r2": 2, "r3": 5}}] * 6)
    report = build_report(study, replicates=20, only=[TEST, WORTH, OWN])
    found = {record["group"]: record for record in report["records"] if record["figure"] == OWN}
    assert (found["judge-0"]["systems"], found["judge-0"]["difference"]["value"]) == (["aspen", "birch"], 0)
    assert (found["judge-1"]["systems"], found["judge-1"]["difference"]["value"]) == (["cedar"], 3)
    assert found["judge-1"]["difference"]["unit"] == "queries"


def test_a_judge_that_ranks_its_own_first():
    """People put the judge's own system second of three, and the judge puts it first."""
    study = answered_study("ranking", queries=6)
    give(study, new_rater(study, "person-0"), [{"ranking": {"r1": 1, "r2": 2, "r3": 3}}] * 6)
    own = new_rater(study, "judge-0", "judge", model="birch-7b", own_system="birch")
    give(study, own, [{"ranking": {"r1": 2, "r2": 1, "r3": 3}}] * 5 + [None])
    report = build_report(study, replicates=20, only=[TEST, WORTH, OWN])
    [found] = records(report, OWN).values()
    # The others' mean rank is 2 for people and 2.5 for the judge.
    assert (found["people"]["value"], found["judge"]["value"]) == (0, 1.5)
    assert (found["difference"]["value"], found["difference"]["n"], found["difference"]["unit"]) == (
        1.5,
        5,
        "queries",
    )
    assert [each["n"] for each in found["difference"]["left_out"]] == [1]
    assert "mean rank of the other systems minus that of the judge's own" in report_markdown(report)
