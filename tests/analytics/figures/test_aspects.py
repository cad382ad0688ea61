"""Figures of aspects beside an overall rating, on studies whose ratings are made by known weights."""

import math
from collections import Counter, defaultdict

import krippendorff
import numpy as np
import pytest

from analytics.figures.aspects.measure_levels import KEY
from analytics.figures.registry import FIGURES
from analytics.figures.report_view import ReportView
from analytics.frames.measures import preferred_beside_other
from analytics.leaderboard.boards import leaderboard_record
from analytics.reports.build import build_report
from analytics.reports.deferred.records import completed, deferred_records
from analytics.reports.markdown import report_markdown
from analytics.reports.paper.archive import plots_of
from analytics.statistics.judges.measures import preference_accuracy
from evaluation.dumps.imports.scores import import_scores
from evaluation.models import Study
from evaluation.protocols import Kind, QuestionSpec
from tests.analytics.reports.answering import (
    answered_study,
    give,
    items_of,
    judged_by_everyone,
    new_rater,
)
from tests.analytics.reports.judging import new_judge
from tests.analytics.statistics.build import spec

pytestmark = pytest.mark.django_db
# Points that an aspect at its worst takes from an acceptability of 3, of factuality, amount and formality.
WEIGHTS = {"factuality": 2.0, "amount_info": 1.0, "formality": 0.0}
KEYS = ("acceptability", *WEIGHTS)


def rating(rng):
    """One response's ratings: acceptability follows from factuality and the amount of information alone."""
    factuality = int(rng.choice([0, 3])) if rng.random() < 0.5 else int(rng.integers(0, 4))
    amount, formality = (int(rng.integers(-1, 2)) for _ in range(2))
    overall = round(3 - 2 * (3 - factuality) / 3 - abs(amount))
    return {"acceptability": overall, "factuality": factuality, "amount_info": amount, "formality": formality}


def answers_of(study, rng):
    """A rater's answers to every item; the response of the best acceptability is picked."""
    found = []
    for item in items_of(study):
        parts = [f"r{number}" for number in range(1, len(item.stimulus["responses"]) + 1)]
        rated = {part: rating(rng) for part in parts}
        given = {key: {part: rated[part][key] for part in parts} for key in ("acceptability", *WEIGHTS)}
        best = max(parts, key=lambda part: rated[part]["acceptability"])
        found.append({**given, "best": best})
    return found


@pytest.fixture(scope="module")
def report(around_module):
    study = answered_study("aspects", queries=20, slug="weighted")
    rng = np.random.default_rng(4)
    given = [answers_of(study, rng) for _ in range(2)]
    for number, answers in enumerate(given):
        give(study, new_rater(study, f"person {number}"), answers)
    # A judge that rates as the first person does.
    judged = [{key: value for key, value in each.items() if key != "best"} for each in given[0]]
    give(study, new_rater(study, "twin", "judge"), judged)
    return build_report(study, replicates=50)


def of_figure(report, key, group="person"):
    return {
        each["question"]: each
        for each in report["records"]
        if each["figure"] == key and each["group"] == group
    }


def judge_of(report):
    return next(each["key"] for each in report["groups"] if each["kind"] == "judge")


def test_weights_that_made_the_ratings_are_found(report):
    found = of_figure(report, "aspects/weights")
    assert set(found) == {"acceptability"}
    record = found["acceptability"]
    weights = {
        aspect["key"]: each["value"]
        for aspect, each in zip(record["aspects"], record["fit"]["weights"], strict=True)
    }
    assert weights == pytest.approx(WEIGHTS, abs=0.15)
    assert record["fit"]["held_out"]["mean"] > 0.9
    assert record["fit"]["weighted"]["value"] > record["fit"]["equal"]["value"]
    gains = [each["gain"]["mean"] for each in record["fit"]["added"]]
    assert gains[0] > gains[1] > 0.05 > abs(gains[2])


