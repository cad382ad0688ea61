"""What reports claim in words: certain differences are said, chance is not, and heuristics are no evidence."""

import numpy as np
import pytest

from analytics.figures.families import CLAIMS, JUDGED_SHARE, LEAST_QUERIES, FamilyTest, correct
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.statistics.core import randomization
from tests.analytics.reports.answering import answered_study, give, new_rater
from tests.analytics.reports.judging import answer, judge, judged_study, main_items, new_judge
from tests.analytics.reports.reading import build_report
from tests.analytics.reports.test_one_interval_answers import drawn

pytestmark = pytest.mark.django_db
FEW = LEAST_QUERIES - 1


def report_of(study, **options):
    return build_report(study, replicates=100, **options)


def arms_of(study):
    return {arm.pk: at for at, arm in enumerate(study.arms.order_by("pk"))}


def judged_by_arm(labels, *, queries=10, **options):
    """A study whose three raters give all items of an arm the same label."""
    study = judged_study(queries=queries, **options)
    arm_at = arms_of(study)
    of_item = [labels[arm_at[item.arm_id]] for item in main_items(study)]
    judge(study, choose=lambda rater, position: of_item[position])
    return study


def of_kind(report, kind):
    return [finding for finding in report["findings"] if finding["kind"] == kind]


def heading_and_text(finding):
    return f"{finding['heading']}. {finding['text']}"


def test_a_certain_flip_is_said():
    report = report_of(judged_by_arm(("r2", "r1", "r1")))
    (finding,) = of_kind(report, "pair_flip")
    assert finding["heading"] == "The preferred system changes"
    assert finding["supported"]
    # 2 / 2 ** 10, times what else could have had as small a p-value: changes from the first arm to either of the
    # others, and winners in three arms. Nine things could have been said.
    assert "0.014 after correction for 9 tests" in finding["text"]
    text = report_markdown(report)
    assert "aspen vs birch: The preferred system changes" in text
    assert "0.002 | 0.014" in text
    assert "beyond chance" not in text
    (shown,) = [each for each in report_page(report).findings if each.kind == "pair_flip"]
    assert shown.anchor == "pair-1"


def test_a_larger_margin_is_no_changed_preference():
    """System 1 is preferred in every arm, in the first by seven queries of twelve only."""
    study = judged_study(queries=12)
    arm_at, seen = arms_of(study), {}
    label = []
    for item in main_items(study):
        at = arm_at[item.arm_id]
        number = seen[at] = seen.get(at, -1) + 1
        label.append("r2" if at == 0 and number >= 3 and number < 10 - 2 else "r1")
    judge(study, choose=lambda rater, position: label[position])
    report = report_of(study)
    assert of_kind(report, "pair_flip") == []
    assert "preferred system" not in " ".join(map(heading_and_text, report["findings"]))
    flips = report["groups"][0]["flips"]["pairs"]
    assert all(flip["flip_test"]["p_value"] == 1 for flip in flips)


def test_a_changed_margin_is_said_with_its_size():
    study = judged_study(queries=16)
    arm_at, seen, label = arms_of(study), {}, []
    for item in main_items(study):
        at = arm_at[item.arm_id]
        number = seen[at] = seen.get(at, -1) + 1
        # In the first arm ten queries of sixteen are ties.
        label.append("tie" if at == 0 and number < 10 else "r1")
    judge(study, choose=lambda rater, position: label[position])
    report = report_of(study)
    (finding,) = of_kind(report, "margin_change")
    assert finding["heading"] == "The margin changes by 62.5 points"
    assert "towards aspen" in finding["text"]
    assert "after correction for 9 tests" in finding["text"]
    assert not of_kind(report, "pair_flip")
    # Of six queries in the first arm, too few among so much that could be said.
    assert len(of_kind(report, "winner")) == 2


def acceptability(study, **ratings):
    for name in ("ann", "ben"):
        give(study, new_rater(study, name), [{"acceptability": ratings}] * 12)
    report = report_of(study)
    return report, next(each for each in report["questions"] if each["key"] == "acceptability")


