"""Erasing a participant through the API."""

import pytest

from annotator.models import Participant
from evaluation.models import Judgment, StudyMember
from evaluation.services.tokens import make_token
from tests.annotator.services.erased import found_in_database
from tests.annotator.services.people import ONE_ARM
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.api.conftest import Caller

pytestmark = pytest.mark.django_db
BODY = {"reason": "They asked for it.", "slots": "retired"}


@pytest.fixture
def participant(owner):
    study = make_crowd_study("live", owner=owner, queries=4, arms=ONE_ARM)
    found = come(study, "5f1d2ann")
    hand_in(found.token)
    return found


def caller(user):
    return Caller(make_token(user, name="scripts")[1])


def path(participant):
    return f"studies/live/participants/{participant.rater.pseudonym}/erasure/"


def test_a_dry_run_says_what_it_would_come_to(participant, owner):
    found = caller(owner).post(path(participant), {**BODY, "dry_run": True}).json()
    assert (found["done"], found["problems"]) == ("", [])
    assert found["erased"][0].startswith("1 judgment with all answers")
    assert Participant.objects.filter(pk=participant.pk).exists()


def test_it_erases_once(participant, owner):
    pseudonym, here = participant.rater.pseudonym, caller(owner)
    answer = here.post(path(participant), BODY)
    assert answer.status_code == 200
    assert answer.json()["done"] == "Erased a participant: 1 judgment, whose slot is retired."
    assert found_in_database("5f1d2ann", pseudonym) == set()
    assert here.post(path(participant), BODY).status_code == 404


def test_a_study_under_way_wants_the_choice(participant, owner):
    answer = caller(owner).post(path(participant), {"reason": "They asked for it."})
    assert (answer.status_code, answer.json()["code"]) == (409, "refused")
    assert caller(owner).post(path(participant), {"slots": "again"}).status_code == 400


def test_for_owners_alone(participant, colleague, outsider):
    StudyMember.objects.create(study=participant.study, user=colleague, role="editor")
    assert caller(colleague).post(path(participant), BODY).status_code == 403
    assert caller(outsider).post(path(participant), BODY).status_code == 404
    assert Caller().post(path(participant), BODY).status_code == 401
    assert caller(colleague).get(path(participant)).status_code == 405
    assert Judgment.objects.exists()
