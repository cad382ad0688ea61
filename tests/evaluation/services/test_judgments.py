"""The write door for judgments, and leaving judgments out of the figures."""

import math
from dataclasses import replace

import pytest
from django.db import IntegrityError

from evaluation.models import Answer, AnswerText, Exclusion, Judgment, Outcome, Rater, Study
from evaluation.protocols import AnswerValue, Kind
from evaluation.refusals import Refused
from evaluation.selectors import counting_judgments, left_out_by_kind, left_out_counts, left_out_in_words
from evaluation.services.answers import load_answers
from evaluation.services.exclusions import AlreadyExcluded, exclude, restore
from evaluation.services.judgments import JudgmentInput, record_judgments, revise_judgment
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.items import withdraw_item
from tests.crowd import make_crowd_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(around_module):
    return make_crowd_study("live", queries=4, arms=PAPER_ARMS[:1]).pk


@pytest.fixture
def live(db, made):
    return Study.objects.get(pk=made)


@pytest.fixture
def judge(live):
    return Rater.objects.create(study=live, kind=Rater.Kind.JUDGE)


@pytest.fixture
def reading(live, judge):
    """Makes the input for a judgment of that judge."""
    items = list(live.items.order_by("key"))
    revision = live.revisions.get()

    def make(number=0, *, outcome="ok", label="r1", **values):
        answers = [AnswerValue("preference", Kind.PREFERENCE, label=label)] if outcome == "ok" else []
        return JudgmentInput(
            rater_id=judge.pk,
            item_id=items[number].pk,
            revision_id=revision.pk,
            outcome=outcome,
            answers=answers,
            **values,
        )

    return make


def stored():
    """The stored judgments, as a reader of the figures would see them."""
    labels = dict(Answer.objects.values_list("judgment", "label"))
    return [
        (judgment.item_id, judgment.replicate, judgment.outcome, labels.get(judgment.pk))
        for judgment in Judgment.objects.order_by("item__key", "replicate")
    ]


@pytest.mark.parametrize("outcome", [each for each in Outcome.values if each != "ok"])
def test_answers_exist_only_for_ok(reading, outcome):
    answer = AnswerValue("preference", Kind.PREFERENCE, label="r1")
    with pytest.raises(ValueError, match="answers exist only for ok"):
        JudgmentInput(rater_id=1, item_id=1, revision_id=1, outcome=outcome, answers=[answer])
    with pytest.raises(ValueError, match="answers exist only for ok"):
        JudgmentInput(rater_id=1, item_id=1, revision_id=1)


def test_the_same_batch_twice_changes_nothing(live, reading):
    batch = [reading(0), reading(1, outcome="failed"), reading(2, replicate=1)]
    first = record_judgments(study=live, batch=batch)
    before = stored()
    again = record_judgments(study=live, batch=batch)
    assert [each.pk for each in again] == [each.pk for each in first]
    assert stored() == before
    assert len(before) == 3


@pytest.mark.parametrize("failure", ["failed", "unparsed", "truncated", "refused", "skipped"])
def test_a_failure_is_replaced_by_ok(live, reading, failure):
    [failed] = record_judgments(study=live, batch=[reading(outcome=failure, trace={"raw": "?"})])
    [ok] = record_judgments(study=live, batch=[reading(label="r2")])
    assert ok.pk == failed.pk
    assert [row[2:] for row in stored()] == [("ok", "r2")]
    live.refresh_from_db()
    assert live.corrections == 1, "figures that were computed before are known to be old"


@pytest.mark.parametrize("failure", ["failed", "skipped"])
def test_ok_is_never_replaced(live, reading, failure):
    record_judgments(study=live, batch=[reading(label="r2")])
    record_judgments(study=live, batch=[reading(outcome=failure)])
    record_judgments(study=live, batch=[reading(label="r1")])
    assert [row[2:] for row in stored()] == [("ok", "r2")]


def test_a_failure_is_not_replaced_by_another(live, reading):
    record_judgments(study=live, batch=[reading(outcome="unparsed", trace={"raw": "Both."})])
    record_judgments(study=live, batch=[reading(outcome="failed")])
    assert Judgment.objects.get().trace == {"raw": "Both."}
    live.refresh_from_db()
    assert live.corrections == 0