def test_ratings_that_are_always_the_same_name_the_best_system_and_the_worst():
    report, asked = acceptability(answered_study("aspects", queries=12), r1=3, r2=2, r3=1)
    (finding,), (last,) = of_kind(report, "rated"), of_kind(report, "rated_last")
    assert (finding["system"], finding["question"], finding["supported"]) == ("aspen", "acceptability", True)
    assert (last["system"], last["question"], last["supported"]) == ("cedar", "acceptability", True)
    # Of 12 queries at the top of a scale from 0 to 3, Wilson's lower limit; in the middle nothing tells how sure it is.
    assert finding["text"].startswith("Its mean is 3.00 (2.27 to 3.00); the next, birch, has 2.00. Tested")
    assert last["text"].startswith("Its mean is 1.00; the next, birch, has 2.00. Tested against each over 12")
    assert last["text"].endswith("after correction for 2 tests.")
    text = report_markdown(report)
    assert "rated above every other" in text
    assert "Rated below every other" in text
    figures = asked["groups"][0]
    assert [(each["end"], each["system"]) for each in figures["best_and_worst"]] == [
        ("best", "aspen"),
        ("worst", "cedar"),
    ]
    assert (figures["best_system"]["next"], figures["worst_system"]["next"]) == ("birch", "birch")
    # The two tests of each question, whichever system they are of.
    assert figures["best_system"]["tests"] == figures["worst_system"]["tests"] == 2


def test_of_two_systems_the_best_alone_is_named():
    two = answered_study("aspects", queries=12, kinds={"aspen": "model", "birch": "model"})
    report, asked = acceptability(two, r1=3, r2=1)
    (finding,) = of_kind(report, "rated")
    assert (finding["system"], of_kind(report, "rated_last")) == ("aspen", [])
    figures = asked["groups"][0]
    assert [each["end"] for each in figures["best_and_worst"]] == ["best"]
    assert (figures["best_system"]["tests"], figures["worst_system"]) == (1, None)


def test_of_two_systems_that_are_the_worst_alike_neither_is_named():
    report, asked = acceptability(answered_study("aspects", queries=12), r1=3, r2=1, r3=1)
    assert [each["system"] for each in of_kind(report, "rated")] == ["aspen"]
    assert of_kind(report, "rated_last") == []
    assert asked["groups"][0]["worst_system"] is None


def test_no_sentence_below_the_least_number_of_queries():
    study = judged_by_arm(("r2", "r1", "r1"), queries=FEW)
    report = report_of(study)
    (finding,) = report["findings"]
    assert (finding["kind"], finding["heading"]) == ("too_few", "Too few queries for conclusions")
    assert not finding["supported"]
    assert f"At most {FEW} queries were judged by people" in finding["text"]
    text = report_markdown(report)
    assert "too few for a conclusion" in text
    assert text.count("Too few queries for conclusions") == 1
    ranked = answered_study("ranking", slug="few", queries=FEW)
    give(ranked, new_rater(ranked, "ann"), [{"ranking": {"r1": 1, "r2": 2, "r3": 3}}] * FEW)
    (finding,) = report_of(ranked)["findings"]
    assert finding["kind"] == "too_few"
    assert report_page(report_of(ranked)).findings[0].anchor == "methods"


def test_comparisons_without_a_query_are_named_so():
    (finding,) = report_of(drawn("relevance", queries=6))["findings"]
    assert finding["text"].startswith("No query was judged by people in any comparison. With fewer than")


def a_p_value(p_value, n=30, least=0.0):
    return randomization.Tested(p_value, n, "made up", least)


def test_a_family_is_corrected_together_and_leaves_out_what_has_too_few_queries():
    tests = [a_p_value(p, n) for p, n in ((0.01, 30), (0.04, 30), (0.001, 3), (0.02, 30))]
    found = correct([FamilyTest(CLAIMS, test) for test in tests])
    assert [test.p_corrected for test in found] == [0.03, 0.04, None, 0.04]
    assert {test.tests for test in found} == {3}
    assert [bool(test.undefined) for test in found] == [False, False, True, False]


def test_a_stronger_sentence_counts_once_and_only_beside_the_weaker():
    weak, strong, other = (a_p_value(p) for p in (0.001, 0.02, 0.03))
    two = [FamilyTest(CLAIMS, weak), FamilyTest(CLAIMS, strong, beneath=weak)]
    found = correct([*two, FamilyTest(CLAIMS, other)])
    # Two things may be said, of one of them either of two sentences.
    assert [test.p_corrected for test in found] == [0.002, 0.04, 0.03]
    assert {test.tests for test in found} == {2}
    weak, strong = (a_p_value(p) for p in (0.2, 0.01))
    found = correct([FamilyTest(CLAIMS, weak), FamilyTest(CLAIMS, strong, beneath=weak)])
    assert [test.p_corrected for test in found] == [0.2, 0.2]


def test_of_tests_that_can_not_be_as_small_a_family_is_as_good_as_without():
    others = [a_p_value(0.25, 10, least=0.25) for _ in range(40)]
    certain, *_ = correct([FamilyTest(CLAIMS, each) for each in (a_p_value(0.002, 10, least=0.002), *others)])
    assert (certain.p_corrected, certain.tests) == (0.002, 41)


