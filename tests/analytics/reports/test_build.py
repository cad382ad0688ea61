"""What a report says of unusual studies: one rater, judges only, failures, unknown orders, exclusions."""

import pytest

from analytics.display.tables import DASH
from analytics.reports.build import fingerprint
from analytics.reports.common import NothingToReport
from analytics.reports.page import report_page
from evaluation.models import Exclusion, Judgment, Study
from evaluation.services.exclusions import exclude, restore
from tests import factories
from tests.analytics.reports.answering import new_rater
from tests.analytics.reports.judging import answer, fail, judge, judged_study, main_items
from tests.analytics.reports.reading import build_report

pytestmark = pytest.mark.django_db


def report_of(study):
    return build_report(study, replicates=200)


def test_draft_and_unjudged_study_have_nothing_to_report(draft):
    with pytest.raises(NothingToReport, match="not been launched"):
        build_report(draft)
    with pytest.raises(NothingToReport, match="Nobody has judged"):
        build_report(factories.launch(draft))


def test_one_rater_has_win_rates_but_no_agreement():
    study = judged_study()
    judge(study, raters=1)
    (group,) = report_of(study)["groups"]
    overall = group["agreement"]["overall"]["with_ties"]
    assert overall["value"] is None
    assert overall["undefined"] == "No item has two or more ratings yet."
    assert overall["left_out"] == [{"reason": "items with fewer than two judgments", "n": 36}]
    assert group["leave_one_out"]["inner"]["value"] is None
    assert group["kappa"]["pairs"] == []
    assert all(rate["system_1"]["value"] is not None for rate in group["win_rates"]["majority"])
    page = report_page(report_of(study))
    agreement = next(fact for fact in page.facts if fact.name == "Agreement")
    assert (agreement.value, agreement.detail) == (DASH, "No item has two or more ratings yet.")


def test_judges_stand_each_alone_and_together():
    study = judged_study()
    judge(study, raters=2, kind="judge")
    report = report_of(study)
    assert [group["kind"] for group in report["groups"]] == ["judges", "judge", "judge"]
    assert report["counts"]["judgments"] == 72
    assert report["counts"]["raters"] == 2
    assert report_page(report).leading == "Judges together"
    assert all(group["against_people"] is None for group in report["groups"])


def test_one_judge_is_not_a_panel():
    study = judged_study()
    judge(study, raters=1, kind="judge", label="Cedar")
    (group,) = report_of(study)["groups"]
    assert (group["kind"], group["label"]) == ("judge", "Cedar 0")


def test_simulated_raters_are_never_pooled_with_people():
    study = judged_study()
    judge(study, raters=2)
    judge(study, raters=3, kind="simulated", choose=lambda rater, position: "r2")
    report = report_of(study)
    groups = {group["kind"]: group for group in report["groups"]}
    assert (groups["person"]["raters"], groups["simulated"]["raters"]) == (2, 3)
    assert groups["simulated"]["against_people"]["outer"]["value"] is not None
    assert {block.tag for section in report_page(report).sections for block in section.blocks} == {
        "",
        "simulated",
    }
    alone = judged_study("alone")
    judge(alone, raters=2)
    # The same figures as if nobody had been simulated, but for the interval's random numbers.
    (same,) = report_of(alone)["groups"]
    overall = [each["agreement"]["overall"]["with_ties"]["value"] for each in (groups["person"], same)]
    assert overall[0] == overall[1]


def test_simulated_only_is_said_before_any_figure():
    study = judged_study()
    judge(study, kind="simulated")
    page = report_page(report_of(study))
    assert "Nobody has judged anything yet" in page.notice
    assert page.facts[1].tag == "simulated"


def test_unknown_orders_are_left_out_of_position_bias_and_counted():
    study = judged_study()
    judge(study, raters=2, shown=False)
    share = report_of(study)["groups"][0]["bias"]["position"]["share"]
    assert share["value"] is None
    assert share["left_out"] == [{"reason": "judgments with unknown order", "n": 72}]


