"""What the report says of ratings, checklists, picks, rankings, values, tags, choices and answer pairs."""

import re

import pytest
from django.utils import timezone

from analytics.reports.build import fingerprint
from analytics.reports.common import NothingToReport
from analytics.reports.files import report_html
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from evaluation.models import Context, Item, ItemResponse, Outcome, Query, Response, Study
from evaluation.protocols import Kind, QuestionSpec
from evaluation.services.exclusions import exclude, restore
from evaluation.services.studies.launch import launch_study
from tests.analytics.reports.answering import answered_study, empty_study, give, items_of, new_rater
from tests.analytics.reports.judging import fail
from tests.analytics.reports.reading import build_report

pytestmark = pytest.mark.django_db
VALUES = [{"question": "How far along?", "answers": ["a", "b", "c", "d", "e"], "answer": ""}]
MOOD = QuestionSpec(
    "mood",
    Kind.CHOICE,
    "Which mood?",
    required=False,
    options={"calm": "Calm", "tense": "Tense", "form": {"choices": ["calm", "tense"]}},
)


def report_of(study, **options):
    return build_report(study, replicates=100, **options)


def figures_of(report, question, group="person"):
    """The figures of the question for the group of that key or kind."""
    kinds = {each["key"]: each["kind"] for each in report["groups"]}
    (asked,) = [each for each in report["questions"] if each["key"] == question]
    (found,) = [each for each in asked["groups"] if group in (each["group"], kinds[each["group"]])]
    return found


def means(records, factor):
    return {each[factor]: each["mean"]["value"] for each in records}


def sections_of(report):
    return {section.key: section for section in report_page(report).sections}


def rated(*ratings, best=None):
    """Acceptability of the responses in their order, and the best pick."""
    data = {"acceptability": {f"r{at}": value for at, value in enumerate(ratings, 1)}}
    return data | ({"best": best} if best else {})


@pytest.fixture
def aspects():
    study = answered_study(
        "aspects", queries=2, kinds={"aspen": "person", "birch": "model", "cedar": "model"}
    )
    give(study, new_rater(study, "ann"), [rated(3, 1, 0, best="r1"), rated(2, 2, 0, best="r1")])
    give(study, new_rater(study, "ben"), [rated(3, 1, 1, best="r1"), rated(3, 0, 0, best="r2")])
    give(study, new_rater(study, "cat"), [rated(3, 1, 2, best="r1"), rated(1, 1, 0, best="r3")])
    return study


def test_ratings_have_means_and_distributions_by_system(aspects):
    found = figures_of(report_of(aspects), "acceptability")
    assert means(found["by_system"], "system") == pytest.approx({"aspen": 15 / 6, "birch": 1, "cedar": 0.5})
    assert means(found["by_kind"], "kind") == pytest.approx({"person": 2.5, "model": 0.75})
    assert found["mean"]["mean"]["value"] == pytest.approx(24 / 18)
    assert (found["answers"], found["raters"], found["items"]) == (18, 3, 2)
    aspen = found["by_system"][0]
    assert [(each["label"], each["n"]) for each in aspen["distribution"]] == [
        ("Not acceptable", 0), ("Partly acceptable", 1), ("Mostly acceptable", 1), ("Fully acceptable", 4),
    ]  # fmt: skip
    assert aspen["distribution"][3]["share"]["value"] == pytest.approx(4 / 6)
    assert means(found["by_category"], "category") == pytest.approx({"even": 15 / 9, "odd": 1})
    assert found["by_arm"] == []


def test_picks_have_shares_and_concurrence(aspects):
    found = figures_of(report_of(aspects), "best")["picks"]
    assert {each["system"]: each["share"]["value"] for each in found["by_system"]} == pytest.approx(
        {"aspen": 4 / 6, "birch": 1 / 6, "cedar": 1 / 6}
    )
    assert {each["kind"]: (each["share"]["value"], each["chance"]) for each in found["by_kind"]} == {
        "person": pytest.approx((4 / 6, 1 / 3)),
        "model": pytest.approx((2 / 6, 2 / 3)),
    }
    assert (found["same"]["n_all_same"], found["same"]["n_two_same"], found["same"]["all_same"]["n"]) == (
        1,
        1,
        2,
    )