def test_what_judges_do_otherwise_is_one_family_with_a_share_of_the_level():
    """Two judges who prefer otherwise than people: all of their comparisons are corrected together."""
    study = judged_by_arm(("r1", "r1", "r1"), queries=16)
    alone = {rate["arm"]: rate["test"]["p_corrected"] for rate in leading_rates(report_of(study))}
    judge(study, raters=2, kind="judge", choose=lambda rater, position: "r2", label="Maple")
    report = report_of(study)
    cells = [
        cell["test"]
        for record in report["records"]
        if record["figure"] == "replacement/differences"
        for cell in record["cells"]
    ]
    assert {test["tests"] for test in cells} == {6}
    least = 2 / 2**16
    assert max(test["p_corrected"] for test in cells) == pytest.approx(6 * least / JUDGED_SHARE)
    beside = {rate["arm"]: rate["test"]["p_corrected"] for rate in leading_rates(report)}
    assert beside == {arm: pytest.approx(p / (1 - JUDGED_SHARE)) for arm, p in alone.items()}
    told = of_kind(report, "judge")
    assert [each["about"] for each in told] == ["Maple 0", "Maple 1"]
    assert all("100.0 points lower than people's" in each["heading"] for each in told)
    assert all("0.0\xa0% by the judge and 100.0\xa0% by people, on 16 items" in each["text"] for each in told)


def leading_rates(report):
    return report["groups"][0]["win_rates"]["overall"]


def test_losers_are_named():
    """Aspen wins against both others, cedar loses against both."""
    study = judged_study(queries=16, systems=("aspen", "birch", "cedar"), items_per_query=3)
    better = {
        item.pk: [each.response.system.key for each in item.item_responses.order_by("pk")]
        for item in main_items(study)
    }
    labels = ["r1" if better[item.pk] == sorted(better[item.pk]) else "r2" for item in main_items(study)]
    judge(study, choose=lambda rater, position: labels[position])
    (winner, *_), (loser, *_) = of_kind(report_of(study), "winner"), of_kind(report_of(study), "loser")
    assert (winner["about"], loser["about"]) == ("aspen", "cedar")
    assert loser["heading"].startswith("Loses more often than not")


def test_two_systems_have_one_test_between_them():
    study = judged_study(queries=12)
    judge(study)
    rates = report_of(study)["groups"][0]["win_rates"]["overall"]
    assert len(rates) == 6
    assert {rate["test"]["tests"] for rate in rates} == {7}
    several = judged_study("several", queries=12, systems=("aspen", "birch", "cedar"), items_per_query=3)
    judge(several)
    rates = report_of(several)["groups"][0]["win_rates"]["overall"]
    assert {rate["test"]["tests"] for rate in rates} == {21}
    assert all(
        rate["test"] is None for rate in report_of(study, ties="win")["groups"][0]["win_rates"]["overall"]
    )


def test_the_sentence_goes_by_the_corrected_p():
    """Eight queries of nine for one system in one arm only: 0.039 by itself, and 0.117 of three arms."""
    study = judged_study(queries=12)
    arm_at, seen, label = arms_of(study), {}, []
    for item in main_items(study):
        at = arm_at[item.arm_id]
        number = seen[at] = seen.get(at, -1) + 1
        label.append(("r1" if number < 8 else "r2") if at == 0 and number < 9 else "tie")
    judge(study, choose=lambda rater, position: label[position])
    report = report_of(study)
    test = report["groups"][0]["win_rates"]["overall"][0]["test"]
    assert test["p_value"] == pytest.approx(20 / 2**9)
    assert test["p_corrected"] == pytest.approx(3 * 20 / 2**9)
    assert of_kind(report, "winner") == []


def everybody_but_heuristics(report):
    return [group["label"] for group in report["groups"] if not group["heuristic"]]


def test_heuristics_are_no_evidence():
    study = judged_study(queries=12)
    longer = new_judge(study, "by-length", heuristic=True)
    for name in ("cedar", "elm"):
        rater = new_judge(study, name)
        for position, item in enumerate(main_items(study)):
            answer(study, rater, item, ("r1", "r2")[position % 2], shown="r1,r2")
    for item in main_items(study):
        answer(study, longer, item, "r1", shown="r1,r2")
    report = report_of(study)
    together = next(group for group in report["groups"] if group["kind"] == "judges")
    assert together["raters"] == 2
    assert everybody_but_heuristics(report) == ["Judges together", "cedar", "elm"]
    assert not [each for each in report["findings"] if each["supported"]]
    page = report_page(report)
    named = {
        section.key
        for section in page.sections
        if "by-length" in str([(block.tables, block.plot) for block in section.blocks])
    }
    # Who judged how much is a list of everyone, and no figure.
    assert named == {"judges", "raters"}
    assert any("A heuristic does not read responses" in sentence for sentence in report["methods"])


