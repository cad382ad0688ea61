"""Settled labels in reports: who gives them, and how far those who settle agree."""

from collections import Counter

import pytest

from analytics.reports.build import build_report
from analytics.reports.markdown import report_markdown
from evaluation.filters import Filters
from evaluation.models import Rater
from evaluation.protocols import AnswerValue, Kind
from evaluation.services.exclusions import exclude
from evaluation.services.judgments import JudgmentInput, record_judgments
from tests import factories
from tests.analytics.reports.answering import give, new_rater
from tests.analytics.reports.judging import answer, judge, judged_study, main_items, new_judge
from tests.calibrations import FERRY, NEW, OLD, calibrated, calibration_study, kept
from tests.protocol_factories import make_aspects_study

pytestmark = pytest.mark.django_db
KEY = "agreement/settled"


def settle(study, name, answers):
    """A settler whose labels are those; an item whose answer is None is not settled."""
    rater = Rater.objects.create(
        study=study, kind="settled", label=name, pseudonym=f"settler-{name}", in_figures=False
    )
    batch = [
        JudgmentInput(rater_id=rater.pk, item_id=item.pk, revision_id=study.revisions.get().pk, answers=given)
        for item, given in zip(main_items(study), answers, strict=False)
        if given
    ]
    record_judgments(study=study, batch=batch)
    return rater


def labels(text):
    known = {"1": "r1", "2": "r2", "t": "tie"}
    return [
        [AnswerValue("preference", Kind.PREFERENCE, label=known[each])] if each in known else None
        for each in text
    ]


def records(study, question="", **options):
    report = build_report(study, replicates=20, only=[KEY], **options)
    found = [
        each for each in report["records"] if each["figure"] == KEY and question in ("", each["question"])
    ]
    return report, {each["group"]: each for each in found}


@pytest.fixture
def judged(owner):
    """Twelve pairs. Three people: all prefer the first, but for the third on the first four. A judge: the second."""
    study = judged_study(owner=owner, queries=12, arms=factories.PAPER_ARMS[:1])
    judge(study, raters=3, choose=lambda rater, position: "r2" if rater == 2 and position < 4 else "r1")
    judge(study, raters=1, kind="judge", choose=lambda rater, position: "r2")
    return study


def test_people_and_a_judge_are_held_against_the_settled_labels(judged):
    settle(judged, "ada", labels("2211111t"))
    report, found = records(judged)
    people, of_judge = found["person"], found["judge-0"]
    # Of eight settled, people's majority prefers the first in all: five are equal. The judge's two are.
    assert people["held"]["same"]["agreement"]["value"] == pytest.approx(5 / 8)
    assert people["held"]["same"]["agreement"]["n"] == 8
    assert of_judge["held"]["same"]["agreement"]["value"] == pytest.approx(2 / 8)
    assert people["held"]["error"] is None
    # The third says what is settled of the first two and not of the next two.
    by_rater = {each["rater"]: each["held"]["same"]["agreement"]["value"] for each in people["raters"]}
    assert by_rater == {f"person-{n}": pytest.approx(5 / 8) for n in range(3)}
    assert of_judge["raters"] == []
    page = report_markdown(report)
    assert "Settled labels" in page
    assert "held against the settled ones" in page


def test_where_two_settle_otherwise_the_item_is_left_out_and_their_agreement_is_told(judged):
    settle(judged, "ada", labels("2211111t"))
    settle(judged, "bo", labels("2111"))
    report, found = records(judged)
    [pair] = found["person"]["settlers"]
    assert (pair["one"], pair["other"]) == ("ada", "bo")
    assert (pair["same"]["agreement"]["value"], pair["same"]["agreement"]["n"]) == (3 / 4, 4)
    assert found["judge-0"]["settlers"] == []
    same = found["person"]["held"]["same"]["agreement"]
    assert same["n"] == 7
    assert same["left_out"] == [{"reason": "items that were settled one way and another", "n": 1}]
    assert same["value"] == pytest.approx(5 / 7)
    assert "Every two who settle" in report_markdown(report)