def test_a_judges_readings_are_one_answer_by_the_kind_of_question(aspects):
    judge = new_rater(aspects, "judge", "judge")
    for replicate, (rating, best) in enumerate([(1.0, "r1"), (2.0, "r1"), (3.0, "r3")]):
        give(aspects, judge, [rated(rating, 1, 0, best=best), None], replicate=replicate)
    report = report_of(aspects)
    found = figures_of(report, "acceptability", "judge")
    assert means(found["by_system"], "system") == {"aspen": 2, "birch": 1, "cedar": 0}
    assert (found["answers"], figures_of(report, "best", "judge")["answers"]) == (3, 1)
    assert next(each for each in report["groups"] if each["kind"] == "judge")["judgments"] == 3
    # People's means on the first item are 3, 1 and 1, the judge's 2, 1 and 0.
    compared = found["against_people"]["compared"]
    assert (compared["error"]["value"], compared["difference"]["value"]) == pytest.approx((2 / 3, -2 / 3))
    assert compared["error"]["left_out"] == [{"reason": "responses that only people rated", "n": 3}]
    labels = figures_of(report, "best", "judge")["against_people"]["labels"]
    assert (labels["outer"]["value"], labels["inner"]["value"]) == (1, 1)
    assert "judges" in sections_of(report)


def test_an_even_split_of_a_judges_readings_says_nothing():
    study = answered_study("aspects", queries=1)
    judge = new_rater(study, "judge", "judge")
    for replicate, (best, flag) in enumerate([("r1", 1), ("r2", 0)]):
        give(study, judge, [{"best": best, "none_appropriate": flag, **rated(1, 1, 1)}], replicate=replicate)
    report = report_of(study)
    asked = {each["key"]: each["groups"] for each in report["questions"]}
    assert asked["best"] == asked["none_appropriate"] == []
    assert len(asked["acceptability"]) == 1
    assert report_page(report).sections


def test_ratings_between_the_points_are_in_the_mean_only(aspects):
    give(aspects, new_rater(aspects, "judge", "judge"), [rated(2.5, 1, 0), rated(1, 1, 1)])
    found = figures_of(report_of(aspects), "acceptability", "judge")
    assert means(found["by_system"], "system")["aspen"] == pytest.approx(1.75)
    share = found["by_system"][0]["distribution"][1]["share"]
    assert (share["value"], share["n"]) == (1, 1)
    assert share["left_out"] == [{"reason": "values between the points of the scale", "n": 1}]


def test_one_rater_has_means_but_no_agreement():
    study = answered_study("aspects", queries=2)
    give(study, new_rater(study, "ann"), [rated(3, 1, 0), rated(2, 2, 0)])
    report = report_of(study)
    found = figures_of(report, "acceptability")
    assert found["alpha"]["value"] is None
    assert found["alpha"]["undefined"] == "No item has two values to compare."
    fact = next(fact for fact in report_page(report).facts if "Krippendorff" in fact.name)
    assert fact.undefined
    assert fact.detail == "No item has two values to compare."


def test_alpha_of_yes_and_no():
    study = answered_study("context_validation", queries=4, follow_ups=VALUES)
    answers = [(1, 1, 0, 1), (1, 1, 0, 0)]
    for name, given in zip(("ann", "ben"), answers, strict=True):
        give(study, new_rater(study, name), [{"important": {"f1": value}} for value in given])
    found = figures_of(report_of(study), "important")
    # Five yes and three no; one unit of two values differs: 1 - 7 * 1 / (5 * 3).
    assert found["alpha"]["value"] == pytest.approx(8 / 15)
    assert found["mean"]["mean"]["value"] == pytest.approx(5 / 8)
    assert [(each["label"], each["n"]) for each in found["distribution"]] == [("No", 3), ("Yes", 5)]
    assert found["by_system"] == []


