"""Participants, the quality of their work and the slots for it, for who watches and steers by script."""

import pytest
from django.contrib.admin.models import LogEntry

from evaluation.models import StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.studies.creation import PAPER_ARMS
from tests.crowd import come, hand_in, make_crowd_study

PERSON = "panel-id-of-a-person"
ROOT = "studies/crowd/"


@pytest.fixture
def crowd(db, owner, colleague):
    study = make_crowd_study("crowd", queries=2, arms=PAPER_ARMS[:1], owner=owner)
    StudyMember.objects.create(study=study, user=colleague, role="viewer")
    return study


@pytest.fixture
def judgment(crowd):
    return hand_in(come(crowd, PERSON).token).judgment


def test_participants_are_told_with_what_they_did(judgment, as_owner, call, colleague):
    [told] = as_owner.all(f"{ROOT}participants/", expand="signs")
    assert (told["rater"], told["external_id"]) == (judgment.rater.pseudonym, PERSON)
    assert (told["step"], told["outcome"], told["judged"], told["excluded"]) == ("items", "", 1, None)
    assert told["signs"] == []
    assert len(told["consented_on"]) == len("2026-01-31")
    [seen] = call(colleague).all(f"{ROOT}participants/")
    del told["signs"]
    assert seen == {**told, "external_id": None}


def test_participants_are_found_by_rater_step_and_outcome(judgment, crowd, as_owner):
    come(crowd, "another")
    assert len(as_owner.all(f"{ROOT}participants/")) == 2
    [found] = as_owner.all(f"{ROOT}participants/", rater=judgment.rater.pseudonym)
    assert found["judged"] == 1
    assert len(as_owner.all(f"{ROOT}participants/", step="items", page_size=1)) == 2
    assert as_owner.all(f"{ROOT}participants/", outcome="completed") == []


def test_no_token_is_told_and_no_id_to_viewers(judgment, as_owner, call, colleague):
    token = judgment.rater.participant.token
    for path in ("participants/", "quality/", "slots/", "progress/"):
        assert token not in as_owner.get(ROOT + path).content.decode()
        seen = call(colleague).get(ROOT + path).content.decode()
        assert PERSON not in seen


def test_quality_is_what_the_page_has(judgment, crowd, as_owner, owner):
    exclude(study=crowd, rater=judgment.rater, reason="Guessed.", by=owner)
    [told] = as_owner.all(f"{ROOT}quality/")
    assert (told["rater"], told["judged"], told["excluded"]) == (judgment.rater.pseudonym, 1, "Guessed.")
    assert told["attention"] == {"k": 0, "n": 0}


def test_a_page_of_participants_costs_the_same_however_long(crowd, as_owner, django_assert_num_queries):
    come(crowd, "first")
    as_owner.get(f"{ROOT}participants/")
    with django_assert_num_queries(7):
        as_owner.get(f"{ROOT}participants/")
    for n in range(3):
        come(crowd, f"more-{n}")
    with django_assert_num_queries(7):
        as_owner.get(f"{ROOT}participants/")


def test_redundancy_is_raised_and_lowered(crowd, as_owner):
    before = as_owner.get(f"{ROOT}slots/").json()
    n = sum(each["open"] for each in before["slots"])
    raised = as_owner.put(
        f"{ROOT}redundancy/", {"redundancy": before["redundancy"] + 2, "reason": "More certain."}
    )
    assert raised.status_code == 200, raised.content
    assert (
        sum(each["open"] for each in raised.json()["slots"])
        == n + 2 * crowd.items.filter(role="main").count()
    )
    assert as_owner.get(f"{ROOT}slots/").json() == raised.json()
    line = LogEntry.objects.filter(object_id=str(crowd.pk)).order_by("-pk")[0].change_message
    assert line.endswith("Reason: More certain.")
    lowered = as_owner.put(
        f"{ROOT}redundancy/", {"redundancy": before["redundancy"], "reason": "Too dear."}
    ).json()
    assert sum(each["open"] for each in lowered["slots"]) == n
    assert as_owner.put(f"{ROOT}redundancy/", {"redundancy": 0, "reason": "A"}).status_code == 400


def test_excluded_judgments_are_collected_again_once(crowd, judgment, as_owner, owner):
    exclude(study=crowd, judgment=judgment, reason="A slip.", by=owner)
    body = {"reason": "A slip."}
    first, second = (as_owner.post(f"{ROOT}replacements/", body, key="once") for _ in range(2))
    assert (first.status_code, first.json()["opened"]) == (201, 1)
    assert second.json() == first.json()
    assert as_owner.post(f"{ROOT}replacements/", body).json()["opened"] == 0