def test_position_bias_by_layout_counts_what_was_not_recorded():
    study = judged_study()
    judge(study, raters=3)
    assert report_of(study)["groups"][0]["bias"]["layouts"] == []
    first, second, _ = study.raters.order_by("pk")
    Judgment.objects.filter(rater=first).update(trace={"screen": {"layout": "tabs", "docked": True}})
    Judgment.objects.filter(rater=second).update(trace={"screen": {"layout": "columns"}})
    report = report_of(study)
    bias = report["groups"][0]["bias"]
    by_layout = {each["layout"]: each for each in bias["layouts"]}
    assert list(by_layout) == ["columns", "tabs", ""]
    assert all(each["share"]["n"] > 0 for each in by_layout.values())
    for count in ("n_first", "n_second"):
        assert sum(each[count] for each in by_layout.values()) == bias["position"][count]
    # Each rater's own preferences, and nobody else's.
    own = judged_study("own")
    judge(own, raters=1)
    alone = report_of(own)["groups"][0]["bias"]["position"]
    assert by_layout["tabs"]["share"]["value"] == alone["share"]["value"]
    blocks = [block for section in report_page(report).sections for block in section.blocks]
    tables = [table for block in blocks for table in block.tables]
    assert any("Position by layout" in table.caption for table in tables)


def test_failures_are_counted_and_never_read_as_a_verdict():
    study = judged_study()
    (judge_1,) = judge(study, raters=1, kind="judge")
    before = report_of(study)
    fail(study, judge_1)
    after = report_of(study)
    assert after["counts"]["left_out"] == [
        {"reason": "unparsed", "n": 1, "by_kind": [{"kind": "judge", "n": 1}]}
    ]
    assert after["groups"] == before["groups"]
    assert (
        next(fact for fact in report_page(after).facts if fact.name == "Excluded").detail
        == "judges: 1 unparsed"
    )


def test_excluding_and_restoring_a_rater_changes_and_restores_every_figure():
    study = judged_study()
    raters = judge(study, raters=3)
    before = report_of(study)
    exclusion = exclude(study=study, rater=raters[0], reason="Answered within a second throughout.")
    without = report_of(study)
    assert without["counts"]["left_out"] == [
        {"reason": "excluded", "n": 36, "by_kind": [{"kind": "person", "n": 36}]}
    ]
    assert without["counts"]["excluded_by_kind"] == [{"kind": "person", "n": 1}]
    assert without["counts"]["excluded_raters"] == 1
    for name in ("agreement", "leave_one_out", "alpha", "kappa", "win_rates", "bias"):
        assert without["groups"][0][name] != before["groups"][0][name], name
    restore(exclusion)
    assert report_of(study) == before


def test_a_report_is_the_same_every_time():
    study = judged_study()
    judge(study, raters=3)
    assert report_of(study) == report_of(study)


def test_the_fingerprint_knows_of_every_change():
    study = judged_study()
    (rater,) = judge(study, raters=1)
    seen = [fingerprint(study)]

    def changed():
        seen.append(fingerprint(Study.objects.get(pk=study.pk)))
        return len(set(seen)) == len(seen)

    assert fingerprint(study) == seen[0]
    fail(study, rater)
    assert changed()
    exclude(study=study, rater=rater, reason="Too fast.")
    assert changed()
    restore(Exclusion.objects.get())
    assert changed()
    item = main_items(study)[0]
    type(item).objects.filter(pk=item.pk).update(withdrawn_at=item.study.created_at)
    assert changed()
    study.systems.filter(key="aspen").update(label="Aspen")
    assert changed()


def test_a_baseline_brings_rates_against_it():
    study = judged_study(baseline="birch")
    judge(study, raters=2)
    group = report_of(study)["groups"][0]
    assert {rate["opponent"] for rate in group["win_rates"]["against_baseline"]} == {"birch"}
    assert {rate["system"] for rate in group["win_rates"]["against_baseline"]} == {"aspen"}
    headings = [block.heading for block in report_page(report_of(study)).sections[0].blocks]
    assert "Against the baseline, birch" in headings


def test_three_systems_have_strengths():
    study = judged_study(systems=("aspen", "birch", "cedar"), items_per_query=3)
    judge(study, raters=3)
    fits = report_of(study)["groups"][0]["bradley_terry"]
    assert len(fits) == 3
    assert all(len(fit["strengths"]) == 3 for fit in fits)
    keys = [section.key for section in report_page(report_of(study)).sections]
    assert "strengths" in keys


def test_agreement_where_responses_differ_does_not_count_items_without_a_checklist():
    study = judged_study()
    for number in range(2):
        rater = new_rater(study, f"person-{number}")
        for position, item in enumerate(main_items(study)):
            checks = {"f1.r1": 1, "f1.r2": 0} if position % 4 else None
            answer(study, rater, item, "r1", checks=checks)
    tables = [
        table
        for section in report_page(report_of(study)).sections
        for block in section.blocks
        for table in block.tables
        if "items whose responses differ" in table.caption
    ]
    assert len(tables) == 2
    assert "not included" not in str(tables)
