"""The last words."""

import pytest

from annotator.services.admission.entry import enter
from annotator.services.work.drafts import MAX_DRAFT
from annotator.visit import Visit
from tests.annotator.conftest import address, fields, home, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def commenting(client, make):
    participant = enter(make(steps={"comments": True}, items_per_participant=1), Visit("link"))
    client.post(address(client, participant), fields(client, participant))
    return participant


def test_end_the_way(client, commenting):
    assert "Any comments? (optional)" in text(client.get(home(commenting)))
    response = client.post(f"{home(commenting)}comments/", {"comments": " Nice\x00 work "})
    assert response.status_code == 303
    assert "DONE-1" in text(client.get(home(commenting)))
    client.post(f"{home(commenting)}comments/", {"comments": "again"})
    commenting.refresh_from_db()
    assert commenting.comments == "Nice work"


def test_may_be_left_empty(client, commenting):
    client.post(f"{home(commenting)}comments/", {})
    assert "DONE-1" in text(client.get(home(commenting)))


def test_too_long_is_kept_and_shown_by_a_get(client, commenting):
    long = "y" * 5_001
    refused = client.post(f"{home(commenting)}comments/", {"comments": long})
    assert refused.status_code == 303
    for shown in (refused["Location"], home(commenting)):
        response = client.get(shown)
        assert "too long" in text(response)
        assert long in response.content.decode()
    commenting.refresh_from_db()
    assert commenting.comments == ""
    client.post(f"{home(commenting)}comments/", {"comments": "Shorter."})
    commenting.refresh_from_db()
    assert (commenting.comments, commenting.unsent_comments) == ("Shorter.", "")


def test_what_no_request_may_hold_is_not_kept(client, commenting):
    refused = client.post(f"{home(commenting)}comments/", {"comments": "y" * MAX_DRAFT})
    assert "were too long" in text(client.get(refused["Location"]))
    commenting.refresh_from_db()
    assert commenting.unsent_comments == ""


def test_withdrawing_leaves_nothing_of_what_was_not_handed_in(client, commenting):
    client.post(f"{home(commenting)}comments/", {"comments": "y" * 5_001})
    client.post(f"{home(commenting)}withdraw/")
    commenting.refresh_from_db()
    assert (commenting.outcome, commenting.unsent_comments) == ("withdrawn", "")


def test_before_their_time_they_change_nothing(client, participant):
    assert client.post(f"{home(participant)}comments/", {"comments": "x"}).status_code == 303
    assert "Submit" in text(client.get(home(participant)))


def test_stranger_and_wrong_method(client, commenting):
    assert (
        client.post("/p/nobody-has-this-token-here/comments/", {"comments": "y" * 6_000}).status_code == 404
    )
    assert client.get(f"{home(commenting)}comments/").status_code == 405
