"""Judges in a report: beside people, by themselves, asked in several ways, and those of which nothing came."""

import json

import pytest

from analytics.reports.build import fingerprint, fingerprints
from analytics.reports.cache import cached_report, compute_report
from analytics.reports.common import NothingToReport
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.reports.paper.archive import plots_of
from evaluation.filters import TOGETHER, Filters
from evaluation.models import Outcome, Rater
from evaluation.services.exclusions import exclude
from tests import factories
from tests.analytics.reports.answering import answered_study, give, new_rater, some_answers
from tests.analytics.reports.judging import answer, fail, judge, judged_study, main_items, new_judge
from tests.analytics.reports.reading import build_report
from tests.extensions import extend

pytestmark = pytest.mark.django_db
ONE_ARM = factories.PAPER_ARMS[:1]


def report_of(study, **options):
    return build_report(study, replicates=200, **options)


def plain_study(queries=4, **options):
    """One arm without context, so that there is one item per query."""
    return judged_study(queries=queries, arms=ONE_ARM, **options)


def group_of(report, key):
    (group,) = [group for group in report["groups"] if group["key"] == key]
    return group


def judge_of(report, label="cedar"):
    (found,) = [each for each in report["judges"] if each["label"] == label]
    return found


def outcome_of(judge, outcome):
    (found,) = [each for each in judge["outcomes"] if each["outcome"] == outcome]
    return found["n"], found["share"]


def section_of(report, key="judges"):
    return next((section for section in report_page(report).sections if section.key == key), None)


def tables_of(section):
    return [table for block in section.blocks for table in block.tables]


def text_of(section):
    return " ".join(
        cell.text for table in tables_of(section) for row in table.rows for cell in row
    ) + " ".join(sentence for block in section.blocks for sentence in block.text)


@pytest.mark.parametrize(("ties", "rate"), [("half", 0.65), ("win", 0.8)])
def test_five_wins_three_ties_two_losses_and_one_unparsed(ties, rate):
    study = plain_study(queries=11)
    cedar = new_judge(study)
    labels = ["r1"] * 5 + ["tie"] * 3 + ["r2"] * 2
    for item, label in zip(main_items(study), labels, strict=False):
        answer(study, cedar, item, label)
    answer(study, cedar, main_items(study)[-1], outcome=Outcome.UNPARSED)
    report = report_of(study, ties=ties)
    found = group_of(report, "judge-cedar")["win_rates"]["expected"][0]
    assert (found["system"], found["ties"]) == ("aspen", ties)
    assert found["rate"]["value"] == pytest.approx(rate)
    assert found["rate"]["n"] == 10
    assert found["rate"]["left_out"] == [{"reason": "items without a usable judgment", "n": 1}]
    assert outcome_of(judge_of(report), "unparsed") == (1, pytest.approx(1 / 11))
    assert report["parameters"]["ties"] == ties
    assert any(("half a win" if ties == "half" else "as a win") in sentence for sentence in report["methods"])


