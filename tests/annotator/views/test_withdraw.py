"""Withdrawing: asks first, ends the way, and on wish leaves out what was judged."""

import pytest

from annotator.models import Assignment, Slot
from evaluation.models import Exclusion, Judgment
from tests.annotator.conftest import address, fields, home, text

pytestmark = pytest.mark.django_db


def test_get_only_asks(client, participant):
    response = client.get(f"{home(participant)}withdraw/")
    assert "Also leave my answers so far out of the results" in text(response)
    assert "They are not deleted" in text(response)
    participant.refresh_from_db()
    assert participant.outcome == ""


@pytest.mark.parametrize(("given", "excluded"), [({}, 0), ({"leave_out": "1"}, 1)])
def test_ends_the_way(client, participant, given, excluded):
    client.post(address(client, participant), fields(client, participant))
    response = client.post(f"{home(participant)}withdraw/", given)
    assert response.status_code == 303
    assert "OUT-1" in text(client.get(home(participant)))
    assert Judgment.objects.count() == 1
    assert Exclusion.objects.filter(rater=participant.rater).count() == excluded
    assert not Slot.objects.filter(state="reserved").exists()
    assert set(Assignment.objects.values_list("state", flat=True)) == {"submitted", "returned"}


def test_afterwards_there_is_nothing_to_withdraw_or_submit(client, participant):
    target, given = address(client, participant), fields(client, participant)
    client.post(f"{home(participant)}withdraw/")
    assert client.get(f"{home(participant)}withdraw/")["Location"] == home(participant)
    assert client.post(f"{home(participant)}withdraw/").status_code == 303
    assert client.post(target, given).status_code == 303
    assert not Judgment.objects.exists()


def test_stranger_and_wrong_method(client, participant):
    for method in ("get", "post"):
        assert getattr(client, method)("/p/nobody-has-this-token-here/withdraw/").status_code == 404
    assert client.put(f"{home(participant)}withdraw/").status_code == 405