def test_a_batch_may_hold_a_failure_and_its_repair(live, reading):
    record_judgments(study=live, batch=[reading(outcome="failed"), reading(label="tie"), reading(1)])
    assert [row[2:] for row in stored()] == [("ok", "tie"), ("ok", "r1")]


@pytest.mark.parametrize("there_before", [False, True], ids=["all new", "one there"])
def test_a_batch_is_written_whole_or_not_at_all(live, reading, there_before):
    if there_before:
        record_judgments(study=live, batch=[reading(0, outcome="failed")])
    before = stored()
    broken = reading(2)
    object.__setattr__(broken, "answers", [AnswerValue("preference", Kind.PREFERENCE, text="r1")])
    with pytest.raises(ValueError, match="preference: a preference has no such value"):
        record_judgments(study=live, batch=[reading(0), reading(1), broken])
    assert stored() == before


def test_known_new_is_refused_where_it_is_not_true(live, reading):
    record_judgments(study=live, batch=[reading(0)])
    with pytest.raises(IntegrityError):
        record_judgments(study=live, batch=[reading(0)], known_new=True)


def test_time_in_view_is_at_most_the_time_on_task(live, reading):
    record_judgments(study=live, batch=[reading(0, duration_ms=1_000, visible_ms=5_000)])
    record_judgments(study=live, batch=[reading(1, duration_ms=1_000, visible_ms=-5)])
    record_judgments(study=live, batch=[reading(2, visible_ms=700)])
    seen = Judgment.objects.order_by("item__key").values_list("visible_ms", flat=True)
    assert list(seen) == [1_000, 0, 700]


def test_answers_are_those_that_were_written_replaced_and_revised(live, reading):
    def read(at):
        return load_answers(Judgment.objects.get(item=reading(at).item_id))

    graded = [
        AnswerValue("justification", Kind.TEXT, text="It is longer."),
        AnswerValue("preference", Kind.PREFERENCE, label="r1", number=0.25),
    ]
    record_judgments(study=live, batch=[reading(0), reading(1, outcome="failed")])
    assert (read(0), read(1)) == (list(reading(0).answers), [])
    record_judgments(study=live, batch=[reading(1, label="r2")])
    assert read(1) == list(reading(1, label="r2").answers)
    revise_judgment(study=live, judgment=Judgment.objects.get(item=reading(0).item_id), answers=graded)
    assert read(0) == graded, "in the order in which they were given"
    revise_judgment(study=live, judgment=Judgment.objects.get(item=reading(0).item_id), answers=graded[1:])
    assert read(0) == graded[1:]
    assert not AnswerText.objects.exists()
    record_judgments(study=live, batch=[reading(2, label="tie")], known_new=True)
    assert read(2) == list(reading(2, label="tie").answers)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([AnswerValue("a", Kind.TEXT, label="r1")], "a: a text has no such value"),
        ([AnswerValue("a", Kind.SCALE, "r2", text="4")], r"a\.r2: a scale has no such value"),
        ([AnswerValue("a", Kind.CHOICE, label="x", number=1)], "a: a choice has no such value"),
        ([AnswerValue("a", Kind.PREFERENCE, number=1)], "a: a preference has no such value"),
        ([AnswerValue("a", "stars", label="x", number=1)], "a: a stars has no such value"),
        ([AnswerValue("a", Kind.RANKING)], "a: a ranking has no such value"),
        ([AnswerValue("a", Kind.SCALE, number=n) for n in (1, 2)], "answered twice for one part"),
        ([AnswerValue("a", Kind.SCALE, number=math.inf)], "Out of range"),
    ],
)
def test_what_is_no_answer_is_refused_and_nothing_is_written(live, reading, answers, said):
    broken = reading(1)
    object.__setattr__(broken, "answers", answers)
    with pytest.raises(ValueError, match=said):
        record_judgments(study=live, batch=[reading(0), broken])
    assert not Judgment.objects.exists()