def test_what_was_taken_back_counts_no_more_and_a_third_decides(judged):
    ada, bo = settle(judged, "ada", labels("2")), settle(judged, "bo", labels("1"))
    settle(judged, "cy", labels("1"))
    assert records(judged)[1]["person"]["held"]["same"]["agreement"]["value"] == 1
    exclude(study=judged, judgment=bo.judgments.get(), reason="Too soon.")
    assert records(judged)[1]["person"]["held"]["same"]["agreement"]["n"] == 0
    exclude(study=judged, judgment=ada.judgments.get(), reason="Too soon.")
    assert records(judged)[1]["person"]["held"]["same"]["agreement"]["n"] == 1


def test_a_view_of_raters_is_held_against_all_settled_labels(judged):
    settle(judged, "ada", labels("2211"))
    _, found = records(judged, filters=Filters(raters=("person-2",)))
    assert found["person"]["held"]["same"]["agreement"]["value"] == pytest.approx(2 / 4)


def test_a_report_without_settled_labels_has_none_of_it_and_with_them_all_else_is_the_same(judged):
    before = build_report(judged, replicates=20)
    assert KEY not in {each["figure"] for each in before["records"]}
    settle(judged, "ada", labels("2211"))
    after = build_report(judged, replicates=20)
    others = [each for each in after["records"] if each["figure"] != KEY]
    assert others == before["records"]
    for name in ("counts", "groups", "raters"):
        assert after[name] == before[name], name


def test_numbers_are_also_told_by_how_far_they_are_off(owner):
    """By a slow count over the answers, part by part."""
    study = make_aspects_study("numbers", main=4, owner=owner)
    parts = [each["part"] for each in main_items(study)[0].stimulus["responses"]]

    def rated(shift):
        return [
            [
                AnswerValue("factuality", Kind.SCALE, part=part, number=float((number * shift + at) % 3))
                for at, part in enumerate(parts)
            ]
            for number, _ in enumerate(main_items(study))
        ]

    given = {"one": rated(1), "two": rated(2)}
    for name, answers in given.items():
        rater = Rater.objects.create(study=study, kind="person", label=name, pseudonym=name)
        record_judgments(
            study=study,
            batch=[
                JudgmentInput(
                    rater_id=rater.pk, item_id=item.pk, revision_id=study.revisions.get().pk, answers=each
                )
                for item, each in zip(main_items(study), answers, strict=True)
            ],
        )
    settle(study, "ada", settled := rated(1))
    _, found = records(study)
    [record] = [found["person"]]
    held = {each["rater"]: each["held"] for each in record["raters"]}
    for name, answers in given.items():
        pairs = [
            (a.number, b.number)
            for x, y in zip(answers, settled, strict=True)
            for a, b in zip(x, y, strict=True)
        ]
        equal = Counter(a == b for a, b in pairs)[True] / len(pairs)
        off = sum(abs(a - b) for a, b in pairs) / len(pairs)
        assert held[name]["same"]["agreement"]["value"] == pytest.approx(equal)
        assert held[name]["error"]["value"] == pytest.approx(off)
    assert held["one"]["error"]["value"] == 0


@pytest.fixture
def checked(owner):
    """Four pairs with two follow-ups. A person and a judge prefer the first, and check the same in both responses: the
    person that f1 is satisfied and f2 is not, the judge that both are. Another judge has checklists alone."""
    study = judged_study(owner=owner, queries=4, arms=factories.PAPER_ARMS[1:2])
    for rater, label, f2 in (
        (new_rater(study, "ann"), "r1", 0),
        (new_judge(study, "oak"), "r1", 1),
        (new_judge(study, "elm"), "", 1),
    ):
        for item in main_items(study):
            answer(study, rater, item, label, checks={"f1.r1": 1, "f1.r2": 1, "f2.r1": f2, "f2.r2": f2})
    return study


def settle_checklist(study, name, checks, n):
    rater = settle(study, name, [])
    for item in main_items(study)[:n]:
        answer(study, rater, item, "r2", checks=checks)