def ranks(*order):
    """The ranks that put the responses in this order."""
    return {"ranking": {f"r{number}": place for place, number in enumerate(order, 1)}}


@pytest.fixture
def ranking():
    study = answered_study("ranking", queries=2)
    orders = [((1, 2, 3), (1, 2, 3)), ((1, 2, 3), (1, 2, 3)), ((1, 2, 3), (3, 2, 1))]
    for number, (one, other) in enumerate(orders):
        give(study, new_rater(study, f"rater {number}"), [ranks(*one), ranks(*other)], shown="r3,r2,r1")
    return study


def test_rankings(ranking):
    found = figures_of(report_of(ranking), "ranking")["ranking"]
    # 1 where all agree; rank sums of 5, 6 and 7 give 12 * 2 / (9 * 24).
    assert found["w"]["value"] == pytest.approx((1 + 1 / 9) / 2)
    assert found["tau"]["value"] == pytest.approx((1 - 1 / 3) / 2)
    by_system = {each["system"]: each for each in found["by_system"]}
    assert by_system["aspen"]["mean_rank"]["value"] == pytest.approx(8 / 6)
    assert by_system["aspen"]["outranked"]["value"] == pytest.approx(5 / 6)
    assert by_system["aspen"]["first"]["value"] == pytest.approx(5 / 6)
    assert by_system["cedar"]["first"]["value"] == pytest.approx(1 / 6)
    assert {each["system"]: each["counts"] for each in found["distribution"]} == {
        "aspen": [5, 0, 1], "birch": [0, 6, 0], "cedar": [1, 0, 5],
    }  # fmt: skip
    # What stood last was mostly put first.
    assert [each["first"]["value"] for each in found["places"]["places"]] == pytest.approx([1 / 6, 0, 5 / 6])
    assert (found["friedman"]["n"], found["friedman"]["statistic"]) == (2, pytest.approx(4))


def test_uneven_rankings_are_not_pooled_by_rank(db):
    """Two systems are ranked two by two with poor ones, and the best is among all: mean ranks would turn them round."""
    study = empty_study("ranking", kinds=dict.fromkeys(("aspen", "birch", "cedar", "dogwood"), "model"))
    for at in range(24):
        query = Query.objects.create(study=study, key=f"q{at}", text=f"Query {at}?")
        item = Item.objects.create(study=study, key=f"i{at}", query=query, arm=study.arms.get())
        chosen = ("aspen", "birch", "cedar", "dogwood") if at % 2 else ("cedar", "dogwood")
        for key in chosen:
            response = Response.objects.create(
                query=query, key=key, system=study.systems.get(key=key), text=f"{key} answers {at}."
            )
            ItemResponse.objects.create(item=item, response=response)
    launch_study(study)
    orders = [{"ranking": {f"r{place}": place for place in range(1, 5 if at % 2 else 3)}} for at in range(24)]
    give(study, new_rater(study, "person"), orders)
    report = report_of(study)
    found = figures_of(report, "ranking")["ranking"]
    means = {each["system"]: each["mean_rank"]["value"] for each in found["by_system"]}
    assert means["cedar"] == means["birch"] == 2
    shares = {each["system"]: each["outranked"]["value"] for each in found["by_system"]}
    assert shares == {"aspen": 1, "birch": pytest.approx(2 / 3), "cedar": pytest.approx(2 / 3), "dogwood": 0}
    (finding,) = [each for each in report["findings"] if each["kind"] == "ranked"]
    assert (finding["system"], finding["heading"]) == ("aspen", "Ranked above every other")
    text = report_markdown(report)
    assert "Rankings are of 2 to 4 responses and not all of the same systems" in text
    assert "Best mean rank" not in text
    assert "| Mean rank |" not in text


