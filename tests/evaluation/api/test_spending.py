"""A study's spending is read by its members, and its budget set by those who may write."""

import json
from decimal import Decimal
from typing import Any

import pytest

from judging.models import LedgerEntry
from judging.services.calls.budget import study_budget
from judging.services.endpoints.access import create_endpoint
from tests.evaluation.api.conftest import Caller, address

PATH = "studies/contrast/spending/"


def put(caller: Caller, body: Any) -> Any:
    return caller.client.put(address(PATH), json.dumps(body), "application/json", headers=caller._headers())


@pytest.mark.django_db
def test_a_study_s_spending_is_read_and_its_budget_set(study, as_owner, as_viewer, as_outsider, as_nobody):
    here = create_endpoint(user=None, name="here", base_url="http://127.0.0.1:9/v1")
    LedgerEntry.objects.create(
        study=study, endpoint=here, model="m", purpose="judging", calls=12, cost=Decimal("1.5")
    )
    found = as_viewer.get(PATH).json()
    assert (found["budget"], Decimal(found["spent"])) == (None, Decimal("1.5"))
    assert [(row["model"], row["purpose"], row["calls"]) for row in found["rows"]] == [("m", "judging", 12)]
    answer = put(as_owner, {"budget": "20.00"})
    assert (answer.status_code, Decimal(answer.json()["budget"])) == (200, 20)
    assert study_budget(study) == 20
    for wrong in ({"budget": "0"}, {"budget": 20}, {}, {"budget": "1", "spent": "0"}):
        assert put(as_owner, wrong).status_code == 400
    refused = [put(caller, {"budget": "5"}).status_code for caller in (as_viewer, as_outsider, as_nobody)]
    assert refused == [403, 404, 401]
    assert as_outsider.get(PATH).status_code == 404
    assert put(as_owner, {"budget": None}).json()["budget"] is None