def test_labels_one_one_two_nought():
    study = plain_study(queries=1)
    (item,) = main_items(study)
    for number, label in enumerate(("r2", "r2", "tie", "r1")):
        person = Rater.objects.create(study=study, kind="person", pseudonym=f"person-{number}")
        answer(study, person, item, label)
    answer(study, new_judge(study), item, "r2")
    report = report_of(study)
    assert group_of(report, "person")["leave_one_out"]["inner"]["value"] == pytest.approx(1 / 6)
    beside = group_of(report, "judge-cedar")["against_people"]
    assert beside["outer"]["value"] == pytest.approx(2 / 3)
    assert beside["inner"]["value"] == pytest.approx(1 / 6)
    # Two of four are no majority.
    assert beside["confusion"]["counts"] == [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert beside["kappa"]["value"] is None


def test_a_judge_beside_people():
    study = plain_study(queries=12)
    judge(study, raters=3)
    cedar = new_judge(study)
    for item in main_items(study)[:10]:
        answer(study, cedar, item, "r1")
    report = report_of(study)
    beside = group_of(report, "judge-cedar")["against_people"]
    assert beside["outer"]["n"] == beside["inner"]["n"] == 10
    assert beside["outer"]["low"] < beside["outer"]["value"] < beside["outer"]["high"]
    assert beside["expected"] is None
    assert sum(map(sum, beside["confusion"]["counts"])) == beside["confusion"]["n"] == 10
    assert beside["confusion"]["left_out"] == [{"reason": "items without a label from the judge", "n": 2}]
    section = section_of(report)
    assert section.title == "Judges vs people"
    plots = [block.plot for block in section.blocks if block.plot]
    # How far it is from people's own agreement, how many people it is worth, and the win rates of both in one figure.
    less, worth, rates = [plot.label for plot in plots]
    assert "so many people's majority" in worth
    assert "minus that of people with each other" in less
    assert "cedar" in less
    assert "People" in rates
    assert "cedar" in rates


def test_a_run_that_is_not_in_figures_changes_none_and_is_counted():
    study = plain_study(queries=6)
    judge(study, raters=2)
    before = report_of(study)
    trial = new_judge(study, "trial", in_figures=False, purpose="trial")
    for item in main_items(study):
        answer(study, trial, item, "r2")
    fail(study, trial)
    after = report_of(study)
    assert after["groups"] == before["groups"]
    assert after["raters"] == before["raters"]
    assert after["judges"] == []
    assert after["counts"]["left_out"] == [
        {"reason": "run not in figures", "n": 7, "by_kind": [{"kind": "judge", "n": 7}]}
    ]
    left_out = next(fact for fact in report_page(after).facts if fact.name == "Excluded")
    assert left_out.detail == "judges: 7 from runs not in figures"
    Rater.objects.filter(pk=trial.pk).update(in_figures=True)
    assert judge_of(report_of(study), "trial")["judgments"] == 7


def test_only_a_trial_has_judged():
    study = plain_study()
    answer(study, new_judge(study, in_figures=False), main_items(study)[0], "r1")
    with pytest.raises(NothingToReport, match=r"No judgment counts yet \(1 run not in figures\)"):
        report_of(study)


def test_a_judge_asked_both_ways():
    study = plain_study(queries=4)
    judge(study, raters=2)
    cedar = new_judge(study, orders="both", reduction="both_ways")
    # Steady, flipped (it takes what is shown first), steady, and one order that could not be read.
    readings = [("r1", "r1"), ("r1", "r2"), ("r2", "r2"), ("r1", None)]
    for item, labels in zip(main_items(study), readings, strict=True):
        for replicate, (label, shown) in enumerate(zip(labels, ("r1,r2", "r2,r1"), strict=True)):
            outcome = Outcome.OK if label else Outcome.TRUNCATED
            answer(study, cedar, item, label or "", outcome=outcome, replicate=replicate, shown=shown)
    report = report_of(study)
    found = judge_of(report)
    assert found["inconsistent"]["value"] == pytest.approx(1 / 3)
    assert found["inconsistent"]["n"] == 3
    assert found["inconsistent"]["left_out"] == [{"reason": "samples read in only one order", "n": 1}]
    assert outcome_of(found, "truncated") == (1, 0.125)
    assert outcome_of(found, "ok") == (7, 0.875)
    group = group_of(report, "judge-cedar")
    # A win, a tie and a loss; the item with one order has no label.
    assert group["win_rates"]["expected"][0]["rate"]["value"] == pytest.approx(0.5)
    assert group["win_rates"]["expected"][0]["rate"]["n"] == 3
    # Of the seven readings those shown first are four: two of the steady ones, both of the flip, the last.
    assert (group["bias"]["position"]["n_first"], group["bias"]["position"]["n_second"]) == (5, 2)
    assert "a tie where the two orders of a sample disagree" in " ".join(report["methods"])


def test_a_judge_whose_second_orders_are_not_read_yet_says_so_of_scales_too():
    study = answered_study("aspects", queries=4)
    give(study, new_rater(study, "someone"), some_answers(study, 1))
    give(study, new_rater(study, "turned", "judge", judge="turned", orders="both"), some_answers(study, 2))
    report = report_of(study)
    found = [
        each["inconsistent"]
        for each in report["records"]
        if each["figure"] == "judges/order_consistency" and each["question"] == "acceptability"
    ]
    assert [each["value"] for each in found] == [None]
    assert [each["reason"] for each in found[0]["left_out"]] == ["samples read in only one order"]


def test_probabilities_beside_labels():
    study = plain_study(queries=5)
    judge(study, raters=3, choose=lambda rater, position: "r1" if position < 3 else "r2")
    cedar = new_judge(study, reduction="mean")
    for item, number in zip(main_items(study), (0.1, 0.2, 0.6, 0.7, 0.9), strict=True):
        answer(study, cedar, item, "r1" if number < 0.5 else "r2", number=number)
    beside = group_of(report_of(study), "judge-cedar")["against_people"]
    assert beside["outer"]["value"] == pytest.approx(0.8)
    assert beside["expected"]["value"] == pytest.approx((0.9 + 0.8 + 0.4 + 0.7 + 0.9) / 5)
    section = section_of(report_of(study))
    assert "Expected" in [column.label for column in tables_of(section)[0].columns]


def test_a_judge_that_saw_the_reference_saw_more_than_people():
    study = plain_study()
    answer(study, new_judge(study, reference=True), main_items(study)[0], "r1")
    sentence = "cedar saw the human-written reference, which people are not shown."
    assert judge_of(report_of(study))["caveats"] == [sentence]
    judge(study, raters=2)
    sentence = "cedar saw the human-written reference, which people did not, so it had more information."
    report = report_of(study)
    assert judge_of(report)["caveats"] == [sentence]
    assert sentence in report["methods"]
    (notice,) = [block for block in section_of(report).blocks if block.notice]
    assert notice.text == (sentence,)
    study.show_references = True
    study.save()
    assert judge_of(report_of(study))["caveats"] == []


def test_a_judge_of_which_nothing_could_be_read():
    study = plain_study()
    cedar = new_judge(study)
    for item in main_items(study):
        answer(study, cedar, item, outcome=Outcome.REFUSED)
    with pytest.raises(NothingToReport, match=r"No judgment counts yet \(4 refused\)"):
        report_of(study)
    judge(study, raters=2)
    report = report_of(study)
    assert [group["key"] for group in report["groups"]] == ["person"]
    found = judge_of(report)
    assert outcome_of(found, "refused") == (4, 1.0)
    assert found["caveats"] == ["cedar is not in the report: none of its 4 judgments could be read."]
    assert found["inconsistent"]["value"] is None
    section = section_of(report)
    assert section.title == "Judges"
    assert section.intro == "No judge results to compare with people yet."
    assert "cedar is not in the report" in text_of(section)
    assert "100.0" in text_of(section)


def test_one_of_two_judges_failed_so_the_other_is_not_together_with_it():
    study = plain_study()
    judge(study, raters=2)
    answer(study, new_judge(study, "cedar"), main_items(study)[0], "r1")
    answer(study, new_judge(study, "elm"), main_items(study)[0], outcome=Outcome.FAILED)
    report = report_of(study)
    assert [group["key"] for group in report["groups"]] == ["person", "judge-cedar"]
    assert [each["label"] for each in report["judges"]] == ["cedar", "elm"]


def test_several_judges_and_no_people():
    study = judged_study(queries=6)
    for name in ("cedar", "elm"):
        for position, item in enumerate(main_items(study)):
            answer(study, new_judge_once(study, name), item, ("r1", "r2", "tie")[position % 3])
    report = report_of(study)
    section = section_of(report)
    assert section.title == "Judges"
    assert section.intro.startswith("No person has judged these items")
    assert "Win rates of judges: aspen vs birch" in [block.heading for block in section.blocks]
    assert any(
        "cedar" in block.plot.label and "elm" in block.plot.label for block in section.blocks if block.plot
    )
    assert "Judges: cedar and elm." in report["methods"]
    assert "## Judges" in report_markdown(report)


def new_judge_once(study, name):
    return Rater.objects.filter(study=study, label=name).first() or new_judge(study, name)


def test_judges_that_answer_one_of_two_questions():
    """In a study with context: one says which is better, one checks what was taken into account."""
    study = judged_study(queries=5)
    judge(study, raters=2)
    cedar, elm = new_judge(study, "cedar"), new_judge(study, "elm", questions=["satisfied"])
    for item in main_items(study):
        answer(study, cedar, item, "r1")
        if item.arm.context_at_judging:
            answer(study, elm, item, checks={"f1.r1": 1, "f1.r2": 0, "f2.r1": 1, "f2.r2": 1})
    report = report_of(study)
    assert group_of(report, "judge-cedar")["follow_ups"] is None
    checked = group_of(report, "judge-elm")
    assert checked["items"] == 0
    shares = {each["system"]: each["share"]["value"] for each in checked["follow_ups"]["by_system"]}
    assert shares == {"aspen": 1.0, "birch": 0.5}
    assert checked["win_rates"]["overall"][0]["rate"]["value"] is None
    assert judge_of(report, "elm")["caveats"] == [
        "elm was not asked which response is better; its checklist answers are under Follow-ups."
    ]
    section = section_of(report)
    preferences = [table for table in tables_of(section) if "win rate" in table.caption.lower()]
    assert preferences
    assert all("elm" not in [cell.text for row in table.rows for cell in row] for table in preferences)
    assert "elm: satisfied follow-ups" in " ".join(
        block.heading for block in section_of(report, "follow-ups").blocks
    )


def test_only_a_checklist_has_been_answered():
    study = judged_study(queries=3)
    elm = new_judge(study, "elm", questions=["satisfied"])
    for item in main_items(study):
        if item.arm.context_at_judging:
            answer(study, elm, item, checks={"f1.r1": 1, "f1.r2": 0, "f2.r1": 1, "f2.r2": 1})
    report = report_of(study)
    assert group_of(report, "judge-elm")["follow_ups"] is not None
    assert section_of(report, "follow-ups") is not None
    assert json.loads(json.dumps(report)) == report


def test_an_excluded_judge_is_no_judge_of_the_report():
    study = plain_study()
    judge(study, raters=2)
    cedar = new_judge(study)
    answer(study, cedar, main_items(study)[0], "r1")
    exclude(study=study, rater=cedar, reason="The wrong model.")
    report = report_of(study)
    assert (report["judges"], section_of(report)) == ([], None)


def test_what_others_say_of_judges_stands_in_the_methods(monkeypatch):
    study = plain_study()
    answer(study, new_judge(study), main_items(study)[0], "r1")
    extend(monkeypatch, methods_facts=lambda study: ["Cedar ran at temperature 0."])
    methods = report_of(study)["methods"]
    assert methods.index("Judge: cedar.") < methods.index("Cedar ran at temperature 0.")


def test_the_fingerprint_knows_of_judges_and_of_ties():
    study = plain_study()
    cedar = new_judge(study)
    answer(study, cedar, main_items(study)[0], "r1")
    seen = {fingerprint(study), fingerprint(study, ties="win")}
    cedar.in_figures = False
    cedar.save()
    seen.add(fingerprint(study))
    cedar.about = cedar.about | {"reduction": "mean"}
    cedar.save()
    seen.add(fingerprint(study))
    assert len(seen) == 4


def test_reports_with_either_count_of_ties_are_kept_side_by_side():
    study = plain_study()
    (rater, _) = judge(study, raters=2)
    half, win = compute_report(study), compute_report(study, ties="win")
    assert half != win
    assert cached_report(study).report == json.loads(json.dumps(half))
    assert cached_report(study, ties="win").report == json.loads(json.dumps(win))
    assert {row.fingerprint for row in study.cached_reports.all()} == set(fingerprints(study).values())
    fail(study, rater)
    # The one from before stays until its own successor is there.
    compute_report(study)
    assert not cached_report(study).stale
    assert cached_report(study, ties="win").stale
    compute_report(study, ties="win")
    assert study.cached_reports.count() == 2


def test_ties_as_wins_are_said_wherever_rates_are():
    study = judged_study(queries=8)
    judge(study, raters=2)
    report = report_of(study, ties="win")
    section = section_of(report, "win-rates")
    assert "with a tie counted as a win" in section.intro
    plot = next(block.plot for block in section.blocks if block.plot)
    assert "ties count as wins" in plot.caption
    assert plot.reference is None
    assert not [finding for finding in report["findings"] if finding["kind"] == "winner"]


def test_a_judge_with_a_checklist_alone_is_not_held_against_preferences():
    study = judged_study(queries=3)
    judge(study, raters=2)
    elm = new_judge(study, "elm", questions=["satisfied"])
    for item in main_items(study):
        if item.arm.context_at_judging:
            answer(study, elm, item, checks={"f1.r1": 1, "f1.r2": 0, "f2.r1": 1, "f2.r2": 1})
    section = section_of(report_of(study))
    assert section.intro == "No judge results to compare with people yet."
    assert [block.heading for block in section.blocks if not block.notice] == [
        "Judge response status",
        "How they were asked",
    ]


def test_length_bias_is_plotted_where_there_are_several_to_compare():
    study = plain_study(systems=("aspen", "oak"))
    judge(study, raters=2)
    assert not [plot for plot in plots_of(report_of(study)) if plot.what == "Length bias"]
    judge(study, raters=2, kind="judge")
    report = report_of(study)
    (plot,) = [plot for plot in plots_of(report) if plot.what == "Length bias"]
    biases = {
        group_of(report, each["group"])["label"]: each["length"]["bias"]["value"]
        for each in report["records"]
        if each["figure"] == "preferences/bias"
    }
    assert {row.label: row.marks[0].value for row in plot.rows} == biases
    assert plot.axis_title == "Length bias, points"
    assert {"judge 0", "judge 1"} < biases.keys()


def test_categories_of_fewer_than_ten_items_are_folded():
    """Of twelve queries in three settings the first two are of one category: six items."""
    study = judged_study()
    study.queries.update(category="many")
    study.queries.filter(pk__in=study.queries.order_by("pk").values("pk")[:2]).update(category="few")
    judge(study)
    judge(study, raters=1, kind="judge")
    blocks = {block.heading: block for block in section_of(build_report(study, replicates=20)).blocks}
    open_, folded = (blocks[f"Agreement with people by category{end}"] for end in ("", ", small categories"))
    assert [column.label for column in open_.tables[0].columns] == ["Raters", "many"]
    assert [column.label for column in folded.tables[0].columns] == ["Raters", "few"]
    assert not open_.folded
    assert folded.folded


def beside_people(judges):
    study = plain_study()
    judge(study, raters=2)
    judge(study, raters=judges, kind="judge", choose=lambda rater, at: ("r1", "r2")[(rater + at) % 2])
    return study


def kinds_in(report):
    return [group["kind"] for group in report["groups"]]


def test_judges_beside_people_are_together_where_that_is_asked_for():
    study = beside_people(judges=2)
    whole, asked = report_of(study), report_of(study, filters=Filters(judges=TOGETHER))
    assert kinds_in(whole) == ["person", "judge", "judge"]
    assert kinds_in(asked) == ["person", "judges", "judge", "judge"]
    assert asked["counts"] == whole["counts"]
    # The others' figures are what they are without.
    others = [each for each in asked["records"] if each["group"] != "judges"]
    assert {(each["figure"], each["question"], each["group"]) for each in whole["records"]} == {
        (each["figure"], each["question"], each["group"]) for each in others
    }
    text = report_markdown(asked)
    assert "> View: judges also together." in text
    assert "of these judgments alone" not in text
    assert "Judges together" not in report_markdown(whole)


@pytest.mark.parametrize(("judges", "beside"), [(3, ["judge 0", "judge 1", "judge 2"]), (4, [])])
def test_few_judges_stand_beside_people_one_by_one(judges, beside):
    """In plots of all groups, such as that of win rates, and in the strips at the top; for many there is no room."""
    report = report_of(beside_people(judges))
    assert [each.label for each in report_page(report).others] == beside
    (plot,) = (each for each in plots_of(report) if each.key == "win-rates")
    assert [mark.who for mark in plot.rows[0].marks] == ["People", *beside]