def test_the_tree_goes_by_factuality_and_levels_are_its_means(report):
    tree = of_figure(report, "aspects/tree")["acceptability"]["tree"]
    assert min(tree["importances"][:2]) > 0.4 > tree["importances"][2]
    assert tree["n"] == 120
    [levels] = [
        each["levels"]
        for each in of_figure(report, "aspects/levels")["acceptability"]["aspects"]
        if each["key"] == "factuality"
    ]
    means = [each["mean"]["value"] for each in levels]
    assert means == sorted(means)
    assert sum(each["mean"]["n"] for each in levels) == 120


def test_levels_have_a_plot_of_each_aspect_and_agreement_on_the_pick_has_one(report):
    plots = {each.key: each for each in plots_of(report)}
    levels = {each["key"]: each for each in of_figure(report, "aspects/levels")["acceptability"]["aspects"]}
    drawn = [
        plot for key, plot in plots.items() if key.startswith("aspects-") and key.endswith("by-acceptability")
    ]
    assert sorted(plot.axis for plot in drawn) == sorted(each["prompt"] for each in levels.values())
    [plot] = [plot for plot in drawn if plot.axis == levels["factuality"]["prompt"]]
    people = [next(mark for mark in row.marks if mark.kind == "person") for row in plot.rows]
    assert [mark.value for mark in people] == [
        each["mean"]["value"] for each in levels["factuality"]["levels"]
    ]
    same = of_figure(report, "preferences/best_picks")["best"]["same"]
    picks = plots["best-picks-how-often-raters-pick-the-same-response"]
    assert [row.marks[0].value for row in picks.rows] == [
        same["all_same"]["value"],
        same["two_same"]["value"],
    ]


def test_agreement_rates_and_what_is_agreed_on(report):
    rates = of_figure(report, "agreement/rating_rates")
    assert set(rates) == {"acceptability", *WEIGHTS}
    same = of_figure(report, "preferences/best_picks")["best"]["same"]
    assert sum(each["n_all_same"] for each in same["agreed"]) == same["n_all_same"]
    assert all(each["n_majority"] >= each["n_all_same"] for each in same["agreed"])


def test_a_judge_s_own_ratings_have_every_way_to_the_overall_rating(report):
    record = of_figure(report, "judges/weighted_aspects", judge_of(report))["acceptability"]
    assert [each["way"] for each in record["ways"]] == ["direct", "fitted", "equal"]
    assert record["members"] == ["twin"]
    accuracy = of_figure(report, "aspects/preference_accuracy", judge_of(report))
    direct = next(each["accuracy"] for each in record["ways"] if each["way"] == "direct")
    [picks] = accuracy["acceptability"]["by_preference"]
    assert picks["preference"] == "best"
    assert picks["accuracy"]["value"] == direct["value"]
    # Of amounts the middle is best, so that more is not better.
    assert set(accuracy) == {"acceptability", "factuality"}


def test_preferences_between_two_are_counted_one_by_one():
    counts = np.array([[2, 1, 4], [0, 3, 0], [1, 0, 0]])
    first, second = np.array([1.0, 2.0, 3.0]), np.array([5.0, 2.0, np.nan])
    chosen, other, query = preferred_beside_other(counts, first, second, np.array([7, 8, 9]))
    assert list(zip(chosen.tolist(), other.tolist(), query.tolist(), strict=True))[:6] == [
        (1, 5, 7), (1, 5, 7), (5, 1, 7), (2, 2, 8), (2, 2, 8), (2, 2, 8),
    ]  # fmt: skip
    assert (chosen[6], query[6], len(chosen)) == (3, 9, 7)
    found = preference_accuracy(chosen, other, query, resample=spec())
    assert (found.value, found.n, found.n_left_out) == (pytest.approx((0 + 0 + 1 + 3 / 2) / 6), 6, 1)


