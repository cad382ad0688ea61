"""Going on."""

import pytest

from annotator.models import Assignment
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from tests.annotator.conftest import home, text
from tests.annotator.views.test_page import ALL_STEPS

pytestmark = pytest.mark.django_db


def test_leaves_the_instructions(client, make):
    participant = enter(make(steps=ALL_STEPS, training=True), Visit("link"))
    response = client.post(f"{home(participant)}go-on/")
    assert (response.status_code, response["Location"]) == (303, home(participant))
    assert "Practice" in text(client.get(home(participant)))


def test_changes_nothing_while_an_item_is_open(client, participant):
    before = list(Assignment.objects.values())
    assert client.post(f"{home(participant)}go-on/").status_code == 303
    assert list(Assignment.objects.values()) == before


def test_stranger_and_wrong_method(client, participant):
    assert client.post("/p/nobody-has-this-token-here/go-on/").status_code == 404
    assert client.get(f"{home(participant)}go-on/").status_code == 405