def test_a_judges_rankings_are_ranked_anew_from_their_means(ranking):
    judge = new_rater(ranking, "judge", "judge")
    for replicate, order in enumerate([(1, 2, 3), (1, 3, 2), (2, 1, 3)]):
        give(ranking, judge, [ranks(*order), ranks(3, 2, 1)], replicate=replicate, shown="r1,r2,r3")
    found = figures_of(report_of(ranking), "ranking", "judge")
    by_system = {each["system"]: each["mean_rank"]["value"] for each in found["ranking"]["by_system"]}
    # Mean ranks of 4/3, 2 and 8/3 on the first item; 3, 2 and 1 on the second.
    assert by_system == {"aspen": 2, "birch": 2, "cedar": 2}
    assert found["against_people"]["tau"]["value"] == pytest.approx(0)
    # Of three readings there is no one order on the screen.
    assert found["ranking"]["places"]["places"] == []
    assert found["ranking"]["places"]["left_out"][0]["n"] == 6


def test_relevance_by_value_and_its_spread():
    study = answered_study("relevance", queries=2, follow_ups=VALUES)
    rows = [(5, 5, 3, 3, 2), (4, 4, 4, 4, 4)]
    data = [{"relevance": {f"f1.v{at}": value for at, value in enumerate(row, 1)}} for row in rows]
    give(study, new_rater(study, "ann"), data)
    report = report_of(study)
    found = figures_of(report, "relevance")
    assert [(each["value"], each["mean"]["value"]) for each in found["by_value"]] == [
        ("a", 4.5), ("b", 4.5), ("c", 3.5), ("d", 3.5), ("e", 3),
    ]  # fmt: skip
    spread = found["spread"]["of_raters"]
    assert spread["differences"] == [0, 1, 2, 3, 4]
    assert spread["counts"] == [1, 0, 0, 1, 0]
    assert [share["value"] for share in spread["shares"]] == [0.5, 0, 0, 0.5, 0]
    assert "values" in sections_of(report)


def test_a_response_written_for_one_value_has_no_spread():
    chosen = [{**VALUES[0], "answer": "b"}]
    study = answered_study("relevance", queries=2, follow_ups=chosen)
    give(study, new_rater(study, "ann"), [{"relevance": {"f1.v2": 5}}, {"relevance": {"f1.v2": 2}}])
    found = figures_of(report_of(study), "relevance")
    assert [(each["value"], each["mean"]["value"]) for each in found["by_value"]] == [("b", 3.5)]
    assert found["spread"] is None


def test_adapted_responses_of_one_query_have_a_spread():
    """Three items of a query, each with the response that was written for one value."""
    study = empty_study("relevance")
    query = Query.objects.create(study=study, key="q", text="What to do?")
    for value, key in zip("abc", ("aspen", "aspen", "birch"), strict=True):
        context = Context.objects.create(query=query, key=value, follow_ups=[{**VALUES[0], "answer": value}])
        item = Item.objects.create(study=study, key=value, query=query, context=context, arm=study.arms.get())
        system = study.systems.get(key=key)
        response = Response.objects.create(
            query=query, key=f"{key}@{value}", system=system, text=f"For {value}."
        )
        ItemResponse.objects.create(item=item, response=response)
    launch_study(study)
    for name, (one, two, three) in {"ann": (5, None, 4), "ben": (4, 2, None)}.items():
        data = [
            None if rating is None else {"relevance": {f"f1.v{at}": rating}}
            for at, rating in enumerate((one, two, three), 1)
        ]
        give(study, new_rater(study, name), data)
    report = report_of(study)
    found = figures_of(report, "relevance")
    assert found["spread"] is None
    spread = found["spread_adapted"]
    # Of aspen's two: ben saw both; by means 4.5 and 2. Birch has a response for one value alone.
    assert (spread["of_raters"]["mean"]["value"], spread["of_raters"]["counts"]) == (2, [0, 0, 1, 0, 0])
    assert (spread["of_means"]["mean"]["value"], spread["of_means"]["counts"]) == (2.5, [0, 0, 0, 1, 0])
    text = report_markdown(report)
    assert "Largest difference across adapted responses" in text
    assert "several responses for one value are averaged first" in text


@pytest.fixture
def pairs():
    study = answered_study("answer_pairs", queries=4)
    given = zip(("r1", "r1", "tie", "r2"), ("r2", "r2", "r2", "tie"), strict=True)
    give(study, new_rater(study, "ann"), [{"relevance": one, "overall": other} for one, other in given])
    return study


