"""What the report says of sets of entries: decisions about drafted ones, sizes, what was added, and judges."""

import pytest

from analytics.reports.files import report_markdown
from evaluation.models import Rater
from tests.analytics.reports.answering import give, new_rater
from tests.analytics.reports.golden_studies import a_pass
from tests.analytics.reports.reading import build_report
from tests.analytics.reports.test_answers import figures_of, sections_of
from tests.calibrations import FERRY, NEW, OLD, calibrated, calibration_study, kept

pytestmark = pytest.mark.django_db

TAKEN, ALSO = kept(OLD, "r1.e1"), kept(NEW, "r1.e2")
EDITED = kept(NEW, "r1.e2", reason="Seen in fragment 2.")
MERGED = {**OLD, "answers": ["1894", "1962"], "origins": ["r1.e1", "r1.e2"]}
FROM_MODEL = kept(FERRY, "m1.e3")


@pytest.fixture
def study():
    """Two queries with two drafted entries each, one that begins from nothing; two people and a judge."""
    study = calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]], "q3": []})
    give(study, new_rater(study, "ann"), [calibrated(TAKEN, ALSO), calibrated(MERGED), calibrated(FERRY)])
    give(
        study,
        new_rater(study, "ben"),
        [calibrated(TAKEN, EDITED, FERRY), calibrated(TAKEN, FROM_MODEL), None],
    )
    judge = new_rater(study, "llm", Rater.Kind.JUDGE, judge="j", model="j-7b", orders="random", samples=1)
    give(study, judge, [calibrated(TAKEN, ALSO), calibrated(TAKEN), calibrated(FERRY, FERRY)])
    return study


def report_of(study):
    return build_report(study, replicates=100)


def test_decisions_are_counted_and_agreement_taken_of_them(study):
    report = report_of(study)
    found = figures_of(report, "entries")
    assert [(each["label"], each["n"]) for each in found["distribution"]] == [
        ("Accepted", 4), ("Edited", 1), ("Merged", 2), ("Rejected", 1),
    ]  # fmt: skip
    assert found["entries"]["decisions"] == 8
    # Units (accepted accepted) (accepted edited) (merged accepted) (merged rejected): 3 of 4 disagree.
    differing = 8 * 8 - (4 * 4 + 1 + 2 * 2 + 1)
    assert found["alpha"]["value"] == pytest.approx(1 - 7 * 6 / differing)
    assert (found["alpha"]["n"], found["alpha"]["unit"]) == (4, "drafted entries")
    [asked] = [each for each in report["questions"] if each["form"] == "entries"]
    assert (asked["kind"], asked["level"], asked["points"][2]["value"]) == ("entries", "nominal", "merged")


def test_sets_are_measured_those_that_began_from_nothing_too(study):
    found = figures_of(report_of(study), "entries")
    assert (found["answers"], found["raters"], found["items"]) == (5, 2, 3)
    sets = found["entries"]
    assert sets["size"]["mean"]["value"] == pytest.approx((2 + 1 + 1 + 3 + 2) / 5)
    assert sets["added"]["mean"]["value"] == pytest.approx((0 + 0 + 1 + 1 / 3 + 0) / 5)
    assert sets["revised"]["mean"]["value"] == pytest.approx((1 / 2) / 5)
    assert (sets["size"]["n_units"], sets["size"]["n_queries"]) == (3, 3)
    assert sets["size"]["mean"]["low"] < sets["size"]["mean"]["high"]


def test_sizes_are_shown_one_by_one_and_calibrator_by_calibrator(study):
    report = report_of(study)
    sets = figures_of(report, "entries")["entries"]
    # Ann's sets have 2, 1 and 1 entries, Ben's 3 and 2.
    assert [(each["size"], each["n"]) for each in sets["sizes"]] == [(1, 2), (2, 2), (3, 1)]
    assert [each["share"]["value"] for each in sets["sizes"]] == [0.4, 0.4, 0.2]
    found = {each["rater"]: each for each in sets["by_rater"]}
    assert found["ann"]["size"]["mean"]["value"] == pytest.approx(4 / 3)
    assert found["ben"]["size"]["mean"]["value"] == 2.5
    assert found["ann"]["added"]["mean"]["value"] == pytest.approx(1 / 3)
    assert found["ben"]["revised"]["mean"]["value"] == 0.25
    text = report_markdown(report)
    assert "Set sizes" in text
    assert next(line for line in text.splitlines() if line.startswith("| ann |")).startswith("| ann | 1.33")
    assert next(line for line in text.splitlines() if line.startswith("| ben |")).startswith("| ben | 2.50")


