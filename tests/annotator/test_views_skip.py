"""Skipping, as often as the study allows."""

import pytest

from annotator.models import Assignment
from annotator.platforms import Visit
from annotator.services.entry import enter
from evaluation.models import Judgment
from tests.annotator.conftest import address, home, text

pytestmark = pytest.mark.django_db


def test_gives_another_item_while_there_are_skips_left(client, make):
    participant = enter(make(queries=6, skips={"per_participant": 2, "flag_after": 5}), Visit("link"))
    for _ in range(2):
        target = address(client, participant, "skip")
        assert "Skip this one" in text(client.get(home(participant)))
        assert client.post(target)["Location"] == home(participant)
        assert address(client, participant, "skip") != target
    assert Judgment.objects.filter(outcome="skipped").count() == 2
    assert "Skip this one" not in text(client.get(home(participant)))
    response = client.post(address(client, participant, "skip"))
    assert "can't be skipped" in text(client.get(response["Location"]))
    assert Assignment.objects.filter(state="skipped").count() == 2


def test_second_skip_of_the_same_changes_nothing(client, participant):
    target = address(client, participant, "skip")
    client.post(target)
    assert client.post(target).status_code == 303
    assert Judgment.objects.count() == 1


def test_practice_can_not_be_skipped(client, make):
    study = make(training=True, steps={"training": True})
    participant = enter(study, Visit("link"))
    response = client.post(address(client, participant, "skip"))
    assert "can't be skipped" in text(client.get(response["Location"]))
    assert Assignment.objects.get().state == "reserved"
