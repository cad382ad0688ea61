"""One person in several tabs at once, on PostgreSQL, in threads: a visit ends once and begins once."""

import os

import pytest
from django.db import connection

from annotator.models import Assignment, Participant, Submission
from annotator.services.admission.entry import come_again, enter
from annotator.services.work.submit import submit
from annotator.visit import Visit
from evaluation.models import Rater
from evaluation.selectors import counting_judgments
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.people import ONE_ARM
from tests.crowd import at_once, before, filled_in, hand_in, make_crowd_study

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
TABS = 8


@pytest.fixture
def postgres(db):
    if connection.vendor == "postgresql":
        return
    if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
        pytest.fail("DATABASE_URL names no PostgreSQL")
    pytest.skip("DATABASE_URL names no PostgreSQL")


@pytest.fixture
def often(owner):
    """Three visits of two items each."""
    return make_crowd_study("often", owner=owner, queries=8, arms=ONE_ARM, items_per_participant=2, visits=3)


def numbers():
    return list(Submission.objects.order_by("visit_number", "pk").values_list("visit_number", flat=True))


def do_all(participant):
    while before(participant.token) is not None:
        hand_in(participant.token)


def is_one_person_s(study, visits):
    """One participant with so many visits, each with its items, and everything in order."""
    ann = Participant.objects.get()
    assert (ann.visit_number, Rater.objects.count()) == (visits, 1)
    judged = Assignment.objects.filter(state="submitted").values_list("visit_number", flat=True)
    assert sorted(judged) == sorted([*range(1, visits + 1)] * 2)
    assert counting_judgments(study).count() == 2 * visits
    assert list(verify_study(study)) == []


def test_the_same_submission_in_many_tabs_begins_one_visit(often):
    for session in ("v1", "v2", "v3"):
        visit = Visit("prolific", "ann", "there", session)
        people = at_once(*(lambda visit=visit: enter(often, visit) for _ in range(TABS)))
        assert len({each.pk for each in people}) == 1
        do_all(people[0])
    assert numbers() == [1, 2, 3]
    is_one_person_s(often, visits=3)


def test_two_submissions_at_once_are_of_one_visit(often):
    do_all(enter(often, Visit("prolific", "ann", "there", "v1")))
    entered = at_once(
        *(
            lambda session=session: enter(often, Visit("prolific", "ann", "there", session))
            for session in ("v2", "v3") * (TABS // 2)
        )
    )
    do_all(entered[0])
    assert numbers() == [1, 2, 2]
    is_one_person_s(often, visits=2)


def test_the_button_pressed_in_many_tabs_begins_one_visit(often):
    ann = enter(often, Visit("link", "ann"))
    do_all(ann)
    for number in (2, 3):
        at_once(*(lambda number=number: come_again(ann.token, number) for _ in range(TABS)))
        do_all(ann)
    assert numbers() == [1, 2, 3]
    is_one_person_s(often, visits=3)


def test_a_visit_that_ends_in_one_tab_and_begins_in_others(often):
    """The last item is handed in twice while the button of the next visit is pressed."""
    ann = enter(often, Visit("link", "ann"))
    hand_in(ann.token)
    last = before(ann.token)

    def hand_in_last():
        submit(ann.token, last.pk, filled_in(last))

    at_once(hand_in_last, hand_in_last, *(lambda: come_again(ann.token, 2) for _ in range(TABS)))
    come_again(ann.token, 2)
    do_all(ann)
    assert numbers() == [1, 2]
    is_one_person_s(often, visits=2)
