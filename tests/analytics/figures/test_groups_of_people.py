"""Groups of people in reports: every figure of each group, and every two of them held against each other."""

from itertools import combinations

import numpy as np
import orjson
import pytest

from analytics.reports.build import build_report
from analytics.reports.files import report_json
from analytics.reports.markdown import report_markdown
from evaluation.filters import Filters
from evaluation.models import Answer
from evaluation.protocols import Kind, QuestionSpec
from tests.analytics.reports.answering import answered_study, drawn_answers, give, new_rater
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.validator import problems

pytestmark = pytest.mark.django_db
KEY = "raters/groups_of_people"
QUESTIONS = (
    QuestionSpec(
        "flaw", Kind.CHOICE, "What is wrong?",
        options={"none": "Nothing", "wrong": "It is wrong", "form": {"over": "response", "choices": ["none", "wrong"]}},
    ),
    QuestionSpec("order", Kind.RANKING, "Put them in order"),
    QuestionSpec("best", Kind.PREFERENCE, "Which is best?"),
)  # fmt: skip
# Two experts, two of the crowd, two students.
GROUPS = ("experts", "experts", "crowd", "crowd", "students", "students")
# What is shown once with people: their groups held against each other, and the texts that are judged.
OF_THE_WHOLE = {KEY, "texts/readability"}


def grouped(study, groups):
    for rater, group in zip(study.raters.filter(kind="person").order_by("pk"), groups, strict=True):
        study.raters.filter(pk=rater.pk).update(group=group)


@pytest.fixture(scope="module")
def study(around_module):
    study = answered_study(
        "custom",
        questions=QUESTIONS,
        queries=12,
        needs={"query": True, "least": 3, "most": 3},
        slug="grouped",
    )
    for number in range(len(GROUPS)):
        give(study, new_rater(study, f"person-{number}"), drawn_answers(study, number))
    grouped(study, GROUPS)
    return study


@pytest.fixture(scope="module")
def report(study):
    report = build_report(study, replicates=20)
    assert problems(orjson.loads(report_json(report))) == []
    return report


def records(report, figure=KEY):
    return [each for each in report["records"] if each["figure"] == figure]


def pair_of(report, question, first="person-crowd", second="person-experts"):
    (record,) = (each for each in records(report) if each["question"] == question)
    (pair,) = (each for each in record["pairs"] if (each["first"], each["second"]) == (first, second))
    return pair


def answers(study, question, group):
    """{(item, part): what the group's people answered}."""
    found = {}
    rows = Answer.objects.filter(judgment__study=study, question=question, judgment__rater__group=group)
    for answer in rows.select_related("judgment__rater").order_by("judgment__rater__pk", "pk"):
        said = answer.label if answer.number is None else answer.number
        found.setdefault((answer.judgment.item_id, answer.part), []).append(said)
    return found


def gap(study, question, score, keep=lambda part: True):
    """Crowd less experts, the mean over what both answered of the difference of the means over raters."""
    crowd, experts = (answers(study, question, group) for group in ("crowd", "experts"))
    return np.mean(
        [
            np.mean([score(each) for each in crowd[unit]]) - np.mean([score(each) for each in experts[unit]])
            for unit in crowd
            if keep(unit[1])
        ]
    )


def test_every_figure_of_people_is_there_for_each_of_their_groups(report):
    for question in report["questions"]:
        of = {
            group: {
                each["figure"]
                for each in report["records"]
                if (each["question"], each["group"]) == (question["key"], group)
            }
            for group in ("person", "person-crowd", "person-experts", "person-students")
        }
        assert of["person"]
        for group in ("person-crowd", "person-experts", "person-students"):
            assert of["person"] - of[group] <= OF_THE_WHOLE, question["key"]


def test_the_methods_paragraph_counts_them(report):
    people = "6 people (2 of the group crowd; 2 of the group experts; 2 of the group students)"
    assert people in report["methods_paragraph"]


def test_every_two_groups_are_compared_on_every_kind_of_question(report):
    expected = list(combinations(("person-crowd", "person-experts", "person-students"), 2))
    assert {each["question"] for each in records(report)} == {"coherence", "sound", "flaw", "order", "best"}
    for record in records(report):
        assert [(pair["first"], pair["second"]) for pair in record["pairs"]] == expected
    # One family over all questions and pairs of groups. Per pair: two ratings with an overall mean, three systems and
    # agreement; two choices, three systems' places and three systems' picks, each with agreement.
    tests = 3 * (2 * (1 + 3 + 1) + (2 + 1) + (3 + 1) + (3 + 1))
    # So is all else that the head could say: of the best and the worst of three systems that it is rated above or below
    # the others, of each that it is picked, and of three pairs of them in rankings.
    tests += 2 + 3 + 3
    assert pair_of(report, "best")["agreement"]["gap"]["test"]["tests"] == tests


