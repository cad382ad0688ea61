"""Numbers that two studies are compared by, form by form: over all queries they are those of the report."""

import numpy as np
import pytest

from evaluation.models import Study
from evaluation.protocols import Kind, QuestionSpec
from tests.analytics.reports.answering import answered_study, drawn_answers, give, new_rater
from tests.analytics.reports.golden_studies import grades_study, ranked_study
from tests.analytics.reports.judging import answer, judged_study, main_items
from tests.analytics.reports.reading import build_report
from tests.analytics.reports.test_comparison import compared
from tests.calibrations import NEW, OLD, calibrated, calibration_study, kept

pytestmark = pytest.mark.django_db
VERDICT = QuestionSpec(
    "verdict",
    Kind.CHOICE,
    "What is it?",
    options={"good": "Good", "bad": "Bad", "form": {"choices": ["good", "bad", "odd"], "over": "response"}},
)
GOOD, BAD = ({"verdict": dict.fromkeys(("r1", "r2", "r3"), each)} for each in ("good", "bad"))


def numbers(found, figure):
    """A's and B's number by name, setting and systems, of people."""
    return {
        (each["name"], each["arm"], tuple(each["systems"])): (each["a"]["value"], each["b"]["value"])
        for each in found["comparisons"]
        if (each["figure"], each["group"]) == (figure, "person")
    }


def record(study: Study, figure):
    """The report's record of people and of the first question that has one."""
    report = build_report(study, replicates=20)
    return next(each for each in report["records"] if (each["figure"], each["group"]) == (figure, "person"))


def chosen(slug, *given):
    """A study of which each rater gives each item one verdict on all responses."""
    study = answered_study("custom", slug=slug, queries=12, questions=[VERDICT])
    for number, answers in enumerate(given):
        give(study, new_rater(study, f"person {number}"), answers)
    return study


def test_options_of_a_choice_are_compared_and_their_difference_is_found():
    """Nine of ten answers are good in the one study, and three of ten in the other."""
    one = chosen("one", [GOOD] * 12, [GOOD] * 12, [*[GOOD] * 10, *[BAD] * 2])
    other = chosen("other", [BAD] * 12, [BAD] * 12, [*[GOOD] * 10, *[BAD] * 2])
    found = compared(one, other)
    by_name = numbers(found, "ratings/choices")
    assert by_name["Share of Good", None, ()] == (pytest.approx(34 / 36), pytest.approx(10 / 36))
    assert by_name["Share of Good", None, ("aspen",)] == (pytest.approx(34 / 36), pytest.approx(10 / 36))
    assert by_name["Share of odd", None, ()] == (0, 0)
    said = {each["about"]: each["heading"] for each in found["findings"]}
    assert said["Share of Good"] == "lower in B"


def test_a_single_rater_is_enough_for_options():
    found = compared(chosen("one", [GOOD] * 12), chosen("other", [*[GOOD] * 6, *[BAD] * 6]))
    assert numbers(found, "ratings/choices")["Share of Good", None, ()] == (1, 0.5)


def test_satisfied_follow_ups_and_biases_are_compared():
    study = judged_study(queries=12, items_per_query=2, systems=("aspen", "birch-and-cedar"))
    rng = np.random.default_rng(4)
    for number in range(3):
        rater = new_rater(study, f"person-{number}")
        for item, drawn in zip(
            main_items(study), rng.integers(0, 2, (len(main_items(study)), 4)), strict=True
        ):
            checks = dict(zip(("f1.r1", "f2.r1", "f1.r2", "f2.r2"), drawn.tolist(), strict=True))
            label, shown = ("r1", "r2", "tie")[drawn.sum() % 3], ("r1,r2", "r2,r1")[drawn[0]]
            answer(study, rater, item, label, checks=checks, shown=shown)
    found = compared(study, study, {}, {"without_rater": ["person-2"]})
    checked = record(study, "conditions/follow_ups")["by_system"]
    by_name = numbers(found, "conditions/follow_ups")
    assert by_name
    for each in checked:
        key = ("Satisfied follow-ups", each["arm"], (each["system"],))
        assert by_name[key][0] == pytest.approx(each["share"]["value"])
    bias = record(study, "preferences/bias")
    by_name = numbers(found, "preferences/bias")
    first = by_name["Prefer the response shown first", None, ()]
    assert first[0] == pytest.approx(bias["position"]["share"]["value"])
    assert by_name["Length bias", None, ()][0] == pytest.approx(bias["length"]["bias"]["value"])


def test_grades_are_compared_pair_by_pair():
    study = grades_study()
    rater = study.raters.filter(kind="person").first().pseudonym
    found = numbers(compared(study, study, {}, {"without_rater": [rater]}), "preferences/grades")
    cells = record(study, "preferences/grades")["by_cell"]
    assert len(found) == len(cells) > 0
    for each in cells:
        key = ("Mean grade", None, (each["system_1"], each["system_2"]))
        assert found.get(key, found.get((key[0], each["arm"], key[2])))[0] == pytest.approx(
            each["mean"]["value"]
        )


def test_agreement_of_rankings_is_compared():
    one = ranked_study()
    other = answered_study("ranking", queries=12, slug="other")
    for number in range(2):
        give(other, new_rater(other, f"person {number}"), drawn_answers(other, 7 + number))
    found = numbers(compared(one, other), "agreement/concordance")
    for place, study in enumerate((one, other)):
        agreed = record(study, "agreement/concordance")
        assert found["Kendall's W", None, ()][place] == pytest.approx(agreed["w"]["value"])
        tau = found["Mean \N{GREEK SMALL LETTER TAU}-b of two raters", None, ()][place]
        assert tau == pytest.approx(agreed["tau"]["value"])


def test_sets_of_entries_are_compared():
    taken, also = kept(OLD, "r1.e1"), kept(NEW, "r1.e2")
    made = []
    for slug, of_ben in (
        ("one", [calibrated(taken), calibrated(taken)]),
        ("other", [calibrated(taken, also)] * 2),
    ):
        study = calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]]}, slug=slug)
        give(study, new_rater(study, "ann"), [calibrated(taken, also)] * 2)
        give(study, new_rater(study, "ben"), of_ben)
        made.append(study)
    found = compared(*made)
    decided, sets = numbers(found, "entries/decisions"), numbers(found, "entries/calibrators")
    assert decided["Drafted entries accepted", None, ()] == (pytest.approx(6 / 8), 1)
    assert decided["Drafted entries rejected", None, ()] == (pytest.approx(2 / 8), 0)
    assert decided["Entries per set", None, ()] == (1.5, 2)
    # One of three entries has no partner: twice one pair of three.
    assert sets["F1 of matched conditions", None, ()] == (pytest.approx(2 / 3), 1)
    distance = record(made[0], "entries/calibrators")["distance"]["mean"]["value"]
    assert sets["Distance from the draft", None, ()] == (pytest.approx(distance), 0)
