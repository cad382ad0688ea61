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
from tests.analytics.reports.judging import judge, judged_study, main_items
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


def records(study, **options):
    report = build_report(study, replicates=20, only=[KEY], **options)
    return report, {each["group"]: each for each in report["records"] if each["figure"] == KEY}


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