def test_a_judge_s_ratings_of_pairs_stand_beside_people_s_preferences():
    """A judge that rates the preferred response of every pair higher, but for one pair."""
    quality = QuestionSpec(
        "quality", Kind.SCALE, "Quality", options={"form": {"over": "response", "low": 1, "high": 5}}
    )
    known = {"question": "How much do they know?", "answers": ["Nothing", "All"], "answer": "All"}
    study = answered_study(
        "pairwise",
        queries=12,
        slug="pairs",
        kinds={"one": "model", "two": "model"},
        questions=[quality],
        follow_ups=[known],
    )
    labels = ["r1" if number % 3 else "r2" for number in range(12)]
    give(study, new_rater(study, "someone"), [{"preference": label} for label in labels])
    rated = [{"r1": 4, "r2": 2} if label == "r1" else {"r1": 1, "r2": 5} for label in labels]
    rated[0] = {"r1": 5, "r2": 1}
    give(study, new_rater(study, "scorer", "judge"), [{"quality": each} for each in rated])
    report = build_report(study, replicates=20)
    [record] = of_figure(report, "aspects/preference_accuracy", "scorer").values()
    [found] = record["by_preference"]
    assert (found["accuracy"]["value"], found["accuracy"]["n"]) == (pytest.approx(11 / 12), 12)


def test_alpha_of_all_scales_at_once_is_of_their_ratings_pooled(report):
    rng = np.random.default_rng(4)
    study = Study.objects.get(slug="weighted")
    columns = [
        [answer[key][part] for answer in answers_of(study, rng) for key in KEYS for part in answer[key]]
        for _ in range(2)
    ]
    found = of_figure(report, "agreement/pooled_alpha")
    assert set(found) == {"acceptability"}
    assert found["acceptability"]["questions"] == list(KEYS)
    for each in found["acceptability"]["levels"]:
        expected = krippendorff.alpha(np.array(columns, dtype=float), level_of_measurement=each["level"])
        assert each["alpha"]["value"] == pytest.approx(expected)
        assert each["alpha"]["n"] == len(columns[0])
    # A single judge agrees with nobody.
    assert of_figure(report, "agreement/pooled_alpha", judge_of(report)) == {}


def test_scores_from_aspects_have_a_mean_for_each_system(report):
    record = of_figure(report, "judges/weighted_aspects", judge_of(report))["acceptability"]
    study = Study.objects.get(slug="weighted")
    items, answers = items_of(study), answers_of(study, np.random.default_rng(4))
    scores: dict[str, list[float]] = {}
    for item, given in zip(items, answers, strict=True):
        for response in item.stimulus["responses"]:
            rated = {key: given[key][response["part"]] for key in KEYS}
            lost = (3 - rated["factuality"]) / 3 + abs(rated["amount_info"]) + abs(rated["formality"])
            scores.setdefault(response["system"], []).append(3 - lost)
    [equal] = [each for each in record["ways"] if each["way"] == "equal"]
    means = {each["system"]: each["mean"]["value"] for each in equal["by_system"]}
    assert means == pytest.approx({system: np.mean(each) for system, each in scores.items()})
    [row] = [
        line
        for line in report_markdown(report).splitlines()
        if line.startswith("| From aspects, equal weights")
    ]
    assert "\N{EN DASH} |" not in row


def test_what_the_report_shows(report):
    text = report_markdown(report)
    for shown in (
        "Weights of the aspects in Acceptability",
        "Decision tree for Acceptability",
        "Aspects by Acceptability",
        "Scores beside people's Acceptability",
        "Agreement rates of ratings",
        "Agreement over all scales at once, pooled",
        "Preference accuracy of ratings",
        "pick a system's response",
    ):
        assert shown in text, shown


def test_a_study_with_few_queries_says_why_there_are_no_weights():
    report = build_report(judged_by_everyone("aspects"), replicates=20)
    record = of_figure(report, "aspects/weights")["acceptability"]
    assert record["fit"] is None
    assert record["undefined"]
    assert record["undefined"] in report_markdown(report)


