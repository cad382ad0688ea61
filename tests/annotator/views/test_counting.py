"""One number of items, at the door and on every page: checks are in it, and never more than there are."""

import re

import pytest

from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.services.studies.creation import PAPER_ARMS
from tests.annotator.conftest import home, text
from tests.crowd import before, hand_in

pytestmark = pytest.mark.django_db
CHECKED = {"attention": {"checks": 1}}


def at_the_door(client, study):
    return int(re.search(r"Items up to (\d+)", text(client.get(f"/s/{study.slug}/")))[1])


def on_the_page(client, participant):
    return tuple(map(int, re.search(r"(\d+) of (\d+)", text(client.get(home(participant)))).groups()))


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({"queries": 8, "items_per_participant": 4}, 4),
        ({"queries": 8, "items_per_participant": 4, "checks": 1, "steps": CHECKED}, 5),
        ({"queries": 6, "items_per_participant": 10}, 6),
        ({"queries": 3, "items_per_participant": 10, "checks": 2, "steps": CHECKED}, 4),
        ({"queries": 8, "items_per_participant": 4, "arms": PAPER_ARMS, "redundancy": 1}, 4),
    ],
)
def test_the_door_and_the_counter_say_the_same(client, make, fields, number):
    study = make(**fields)
    assert at_the_door(client, study) == number
    participant = enter(study, Visit("link"))
    for done in range(number):
        assert on_the_page(client, participant) == (done + 1, number)
        hand_in(participant.token)
    participant.refresh_from_db()
    assert participant.outcome == "completed"


def test_the_counter_moves_alike_over_a_check(client, make):
    """Whoever watches it can't tell which one it was."""
    participant = enter(make(queries=8, items_per_participant=4, checks=1, steps=CHECKED), Visit("link"))
    roles, shown = [], []
    while (assignment := before(participant.token)) is not None:
        roles.append(assignment.item.role)
        shown.append(on_the_page(client, participant))
        hand_in(participant.token)
    assert "attention" in roles
    assert shown == [(n, 5) for n in range(1, 6)]
