"""Kept counts of items: what marks an item, and that counting it anew gives what its judgments say."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, product

import pytest
from django.db import connection

from evaluation import tasks
from evaluation.models import AnswerText, ItemTally, Judgment, Outcome, Rater, StaleItem
from evaluation.protocols import AnswerValue, Kind
from evaluation.selectors import countable_q
from evaluation.services import tallies
from evaluation.services.answers import load_answers
from evaluation.services.exclusions import exclude, restore
from evaluation.services.judgments import JudgmentInput, record_judgments, revise_judgment
from evaluation.services.tallies import mark_items_of, recount
from tests.analytics.reports.judging import answer, fail, judge, judged_study, main_items, new_judge
from tests.crowd import at_once

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def study(db):
    """Twelve queries in three arms; three people and two judges, one of which answers every item twice."""
    study = judged_study("contrast")
    judge(study, raters=3)
    judge(
        study,
        raters=2,
        kind="judge",
        choose=lambda rater, position: ("r2", "r1", "tie")[(rater + position) % 3],
    )
    return study


def counted(study):
    while recount(study):
        pass
    return {each.item_id: each for each in ItemTally.objects.filter(study=study)}


def by_hand(study, item):
    """(people, judges, disagreement, against judges) of one item, from every pair of its counting judgments."""
    rows = [
        (row.rater.kind == "judge", {(each.question, each.part): each for each in load_answers(row)})
        for row in Judgment.objects.filter(countable_q(study), item=item).select_related("rater")
    ]
    people, judges = (
        [answers for is_judge, answers in rows if is_judge == wanted] for wanted in (False, True)
    )

    def differ(one, other):
        return abs(one.number - other.number) if one.label is None else float(one.label != other.label)

    def mean_over_questions(pairs):
        places = sorted({place for one, other in pairs for place in one.keys() & other.keys()})
        shares = [
            [differ(one[place], other[place]) for one, other in pairs if place in one and place in other]
            for place in places
        ]
        of_question = {}
        for (question, _), each in zip(places, shares, strict=True):
            of_question.setdefault(question, []).append(sum(each) / len(each))
        means = [sum(each) / len(each) for each in of_question.values()]
        return sum(means) / len(means) if means else None

    own, against = list(combinations(people, 2)), list(product(people, judges))
    return len(people), len(judges), mean_over_questions(own), mean_over_questions(against)


def assert_counted(study):
    found = counted(study)
    assert not StaleItem.objects.exists()
    for item in main_items(study):
        each = found[item.pk]
        people, judges, disagreement, against = by_hand(study, item)
        assert (each.n_people, each.n_judges) == (people, judges)
        assert each.disagreement == (None if disagreement is None else pytest.approx(disagreement))
        assert each.against_judges == (None if against is None else pytest.approx(against))
    return found


def test_counts_are_those_of_every_pair_of_judgments(study):
    first, second = main_items(study)[:2]
    person = study.raters.create(kind="person", pseudonym="new")
    answer(study, person, first, "tie", checks={"f1.r1": 1, "f1.r2": 0})
    answer(study, study.raters.create(kind="person", pseudonym="newer"), first, "r1", checks={"f1.r1": 0})
    answer(study, new_judge(study), first, "tie", checks={"f1.r1": 1}, replicate=3)
    fail(study, person, replicate=7)
    found = assert_counted(study)
    assert found[first.pk].n_people == 5
    assert found[second.pk].n_people == 3


def test_majorities_times_and_reasons(study):
    item = main_items(study)[0]
    labels = [
        label for row in item.judgments.filter(rater__kind="person") for label in [load_answers(row)[0].label]
    ]
    row = item.judgments.order_by("pk")[1]
    Judgment.objects.filter(pk=row.pk).update(judged_at=NOON, duration_ms=70_000)
    slow_judge = item.judgments.filter(rater__kind="judge").first()
    Judgment.objects.filter(pk=slow_judge.pk).update(judged_at=NOON + timedelta(days=1), duration_ms=90_000)
    AnswerText.objects.create(judgment=row, question="justification", text="It is shorter.")
    AnswerText.objects.create(judgment=row, question="comments", text="")
    found = counted(study)[item.pk]
    assert found.majority == next((each for each in labels if labels.count(each) > 1), "")
    assert (found.n_texts, found.longest_ms) == (1, 70_000)
    assert found.last_judged_at == NOON + timedelta(days=1)


def test_what_changes_which_judgments_count_is_counted_anew(study):
    counted(study)
    rater, judgment = study.raters.get(pseudonym="person-0"), study.judgments.order_by("pk")[4]
    made = [exclude(study=study, reason="guessed", rater=rater)]
    made.append(exclude(study=study, reason="slipped", judgment=judgment))
    assert_counted(study)
    for each in made:
        restore(each)
    assert_counted(study)
    machine = study.raters.filter(kind="judge").first()
    Rater.objects.filter(pk=machine.pk).update(in_figures=False)
    mark_items_of([machine])
    assert_counted(study)


def test_a_revised_and_a_replaced_judgment_are_counted_anew(study):
    counted(study)
    judgment = study.judgments.filter(rater__kind="person").first()
    wanted = "r2" if load_answers(judgment)[0].label == "r1" else "r1"
    answers = [AnswerValue("preference", Kind.PREFERENCE, label=wanted)]
    assert revise_judgment(study=study, judgment=judgment, answers=answers)
    assert_counted(study)
    person, item = study.raters.create(kind="person", pseudonym="late"), main_items(study)[0]
    again = {"rater_id": person.pk, "item_id": item.pk, "revision_id": study.revisions.get().pk}
    record_judgments(study=study, batch=[JudgmentInput(**again, outcome=Outcome.SKIPPED)])
    assert assert_counted(study)[item.pk].n_people == 3
    record_judgments(study=study, batch=[JudgmentInput(**again, answers=answers)])
    assert assert_counted(study)[item.pk].n_people == 4


def test_simulated_raters_are_people_of_a_simulated_study_alone(study):
    judge(study, raters=2, kind="simulated")
    item = main_items(study)[0]
    assert counted(study)[item.pk].n_people == 3
    study.simulated = True
    study.save()
    mark_items_of(list(study.raters.filter(kind="simulated")))
    assert counted(study)[item.pk].n_people == 5


def test_workers_count_whatever_waits_and_nothing_twice(study, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(tallies, "CHUNK", 50)
    assert tallies.count_stale(study, 10) == 10
    tasks.count_progress()
    assert ItemTally.objects.filter(study=study, n_people=3).count() == len(main_items(study))
    with django_assert_num_queries(1):
        assert recount(study) == 0


def test_some_items_are_counted_by_themselves(study):
    first, second = main_items(study)[:2]
    assert recount(study, items=[first.pk]) > 0
    assert [each.item_id for each in ItemTally.objects.all()] == [first.pk]
    assert StaleItem.objects.filter(item=second).exists()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_while_several_write_and_count_at_once():
    """Two who judge the same items, one who is excluded and restored, and two who count."""
    if connection.vendor != "postgresql":
        pytest.skip("DATABASE_URL names no PostgreSQL")
    study = judged_study("busy", queries=4)
    revision, items = study.revisions.get(), main_items(study)
    raters = [study.raters.create(kind="person", pseudonym=f"p{n}") for n in range(8)]

    def write(some, order):
        for rater in some:
            for item in items[::order]:
                label = ("r1", "r2", "tie")[(rater.pk + item.pk) % 3]
                answers = [AnswerValue("preference", Kind.PREFERENCE, label=label)]
                batch = [
                    JudgmentInput(
                        rater_id=rater.pk, item_id=item.pk, revision_id=revision.pk, answers=answers
                    )
                ]
                record_judgments(study=study, batch=batch)

    def leave_out():
        for _ in range(5):
            restore(exclude(study=study, reason="guessed", rater=raters[0]))

    def count():
        for _ in range(40):
            recount(study)

    at_once(lambda: write(raters[:4], 1), lambda: write(raters[4:], -1), leave_out, count, count)
    found = assert_counted(study)
    assert {each.n_people for each in found.values()} == {8}