def win_rate(report, question):
    rates = figures_of(report, question)["pairs"]["win_rates"]["overall"]
    return {rate["system"]: rate["rate"]["value"] for rate in rates}


def test_answer_pairs_have_win_rates_per_dimension(pairs):
    report = report_of(pairs)
    assert win_rate(report, "relevance") == {"aspen": 0.625, "birch": 0.375}
    assert win_rate(report, "overall") == {"aspen": 0.125, "birch": 0.875}
    majority = figures_of(report, "overall")["pairs"]["win_rates"]["majority"][0]
    assert (majority["system_2"]["value"], majority["tie"]["value"]) == (0.75, 0.25)
    assert win_rate(report_of(pairs, ties="win"), "relevance") == {"aspen": 0.75, "birch": 0.5}
    assert [each["key"] for each in report["questions"] if not each["groups"]] == [
        "usefulness",
        "naturalness",
    ]
    anchors = [
        block.anchor for section in report_page(report).sections for block in section.blocks if block.anchor
    ]
    assert len(anchors) == len(set(anchors))


def test_long_scales_are_of_equal_distances():
    study = answered_study("question_quality", queries=2)
    for name, value in (("ann", 9), ("ben", 10)):
        give(study, new_rater(study, name), [{"clarity": {"r1": value}}, {"clarity": {"r1": 1}}])
    report = report_of(study)
    levels = {question["key"]: question["level"] for question in report["questions"]}
    assert set(levels.values()) == {"interval"}
    # Values 9, 10, 1, 1: observed 1/2 of 4 in expected 2 * (3 * 230.75) / (4 * 3).
    values = [9, 10, 1, 1]
    mean = sum(values) / 4
    expected = 2 * sum((value - mean) ** 2 for value in values) / 3
    assert figures_of(report, "clarity")["alpha"]["value"] == pytest.approx(1 - 0.5 / expected)


def test_tags_have_shares_and_an_alpha_each():
    study = answered_study("justification_coding", queries=2)
    for name, length in (("ann", (1, 1)), ("ben", (1, 0))):
        tags = [{"criteria": {"clarity": at, "length": value}} for at, value in enumerate(length)]
        give(study, new_rater(study, name), tags)
    report = report_of(study)
    parts = {each["part"]: each for each in figures_of(report, "criteria")["by_part"]}
    assert list(parts) == ["clarity", "length"]
    assert parts["clarity"]["mean"]["value"] == 0.5
    assert parts["clarity"]["alpha"]["value"] == 1
    assert parts["length"]["mean"]["value"] == 0.75
    # Each item has one response, so that tags are its system's.
    assert means(parts["length"]["by_system"], "system") == {"aspen": 1, "birch": 0.5}
    assert "tags" in sections_of(report)


def test_tags_are_counted_by_their_groups_and_setting():
    study = answered_study("justification_coding", queries=2, launched=False)
    other = study.arms.create(key="other", label="Other items", position=2, context_at_judging=True)
    Item.objects.filter(study=study, key="q1").update(arm=other)
    launch_study(study)
    study.refresh_from_db()
    # Surface by clarity or length, content by correctness; of each group any tag will do.
    given = {
        "ann": [("clarity", "length"), ("correctness",)],
        "ben": [("length",), ("correctness", "length")],
    }
    for name, tags in given.items():
        data = [
            {"criteria": {tag: int(tag in each) for tag in ("clarity", "length", "correctness")}}
            for each in tags
        ]
        give(study, new_rater(study, name), data)
    report = report_of(study)
    groups = {each["tag_group"]: each for each in figures_of(report, "criteria")["by_tag_group"]}
    assert list(groups) == ["surface", "content"]
    assert (groups["surface"]["mean"]["value"], groups["surface"]["mean"]["n"]) == (0.75, 4)
    assert groups["surface"]["mean"]["low"] is not None
    assert "correctness" in groups["content"]["tags"]
    assert means(groups["surface"]["by_arm"], "arm") == {"all": 1, "other": 0.5}
    assert means(groups["content"]["by_arm"], "arm") == {"all": 0, "other": 1}
    assert means(groups["content"]["by_system"], "system") == {"aspen": 0, "birch": 1}
    assert groups["content"]["alpha"]["value"] == 1
    text = report_markdown(report)
    assert "Groups of tags" in text
    assert "surface" in text


