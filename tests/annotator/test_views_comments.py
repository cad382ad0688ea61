"""The last words."""

import pytest

from annotator.platforms import Visit
from annotator.services.entry import enter
from tests.annotator.conftest import address, fields, home, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def commenting(client, make):
    participant = enter(make(steps={"comments": True}, items_per_participant=1), Visit("link"))
    client.post(address(client, participant), fields(client, participant))
    return participant


def test_end_the_way(client, commenting):
    assert "Anything to tell us?" in text(client.get(home(commenting)))
    response = client.post(f"{home(commenting)}comments/", {"comments": " Nice\x00 work "})
    assert response.status_code == 303
    assert "DONE-1" in text(client.get(home(commenting)))
    client.post(f"{home(commenting)}comments/", {"comments": "again"})
    commenting.refresh_from_db()
    assert commenting.comments == "Nice work"


def test_may_be_left_empty(client, commenting):
    client.post(f"{home(commenting)}comments/", {})
    assert "DONE-1" in text(client.get(home(commenting)))


def test_too_long_comes_back_with_everything_kept(client, commenting):
    response = client.post(f"{home(commenting)}comments/", {"comments": "y" * 5_001})
    assert response.status_code == 422
    assert "too long" in text(response)
    assert "y" * 5_001 in response.content.decode()


def test_before_their_time_they_change_nothing(client, participant):
    assert client.post(f"{home(participant)}comments/", {"comments": "x"}).status_code == 303
    assert "Submit" in text(client.get(home(participant)))


def test_stranger_and_wrong_method(client, commenting):
    assert (
        client.post("/p/nobody-has-this-token-here/comments/", {"comments": "y" * 6_000}).status_code == 404
    )
    assert client.get(f"{home(commenting)}comments/").status_code == 405