def test_scores_of_judges_follow_once_they_are_computed():
    """In the report of a large study, whose judges are compared with people when somebody asks for it."""
    study = judged_by_everyone("aspects")
    partial = build_report(study, replicates=20, defer=True)
    [block] = FIGURES["aspects/scores"].blocks(ReportView(partial))
    assert "Judges are added once the figures of the section Judges are computed." in block.tables[0].foot
    whole = completed(study, partial, deferred_records(study, partial, partial["deferred"]))
    [block] = FIGURES["aspects/scores"].blocks(ReportView(whole))
    assert "Judges are added" not in block.tables[0].foot
    assert len({row[1].text for row in block.tables[0].rows}) > 1


def test_where_nobody_but_people_rated_no_judges_are_promised():
    study = answered_study("aspects", queries=8)
    rng = np.random.default_rng(3)
    given = [
        {"acceptability": {f"r{number}": int(rng.integers(0, 4)) for number in (1, 2, 3)}}
        for _ in items_of(study)
    ]
    give(study, new_rater(study, "someone"), given)
    partial = build_report(study, replicates=20, defer=True)
    assert not any(FIGURES[key].heading == "judges" for key in partial["deferred"])
    assert list(FIGURES["aspects/scores"].blocks(ReportView(partial))) == []


@pytest.mark.parametrize("protocol", ["relevance", "custom", "context_validation"])
def test_without_an_overall_rating_there_is_no_such_figure(protocol):
    report = build_report(judged_by_everyone(protocol), replicates=20)
    assert not [each for each in report["records"] if each["figure"].startswith("aspects/w")]


def test_overall_quality_of_questions_has_weights_too():
    report = build_report(judged_by_everyone("question_quality"), replicates=20)
    assert set(of_figure(report, "aspects/levels")) == {"overall"}


def test_a_scale_that_a_judge_names_is_an_overall_rating_in_every_figure():
    """The scales have names of their own; only the weighted judge says that one is the overall rating."""
    scales = [
        QuestionSpec(
            key, Kind.SCALE, key.title(), options={"form": {"over": "response", "low": 1, "high": 5}}
        )
        for key in ("usefulness", "clarity")
    ]
    study = answered_study("custom", queries=8, slug="named", questions=scales)
    rng = np.random.default_rng(8)
    people, judged = (
        [
            {
                key: {f"r{number}": int(rng.integers(1, 6)) for number in (1, 2, 3)}
                for key in ("usefulness", "clarity")
            }
            for _ in items_of(study)
        ]
        for _ in range(2)
    )
    give(study, new_rater(study, "someone"), people)
    give(study, new_rater(study, "member", "judge"), judged)
    shown = "Scores beside people's Usefulness"
    plain_report = build_report(study, replicates=20)
    assert shown not in report_markdown(plain_report)
    about = {
        "kind": "weighted", "overall": "usefulness", "aspects": ["clarity"], "members": {"member": "member"},
        "weights": {}, "by": "equal", "fitted": False,
    }  # fmt: skip
    weighted = [{"usefulness": each["clarity"]} for each in judged]
    give(study, new_judge(study, "weighted", derived=about), weighted)
    report = build_report(study, replicates=20)
    assert set(of_figure(report, "aspects/levels")) == {"usefulness"}
    [block] = FIGURES["aspects/scores"].blocks(ReportView(report))
    assert block.heading == shown
    [ways] = [
        each
        for each in report["records"]
        if each["figure"] == "judges/weighted_aspects" and each["group"] == "judge-weighted"
    ]
    rows = {row[0].text for row in block.tables[0].rows}
    assert {"Usefulness", "From aspects, equal weights"} <= rows
    assert ways["question"] == "usefulness"
    # It stands for all scales in the leaderboard, too.
    [board] = [each for each in leaderboard_record(report)["raters"] if each["key"] == "people"]
    assert [each["prompt"] for each in board["boards"]] == ["Usefulness"]


def assert_spread(level, values):
    """The record of a level is of these values, of which there may be none."""
    assert level["mean"]["n"] == len(values)
    assert level["mean"]["value"] == (pytest.approx(np.mean(values)) if values else None)
    assert level["standard_deviation"] == (pytest.approx(np.std(values, ddof=1)) if len(values) > 1 else None)
    assert level["quartiles"] == pytest.approx(np.percentile(values, [25, 50, 75]) if values else [])