def test_a_judge_asked_in_both_orders_is_checked_question_by_question():
    study = answered_study("ranking", queries=2)
    both = new_rater(study, "both", "judge", judge="b", model="b", orders="both", samples=1)
    plain = new_rater(study, "plain", "judge", judge="p", model="p", orders="random", samples=2)
    same, turned = {"r1": 1, "r2": 2, "r3": 3}, {"r1": 2, "r2": 1, "r3": 3}
    for replicate, ranks in enumerate(((same, same), (same, turned))):
        for judge in (both, plain):
            give(study, judge, [{"ranking": each} for each in ranks], replicate=replicate)
    report = report_of(study)
    found = figures_of(report, "ranking", "both")["inconsistent"]
    assert (found["value"], found["n"]) == (0.5, 2)
    assert figures_of(report, "ranking", "plain")["inconsistent"] is None
    assert figures_of(report, "ranking", "judges")["inconsistent"] is None
    assert "Consistency across orders" in report_markdown(report)


def test_choices_have_shares():
    study = answered_study("aspects", queries=2, questions=[MOOD])
    for name, moods in (("ann", ("calm", "calm")), ("ben", ("calm", "tense"))):
        give(study, new_rater(study, name), [{"mood": mood} for mood in moods])
    report = report_of(study)
    found = figures_of(report, "mood")
    assert [(each["label"], each["n"]) for each in found["distribution"]] == [("Calm", 3), ("Tense", 1)]
    assert found["mean"] is None
    assert found["alpha"]["value"] == 0
    assert "choices" in sections_of(report)


def test_shares_of_a_choice_by_system_are_on_the_page_and_in_markdown():
    """Items 0 and 2 are about aspen's response, item 1 about birch's."""
    study = answered_study(
        "justification_coding", queries=3, kinds={"aspen": "model", "birch": "model"}, questions=[MOOD]
    )
    for name, moods in (("ann", ("calm", "tense", "calm")), ("ben", ("tense", "tense", "calm"))):
        give(study, new_rater(study, name), [{"mood": mood} for mood in moods])
    judge = new_rater(study, "llm", "judge", judge="j", model="j-7b", orders="random", samples=1)
    give(study, judge, [{"mood": "calm"}] * 3)
    report = report_of(study)
    blocks = {block.heading: block for block in sections_of(report)["choices"].blocks}
    table = blocks["By system: Which mood?"].tables[0]
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown == [["aspen", "75.0", "25.0", "4"], ["birch", "0.0", "100.0", "2"]]
    assert blocks["llm: by system: Which mood?"].folded
    assert re.search(r"\| aspen \| 75\.0[^|]*\| 25\.0[^|]*\| 4 \|", report_markdown(report))
    assert "By system: Which mood?" in report_html(report)


def test_a_judge_of_answer_pairs_is_checked_in_both_orders():
    study = answered_study("answer_pairs", queries=4, kinds={"aspen": "model", "birch": "model"})
    judge = new_rater(
        study, "llm", "judge", judge="j", model="j", orders="both", samples=1, reduction="both_ways"
    )
    for replicate, label in enumerate(("r1", "r2")):
        given = [{"overall": "r1", "relevance": label}] * 4
        give(study, judge, given, replicate=replicate, shown=("r1,r2", "r2,r1")[replicate])
    report = report_of(study)
    assert figures_of(report, "overall", "llm")["inconsistent"]["value"] == 0
    assert figures_of(report, "relevance", "llm")["inconsistent"]["value"] == 1
    (block,) = [
        each for each in sections_of(report)["judges"].blocks if each.heading == "Consistency across orders"
    ]
    found = [(row[0].text, row[2].text, row[3].text) for row in block.tables[0].rows]
    assert found == [("Which is more relevant?", "100.0", "4"), ("Which is better overall?", "0.0", "4")]
    assert "Consistency across orders" in report_markdown(report)