def test_one_judge_alone_has_no_calibrators_to_tell_apart(study):
    assert figures_of(report_of(study), "entries", "llm")["entries"]["by_rater"] == []


def test_judges_stand_beside_people(study):
    found = figures_of(report_of(study), "entries", "judge")
    assert [each["n"] for each in found["distribution"]] == [3, 0, 0, 1]
    beside = found["against_people"]
    # People's mean sizes are 2.5, 1.5 and 1, the judge's sets have 2, 1 and 2 entries.
    assert beside["compared"]["error"]["value"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert beside["compared"]["error"]["unit"] == "sets"
    assert beside["labels"]["outer"]["n"] == 4
    assert beside["tau"] is None


def test_readings_of_a_judge_are_reduced(study):
    """Three readings: decisions by majority, sizes by their mean."""
    judge = new_rater(study, "often", Rater.Kind.JUDGE, judge="k", model="k-7b", orders="random", samples=3)
    for replicate, first in enumerate(([TAKEN], [TAKEN, ALSO], [ALSO])):
        give(study, judge, [calibrated(*first), None, None], replicate=replicate)
    found = figures_of(report_of(study), "entries", "often")
    assert [each["n"] for each in found["distribution"]] == [2, 0, 0, 0]
    assert found["entries"]["size"]["mean"]["value"] == pytest.approx(4 / 3)


def test_anchor_runs_are_held_against_the_first_pass(study):
    """A judge's later decisions, which are in no other figure."""
    passes = [
        [calibrated(TAKEN, ALSO), calibrated(TAKEN, ALSO), None],
        [calibrated(TAKEN, ALSO), calibrated(TAKEN), None],
    ]
    for number, given in enumerate(passes):
        give(study, a_pass(study, number), given)
    [record] = [
        each
        for each in report_of(study)["records"]
        if (each["figure"], each["question"]) == ("judges/drift", "entries")
    ]
    _, anchor = record["passes"]
    # One of four drafted entries was accepted at first and rejected later.
    assert (anchor["purpose"], anchor["self"]["value"], anchor["self"]["n"]) == ("anchor", 0.75, 4)


def test_drafts_of_several_are_told_apart():
    """A resolver's study: each calibrator's entries have their own fate."""
    study = calibration_study({"q1": [[OLD, FERRY], [NEW]], "q2": [[OLD], [NEW]]})
    give(
        study,
        new_rater(study, "ann"),
        [calibrated(TAKEN, kept(NEW, "r2.e1")), calibrated(kept(NEW, "r2.e1"))],
    )
    found = figures_of(report_of(study), "entries")
    shares = {each["system"]: [share["n"] for share in each["distribution"]] for each in found["by_system"]}
    assert shares == {"model-1": [1, 0, 0, 2], "model-2": [2, 0, 0, 0]}
    assert found["alpha"]["value"] is None
    section = sections_of(report_of(study))["entries"]
    assert "Decisions by drafting system" in [block.heading for block in section.blocks]


def test_without_any_draft_there_are_only_sets():
    study = calibration_study({"q1": [], "q2": []})
    give(study, new_rater(study, "ann"), [calibrated(OLD, NEW), calibrated(FERRY)])
    report = report_of(study)
    found = figures_of(report, "entries")
    assert found["entries"]["decisions"] == 0
    assert (found["entries"]["size"]["mean"]["value"], found["entries"]["added"]["mean"]["value"]) == (1.5, 1)
    assert found["alpha"]["undefined"]
    headings = [block.heading for block in sections_of(report)["entries"].blocks]
    assert headings == ["Settled sets", "Set sizes"]


def test_the_three_checks_come_as_tags_and_all_is_in_the_files(study):
    report = report_of(study)
    checks = figures_of(report, "checks")
    assert [each["part"] for each in checks["by_part"]] == ["supported", "true_to_source", "covers"]
    text = report_markdown(report)
    for words in (
        "Decisions on drafted entries",
        "Settled sets",
        "From a revision",
        "Set sizes vs",
    ):
        assert words in text