def test_measures_by_the_level_of_the_overall_rating(tmp_path):
    study = answered_study("aspects", queries=8, slug="measured")
    rng = np.random.default_rng(6)
    given = [answers_of(study, rng) for _ in range(2)]
    for number, answers in enumerate(given):
        give(study, new_rater(study, f"person {number}"), answers)
    numbers, lines = {}, ["item,system,name,score"]
    for at, item in enumerate(items_of(study)):
        for place, response in enumerate(item.stimulus["responses"]):
            mean = sum(each[at]["acceptability"][f"r{place + 1}"] for each in given) / 2
            score = 10 * mean + at
            numbers.setdefault(math.floor(mean + 0.5), []).append(score)
            lines.append(f"{item.key},{response['system']},rouge,{score}")
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    import_scores(study, path, judge="script")
    report = build_report(study, replicates=20)
    found = of_figure(report, "aspects/measure_levels")
    # Of the overall rating alone, and by people alone.
    assert [each["question"] for each in report["records"] if each["figure"] == "aspects/measure_levels"] == [
        "acceptability"
    ]
    [measure] = found["acceptability"]["measures"]
    assert measure["judge"] == "script"
    for level in measure["levels"]:
        theirs = numbers.get(level["level"], [])
        assert_spread(level, theirs)
    assert "Mean of each measure by Acceptability" in report_markdown(report)


def test_judges_own_ratings_by_the_level_of_people_s():
    study = answered_study("aspects", queries=24, slug="judged")
    rng = np.random.default_rng(9)
    people, judged = ([answers_of(study, rng) for _ in range(2)] for _ in range(2))
    for number, answers in enumerate(people):
        give(study, new_rater(study, f"person {number}"), answers)
    # Its ratings of the first query are missing.
    give(study, new_rater(study, "model", "judge"), [None, *judged[0][1:]])
    give(study, new_judge(study, "drawn", heuristic=True), judged[1])
    report = build_report(study, replicates=20)
    records = [each for each in report["records"] if each["figure"] == KEY]
    groups = {each["key"]: each["label"] for each in report["groups"]}
    # Nothing of people, who have no measures, nor of the heuristic.
    assert [(each["question"], groups[each["group"]]) for each in records] == [("acceptability", "model")]
    ratings, missing = defaultdict(list), Counter()
    for at, theirs in enumerate(zip(*people, strict=True)):
        for part in theirs[0]["acceptability"]:
            mean = sum(each["acceptability"][part] for each in theirs) / 2
            level = math.floor(mean + 0.5)
            if at:
                ratings[level].append(judged[0][at]["acceptability"][part])
            else:
                missing[level] += 1
    assert sum(map(len, ratings.values())) == 23 * len(people[0][0]["acceptability"])
    for each in records[0]["levels"]:
        assert_spread(each, ratings[each["level"]])
        left_out = {of["reason"]: of["n"] for of in each["mean"]["left_out"]}
        absent = missing[each["level"]]
        assert left_out == ({"responses without this rating": absent} if absent else {})
    table, plot = FIGURES[KEY].blocks(ReportView(report))
    assert table.heading == "Judges by Acceptability"
    assert [row[1].text for row in table.tables[0].rows] == ["model"] * 4
    assert len(plot.plot.rows) == 4


def test_the_table_by_level_has_ten_judges_at_most():
    study = answered_study("aspects", queries=3, slug="many")
    rng = np.random.default_rng(10)
    give(study, new_rater(study, "person"), answers_of(study, rng))
    for number in range(12):
        give(study, new_rater(study, f"model {number}", "judge"), answers_of(study, rng))
    report = build_report(study, replicates=20)
    assert len([each for each in report["records"] if each["figure"] == KEY]) == 12
    block = next(iter(FIGURES[KEY].blocks(ReportView(report))))
    [table] = block.tables
    assert len({row[1].text for row in table.rows}) == 10
    assert "2 more" in table.foot
    assert block.folded
