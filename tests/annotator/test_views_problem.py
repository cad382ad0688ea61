"""Reporting a problem with an item."""

import pytest

from annotator.models import Assignment
from evaluation.models import ItemFlag
from tests.annotator.conftest import address, text

pytestmark = pytest.mark.django_db


def test_flags_the_item_and_keeps_what_was_filled_in(client, participant):
    given = {"problem_note": "Both are\x00 empty", "preference": "r2", "justification": "Well"}
    response = client.post(address(client, participant, "problem"), given)
    assert response.status_code == 303
    page = text(client.get(response["Location"]))
    assert "look at the item" in page
    assert "Well" in page
    flag, assignment = ItemFlag.objects.get(), Assignment.objects.get()
    assert (flag.item, flag.reason, flag.note) == (assignment.item, "reported", "Both are empty")
    assert assignment.draft == {"preference": "r2", "justification": "Well"}