# --- exclusions -------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(live, reading):
    """Three counting judgments and a failed one."""
    batch = [reading(0), reading(1, label="r2"), reading(2), reading(3, outcome="failed")]
    record_judgments(study=live, batch=batch)
    return live


def counted(study):
    return counting_judgments(study).count()


def corrections(study):
    study.refresh_from_db()
    return study.corrections


def test_people_and_judges_that_are_left_out_are_counted_apart(judged, reading):
    assert left_out_by_kind(judged) == {"judge": {"failed": 1}}
    person = Rater.objects.create(study=judged, kind=Rater.Kind.PERSON, pseudonym="ada")
    batch = [replace(reading(at, outcome="skipped"), rater_id=person.pk) for at in range(2)]
    record_judgments(study=judged, batch=batch)
    found = left_out_by_kind(judged)
    assert found == {"person": {"skipped": 2}, "judge": {"failed": 1}}
    assert left_out_in_words(found) == "people: 2 skipped; judges: 1 failed"
    assert left_out_counts(judged) == {"skipped": 2, "failed": 1}


def test_excluding_and_restoring_a_rater(judged, judge, owner):
    exclusion = exclude(study=judged, rater=judge, reason=" Random clicks. ", by=owner)
    assert (counted(judged), corrections(judged)) == (0, 1)
    assert left_out_counts(judged) == {"excluded": 4}
    restore(exclusion, reason="A mistake.", by=owner)
    assert (counted(judged), corrections(judged)) == (3, 2)
    assert left_out_counts(judged) == {"failed": 1}
    kept = Exclusion.objects.get()
    assert (kept.reason, kept.by, kept.undone_by, kept.undone_reason) == (
        "Random clicks.",
        owner,
        owner,
        "A mistake.",
    )
    assert kept.undone_at >= kept.at


def test_excluding_one_judgment(judged):
    judgment = Judgment.objects.filter(outcome="ok").first()
    exclusion = exclude(study=judged, judgment=judgment, reason="Slip of the mouse.")
    assert counted(judged) == 2
    assert judgment not in counting_judgments(judged)
    restore(exclusion)
    assert counted(judged) == 3


def test_excluding_twice_is_refused_and_may_be_done_again_after_restoring(judged, judge):
    first = exclude(study=judged, rater=judge, reason="Spam.")
    with pytest.raises(AlreadyExcluded):
        exclude(study=judged, rater=judge, reason="Spam.")
    assert corrections(judged) == 1
    restore(first)
    exclude(study=judged, rater=judge, reason="Spam after all.")
    assert counted(judged) == 0
    assert Exclusion.objects.count() == 2


def test_a_rater_and_their_judgment_are_excluded_apart(judged, judge):
    judgment = Judgment.objects.filter(outcome="ok").first()
    of_judgment = exclude(study=judged, judgment=judgment, reason="Slip.")
    of_rater = exclude(study=judged, rater=judge, reason="Spam.")
    restore(of_rater)
    assert counted(judged) == 2
    restore(of_judgment)
    assert counted(judged) == 3


def test_restoring_twice_changes_nothing(judged, judge, owner):
    exclusion = exclude(study=judged, rater=judge, reason="Spam.")
    restore(exclusion, reason="First.", by=owner)
    at = exclusion.undone_at
    restore(exclusion, reason="Second.")
    assert (exclusion.undone_at, exclusion.undone_reason, exclusion.undone_by) == (at, "First.", owner)
    assert counted(judged) == 3


@pytest.mark.parametrize("reason", ["", "  "])
def test_an_exclusion_needs_a_reason(judged, judge, reason):
    with pytest.raises(Refused, match="needs a reason"):
        exclude(study=judged, rater=judge, reason=reason)
    assert (counted(judged), corrections(judged)) == (3, 0)


def test_judgments_of_a_withdrawn_item_are_in_no_figure(judged):
    withdraw_item(Judgment.objects.filter(outcome="ok").first().item)
    assert (counted(judged), corrections(judged)) == (2, 1)
    assert left_out_counts(judged) == {"failed": 1, "withdrawn item": 1}
