"""Erasing on PostgreSQL, while a study is made of somebody's words, and while another is erased who is copied here."""

from threading import Barrier, Event
from typing import Any

import pytest
from django.db import connection

from annotator.services import erasing
from annotator.services.erasing import erase_participant
from evaluation.dumps import derive
from evaluation.dumps.derive import derive_study
from evaluation.models import Item, Rater, Study
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.erased import found_in_database
from tests.annotator.services.people import ONE_ARM
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.crowd import at_once, come, hand_in, make_crowd_study

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
WORDS = "Xylophones quarrel beneath the marmalade"


def study_of(slug: str, owner: Any) -> Study:
    return make_crowd_study(slug, owner=owner, queries=4, arms=ONE_ARM)


def erase(participant: Any, owner: Any) -> str:
    """What is said, also of a refusal."""
    try:
        return erase_participant(
            participant,
            by=owner,
            reason="They asked for it.",
            typed=participant.rater.pseudonym,
            deal_again=True,
        )
    except Refused as refused:
        return str(refused)


def test_a_derivation_waits_for_an_erasure_and_then_writes_nothing(owner: Any, monkeypatch: Any) -> None:
    study = study_of("words", owner)
    ann, bob = come(study, "ann"), come(study, "bob")
    hand_in(ann.token, justification=WORDS)
    hand_in(bob.token)
    has_read, erases = Event(), Event()
    delete, write = erasing.delete_rater, derive.import_dump

    def delete_slowly(rater: Rater) -> int:
        erases.set()
        # Long enough for the derivation to be waiting for the study.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.5)")
        return delete(rater)

    def wait_before_the_end(source: Any, *, first: Any, **named: Any) -> Study:
        def waits() -> None:
            has_read.set()
            assert erases.wait(10)
            first()

        return write(source, first=waits, **named)

    monkeypatch.setattr(erasing, "delete_rater", delete_slowly)
    monkeypatch.setattr(derive, "import_dump", wait_before_the_end)

    def derived() -> str:
        try:
            return derive_study(study, "justifications", by=owner, slug="coding").title
        except Refused as refused:
            return str(refused)

    def erased() -> str:
        assert has_read.wait(30)
        return erase(ann, owner)

    said, done = at_once(derived, erased)
    assert done.startswith("Erased a participant")
    assert said == derive.ERASED_MEANWHILE
    assert found_in_database(WORDS) == set()
    assert not Study.objects.filter(slug="coding").exists()
    assert list(verify_study(study)) == []
    monkeypatch.undo()
    assert derived() != derive.ERASED_MEANWHILE
    assert Item.objects.filter(study__slug="coding").exists()


def test_of_two_that_wait_for_each_other_one_is_told_to_try_again(owner: Any, monkeypatch: Any) -> None:
    """Each study has a copy of the other's participant, and both hold their own study before they look for copies."""
    studies = [study_of("first", owner), study_of("second", owner)]
    people = [come(study, "ann") for study in studies]
    for person, other in zip(people, reversed(studies), strict=True):
        hand_in(person.token)
        Rater.objects.create(study=other, kind=Rater.Kind.PERSON, pseudonym=person.rater.pseudonym)
    both, find = Barrier(2, timeout=30), erasing.find_copies

    def find_together(rater: Rater) -> Any:
        found = find(rater)
        both.wait()
        return found

    monkeypatch.setattr(erasing, "find_copies", find_together)
    said = at_once(*(lambda person=person: erase(person, owner) for person in people))
    assert sorted(each == erasing.MEANWHILE for each in said) == [False, True]
    monkeypatch.undo()
    assert erase(people[said.index(erasing.MEANWHILE)], owner).startswith("Erased a participant")
    assert not Rater.objects.exists()
    for study in studies:
        assert list(verify_study(study)) == []