def test_a_study_that_only_heuristics_judged_has_figures_and_no_finding():
    study = judged_study(queries=12)
    longer = new_judge(study, "longer", heuristic=True)
    for item in main_items(study):
        answer(study, longer, item, "r1", shown="r1,r2")
    report = report_of(study)
    assert report["findings"] == []
    assert report_page(report).sections
    answers = answered_study("aspects", slug="aspects", queries=12)
    given = {"acceptability": {"r1": 3, "r2": 2, "r3": 1}}
    give(answers, new_rater(answers, "random", "judge", heuristic=True), [given] * 12)
    report = report_of(answers)
    assert report["findings"] == []
    assert report_page(report).sections


def test_a_heuristic_stands_beside_judges_only():
    study = answered_study("aspects", queries=12)
    given = {"acceptability": {"r1": 3, "r2": 2, "r3": 1}}
    for name, kind, about in (
        ("ann", "person", {}),
        ("ben", "person", {}),
        ("elm", "judge", {}),
        ("random", "judge", {"heuristic": True, "judge": "random"}),
    ):
        give(study, new_rater(study, name, kind, **about), [given] * 12)
    report = report_of(study)
    assert "judges" not in {group["kind"] for group in report["groups"]}
    page = report_page(report)
    named = {section.key for section in page.sections if "'random'" in str(section.blocks)}
    # Beside people's, the scores of an overall rating are shown too.
    assert named == {"aspects", "judges", "raters"}


def test_findings_do_not_depend_on_the_order_of_the_judgments():
    labels = np.random.default_rng(0).choice(["r1", "r2", "tie"], 72)
    reports = []
    for slug, order in (("one", 1), ("two", -1)):
        study = judged_study(slug, queries=24)
        rater = new_judge(study, "elm")
        for item, label in list(zip(main_items(study), labels, strict=True))[::order]:
            answer(study, rater, item, str(label), shown="r1,r2")
        (group,) = report_of(study)["groups"]
        reports.append((group["flips"]["pairs"], [rate["test"] for rate in group["win_rates"]["overall"]]))
    assert [[flip["flip_test"], flip["margin_test"]] for flip in reports[0][0]] == [
        [flip["flip_test"], flip["margin_test"]] for flip in reports[1][0]
    ]
    assert reports[0][1] == reports[1][1]


def fact_of(report, name):
    return next(fact for fact in report_page(report).facts if fact.name == name)


def rated_by_two(*ratings, slug="rated", queries=12):
    """Everybody gives every item the same ratings of the three systems, or the next of several sets."""
    study = answered_study("aspects", slug=slug, queries=queries)
    given = [
        {"acceptability": {f"r{at}": value for at, value in enumerate(ratings[number % len(ratings)], 1)}}
        for number in range(queries)
    ]
    for name in ("ann", "ben"):
        give(study, new_rater(study, name), given)
    return report_of(study)


def test_equal_means_are_said_to_be_alike():
    report = rated_by_two((1, 1, 1))
    fact = fact_of(report, "Highest mean")
    assert (fact.value, fact.detail.split(":")[0]) == ("1.00", "all 3 tied")
    assert "aspen" not in fact.detail
    (finding,) = report["findings"]
    assert (finding["heading"], finding["supported"]) == ("Nothing beyond chance", False)
    assert finding["text"].startswith(
        "None of 2 conclusions that could be drawn is supported by the judgments of"
    )
    two = fact_of(rated_by_two((2, 2, 1), slug="two"), "Highest mean")
    assert two.detail.startswith("aspen and birch tied: ")


def test_a_leader_that_others_may_equal_is_no_lone_leader():
    fact = fact_of(rated_by_two((2, 1, 0), (1, 3, 0), (3, 1, 1)), "Highest mean")
    assert fact.detail.startswith("aspen: ")
    assert fact.detail.endswith("others may be as good")
    assert "others" not in fact_of(rated_by_two((3, 2, 1), slug="clear"), "Highest mean").detail


def test_ranks_and_picks_say_ties_and_overlaps():
    study = answered_study("ranking", queries=12)
    orders = [{"r1": 1, "r2": 2, "r3": 3}, {"r1": 3, "r2": 2, "r3": 1}]
    give(study, new_rater(study, "ann"), [{"ranking": orders[at % 2]} for at in range(12)])
    assert fact_of(report_of(study), "Outranks most").detail == "all 3 tied"
    picked = answered_study("aspects", slug="picked", queries=12)
    best = ["r1", "r2", "r1", "r3"] * 3
    give(picked, new_rater(picked, "ann"), [{"best": each} for each in best])
    question = next(each for each in report_of(picked)["questions"] if each["form"] == "picks")
    assert question["groups"]
    fact = fact_of(report_of(picked), "Most often picked")
    assert fact.detail.startswith("aspen; ")
    assert fact.detail.endswith("others may be as good")