def test_differences_are_those_of_a_look_at_each_answer(study, report):
    systems = {"aspen": "r1", "birch": "r2", "cedar": "r3"}
    for question in ("coherence", "order"):
        found = pair_of(report, question)["by_system"]
        assert [each["system"] for each in found] == list(systems)
        for each in found:
            wanted = gap(study, question, float, lambda part, each=each: part == systems[each["system"]])
            assert each["difference"]["value"] == pytest.approx(wanted)
    assert pair_of(report, "order")["mean"] is None
    picked = pair_of(report, "best")["by_pick"]
    for each in picked:
        wanted = gap(study, "best", lambda label, each=each: label == systems[each["system"]])
        assert each["difference"]["value"] == pytest.approx(wanted)
    for each in pair_of(report, "flaw")["by_choice"]:
        wanted = gap(study, "flaw", lambda label, each=each: label == each["choice"])
        assert each["difference"]["value"] == pytest.approx(wanted)


def test_rankings_agree_by_the_order_of_two_responses(study, report):
    crowd = answers(study, "order", "crowd")
    items = {item for item, _ in crowd}
    same = [
        np.sign(crowd[item, one][0] - crowd[item, other][0])
        == np.sign(crowd[item, one][1] - crowd[item, other][1])
        for item in items
        for one, other in combinations(("r1", "r2", "r3"), 2)
    ]
    within = pair_of(report, "order")["agreement"]["within_first"]
    assert within["value"] == pytest.approx(np.mean(same))
    assert within["n"] == 3 * len(items)


def test_the_report_shows_them(report):
    page = report_markdown(report)
    for heading in (
        "how often each rating was given",
        "by category",
        "by system",
        "which is best?",
        "put them in order",
        "by system: What is wrong?",
    ):
        for group in ("crowd", "experts", "students"):
            assert f"### People, {group}: {heading}" in page
    assert "Shares of groups of people" in page
    assert "People, students" in page
    assert "It is wrong" in page


def test_win_rates_of_two_groups_and_their_two_votes(owner):
    study = judged_study(owner=owner)
    # The first two prefer the first response, the others the second but for one tie in four.
    judge(
        study, raters=4, choose=lambda rater, at: "r1" if rater < 2 else "tie" if (at + rater) % 4 == 0 else "r2"
    )  # fmt: skip
    grouped(study, ("experts", "experts", "crowd", "crowd"))
    report = build_report(study, replicates=20)
    [each] = pair_of(report, "preference")["by_pair"]
    ties = (
        study.judgments.filter(answers__label="tie").count()
        / study.judgments.filter(rater__group="crowd").count()
    )
    assert each["difference"]["value"] == pytest.approx(ties / 2 - 1)
    assert each["test"]["p_corrected"] < 0.05
    votes = {each["group"]: each for each in records(report, "agreement/two_votes")}
    assert votes["person"]["between"] == []
    [between] = votes["person-crowd"]["between"]
    assert (between["group"], between["with_ties"]["value"]) == ("person-experts", 0)
    counted = build_report(study, replicates=20, ties="win")
    [each] = pair_of(counted, "preference")["by_pair"]
    assert each["difference"]["value"] == pytest.approx(ties - 1)


def test_leaderboards_of_groups_are_correlated_and_their_win_rates_shown(owner):
    study = judged_study(owner=owner, systems=("aspen", "birch", "cedar"), items_per_query=3)
    # Experts prefer the first of two systems, the crowd the second.
    judge(study, raters=4, choose=lambda rater, at: "r1" if (rater < 2) == (at % 5 > 0) else "r2")
    judge(study, raters=1, kind="judge", choose=lambda rater, at: "r1" if at % 7 else "r2")
    grouped(study, ("experts", "experts", "crowd", "crowd"))
    report = build_report(study, replicates=20)
    found = {each["group"]: each for each in records(report, "leaderboards/correlations")}
    arms = study.arms.count()
    between = found["person-crowd"]["groups"]
    assert [each["group"] for each in between] == ["person-experts"] * arms + ["judge-0"] * arms
    assert {each["kendall"]["value"] for each in between} == {-1}
    assert {each["group"] for each in found["person"]["groups"]} == {"judge-0"}
    page = report_markdown(report)
    assert "### People, crowd: win rates" in page
    by_judge = page.partition("### Win rates by judge")[2].partition("###")[0]
    assert "People, " not in by_judge


def test_a_single_group_beside_people_of_none_has_figures_and_no_comparison(study):
    study.raters.exclude(group="experts").update(group="")
    report = build_report(study, replicates=20)
    assert [each["key"] for each in report["groups"]] == ["person", "person-experts"]
    assert not records(report)
    study.raters.update(group="experts")
    assert [each["key"] for each in build_report(study, replicates=20)["groups"]] == ["person"]


def test_a_view_holds_judges_against_one_group(study):
    give(study, new_rater(study, "judge-0", "judge"), drawn_answers(study, 0))
    expert = study.raters.get(pseudonym="person-0")
    study.raters.filter(group="experts").exclude(pk=expert.pk).update(group="crowd")
    against = {}
    for group in ("experts", "crowd"):
        report = build_report(study, replicates=20, filters=Filters.parse(study, {"group": [group]}))
        assert problems(orjson.loads(report_json(report))) == []
        assert {each["kind"] for each in report["groups"]} == {"person", "judge"}
        [record] = [
            each for each in records(report, "judges/ratings_vs_people") if each["question"] == "coherence"
        ]
        against[group] = record["error"]["value"]
    # The judge says what this expert says.
    assert against["experts"] == 0
    assert against["crowd"] > 0