def test_simulated_raters_are_never_pooled_with_people(aspects):
    alone = report_of(aspects)
    give(aspects, new_rater(aspects, "robot", "simulated"), [rated(0, 3, 3, best="r3"), rated(0, 3, 3)])
    report = report_of(aspects)
    for question in ("acceptability", "best"):
        assert figures_of(report, question) == figures_of(alone, question)
    assert means(figures_of(report, "acceptability", "simulated")["by_system"], "system")["aspen"] == 0
    page = report_page(report)
    assert "never pooled" in page.notice
    blocks = [block for section in page.sections for block in section.blocks]
    assert {block.tag for block in blocks} == {"", "simulated"}
    assert any(block.tag == "simulated" and block.folded for block in blocks)


def test_simulated_only_is_said_before_any_figure():
    study = answered_study("ranking", queries=2)
    give(study, new_rater(study, "robot", "simulated"), [ranks(1, 2, 3), ranks(1, 2, 3)])
    page = report_page(report_of(study))
    assert "Nobody has judged anything yet" in page.notice
    assert {fact.tag for fact in page.facts[:3]} <= {"simulated", ""}
    assert page.facts[0].tag == "simulated"


def test_what_is_left_out_is_in_no_figure_and_counted(aspects):
    before = report_of(aspects)
    exclusion = exclude(study=aspects, rater=aspects.raters.get(label="cat"), reason="Too fast.")
    without = report_of(aspects)
    assert without["counts"]["left_out"] == [
        {"reason": "excluded", "n": 2, "by_kind": [{"kind": "person", "n": 2}]}
    ]
    assert means(figures_of(without, "acceptability")["by_system"], "system")["aspen"] == pytest.approx(
        11 / 4
    )
    restore(exclusion)
    assert report_of(aspects) == before
    judge = new_rater(aspects, "judge", "judge")
    fail(aspects, judge, Outcome.UNPARSED)
    failed = report_of(aspects)
    assert failed["questions"] == before["questions"]
    [part] = failed["counts"]["left_out"]
    assert (part["reason"], part["by_kind"]) == ("unparsed", [{"kind": "judge", "n": 1}])
    assert failed["judges"][0]["caveats"] == [
        "judge is not in the report: its only judgment could not be read."
    ]
    Item.objects.filter(pk=items_of(aspects)[1].pk).update(withdrawn_at=timezone.now())
    withdrawn = figures_of(report_of(aspects), "acceptability")
    assert means(withdrawn["by_system"], "system")["aspen"] == 3


def test_systems_whose_keys_look_like_two():
    study = answered_study("aspects", queries=2, kinds={"a | b": "model", "c": "model"})
    give(study, new_rater(study, "ann"), [rated(3, 1), rated(2, 0)])
    found = figures_of(report_of(study), "acceptability")
    assert means(found["by_system"], "system") == {"a | b": 2.5, "c": 0.5}


def test_nothing_to_report():
    with pytest.raises(NothingToReport, match="Nobody has judged"):
        build_report(answered_study("aspects", queries=1))


def test_the_fingerprint_changes_with_the_answers(aspects):
    before = fingerprint(aspects)
    give(aspects, new_rater(aspects, "dan"), [rated(3, 1, 0), None])
    assert fingerprint(Study.objects.get(pk=aspects.pk)) != before


def test_findings_are_what_intervals_and_tests_support():
    study = answered_study("ranking", queries=12)
    for name in ("ann", "ben"):
        give(study, new_rater(study, name), [ranks(2, 1, 3)] * 12)
    report = report_of(study)
    assert [
        (each["kind"], each["system"], each["heading"], each["supported"]) for each in report["findings"]
    ] == [
        ("ranked", "birch", "Ranked above every other", True),
        ("ranked_last", "cedar", "Ranked below every other", True),
    ]
    assert {shown.anchor for shown in report_page(report).findings} <= sections_of(report).keys()