def test_a_preferences_checklist_is_held_against_the_settled_one(checked):
    settle_checklist(checked, "ada", {"f1.r1": 1, "f1.r2": 1, "f2.r1": 0, "f2.r2": 0}, n=2)
    settle_checklist(checked, "bo", {"f1.r1": 1, "f1.r2": 0, "f2.r1": 0, "f2.r2": 0}, n=1)
    report, found = records(checked)
    by_label = {each["label"]: found[each["key"]] for each in report["groups"]}
    held = {label: each["held"]["checklist"]["agreement"] for label, each in by_label.items()}
    # Of two items eight follow-ups of responses, of one of which the two who settle differ.
    assert {each["unit"] for each in held.values()} == {"follow-up questions of responses"}
    assert [each["n"] for each in held.values()] == [7, 7, 7]
    assert held["People"]["value"] == 1
    assert held["oak"]["value"] == held["elm"]["value"] == pytest.approx(3 / 7)
    assert held["People"]["left_out"][0]["n"] == 1
    person = by_label["People"]
    assert [each["held"]["checklist"]["agreement"]["n"] for each in person["raters"]] == [7]
    [pair] = person["settlers"]
    assert (pair["checklist"]["agreement"]["value"], pair["checklist"]["agreement"]["n"]) == (3 / 4, 4)
    rows = [
        line for line in report_markdown(report).splitlines() if line.startswith("| Satisfied follow-ups |")
    ]
    assert [row.split("|")[2].strip() for row in rows[:4]] == ["People", "oak", "elm", "ada"]
    # Who has checklists alone has no row of a preference.
    assert "| Which response is better overall? | elm" not in report_markdown(report)


def test_sets_of_entries_are_held_against_the_settled_ones(owner):
    taken, also = kept(OLD, "r1.e1"), kept(NEW, "r1.e2")
    study = calibration_study({"q1": [[OLD, NEW]], "q2": [[OLD, NEW]], "q3": []}, owner=owner)
    give(study, new_rater(study, "ann"), [calibrated(taken, also), calibrated(taken), calibrated(FERRY)])
    give(study, new_rater(study, "ben"), [calibrated(taken), None, None])
    give(study, new_judge(study, "oak"), [calibrated(FERRY), calibrated(taken, also), calibrated(FERRY)])
    ada, bo = (settle(study, name, []) for name in ("ada", "bo"))
    give(study, ada, [calibrated(taken, also), calibrated(taken, also), calibrated(FERRY, OLD)])
    give(study, bo, [calibrated(taken), None, None])
    report, found = records(study, "entries")
    sets = {each["label"]: found[each["key"]]["held"]["sets"] for each in report["groups"]}
    # q1: ann 1 and 2/3, ben 2/3 and 1; q2: ann 2/3; q3, which has no draft: 2/3.
    of_ann, of_ben = (1 + 2 / 3) / 2, (2 / 3 + 1) / 2
    assert sets["People"]["matched"]["value"] == pytest.approx(((of_ann + of_ben) / 2 + 2 / 3 + 2 / 3) / 3)
    assert sets["oak"]["matched"]["value"] == pytest.approx((0 + 1 + 2 / 3) / 3)
    assert (sets["People"]["matched"]["n"], sets["oak"]["matched"]["n"]) == (3, 3)
    person = found["person"]
    by_rater = {each["rater"]: each["held"]["sets"]["matched"] for each in person["raters"]}
    assert by_rater["ben"]["value"] == pytest.approx(of_ben)
    assert (by_rater["ann"]["n"], by_rater["ben"]["n"]) == (3, 1)
    [pair] = person["settlers"]
    assert (pair["sets"]["matched"]["value"], pair["sets"]["matched"]["n"]) == (pytest.approx(2 / 3), 1)
    # Of four drafted entries two who settle differ on the second of q1, and ann rejects that of q2.
    same = person["held"]["same"]["agreement"]
    assert (same["value"], same["n"], same["unit"]) == (pytest.approx(2 / 3), 2 + 1, "drafted entries")
    page = report_markdown(report)
    assert "Sets of people and judges beside the settled ones of the same items" in page
    assert "Sets of every two who settle" in page


def test_sets_that_began_from_nothing_have_no_decisions_and_are_compared(owner):
    study = calibration_study({"q1": [], "q2": []}, owner=owner)
    give(study, new_rater(study, "ann"), [calibrated(OLD, NEW), calibrated(OLD)])
    give(study, settle(study, "ada", []), [calibrated(OLD), None])
    report, found = records(study, "entries")
    assert found["person"]["held"]["sets"]["matched"]["value"] == pytest.approx(2 / 3)
    page = report_markdown(report)
    assert "Sets of people and judges beside the settled ones" in page
    assert "drafted entries" not in page.partition("Settled labels")[2].partition("How the figures")[0]
