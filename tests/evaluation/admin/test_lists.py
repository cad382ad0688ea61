"""Lists of one study's rows: they stay with the study, and never offer another one."""

from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse

from annotator.admin.slots import SlotAdmin
from annotator.models import Slot
from evaluation.admin.base import StudyScopedAdmin
from evaluation.models import Item, Study
from evaluation.services.studies.creation import PAPER_ARMS
from judging.models import Judge
from tests.crowd import make_crowd_study
from tests.evaluation.admin.conftest import signed_in, work_on

pytestmark = pytest.mark.django_db
SLOT_COLUMNS = SlotAdmin.list_display
LISTS = [
    model
    for model, of_model in admin.site._registry.items()
    if isinstance(of_model, StudyScopedAdmin) and model is not Study
]


def of_study(model: Any, study: Study) -> str:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_list"
    return reverse(name, args=[study.slug])


@pytest.mark.parametrize("model", LISTS, ids=lambda model: model.__name__)
def test_inside_a_study_no_list_offers_another(model: Any, mine: Any, owner: Any) -> None:
    work_on("another", owner)
    response = signed_in(owner).get(of_study(model, mine.study))
    page = response.content.decode()
    assert response.status_code == 200
    assert "By study" not in page
    # The other study's title stands nowhere on the page: neither as a choice nor in a row.
    assert "Another" not in page
    assert "another.jsonl" not in page
    assert "study-bar" in page


@pytest.mark.parametrize("model", LISTS, ids=lambda model: model.__name__)
def test_the_addresses_in_the_admin_lead_to_the_lists(model: Any, mine: Any, owner: Any) -> None:
    old = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    client, study = signed_in(owner), mine.study
    assert client.get(f"{old}?study={study.pk}&q=soup")["Location"] == f"{of_study(model, study)}?q=soup"
    assert client.get(f"{old}?study={study.pk}")["Location"] == of_study(model, study)
    assert client.get(old)["Location"] == "/studies/"


@pytest.mark.parametrize(
    ("query", "status"), [("role=nonsense", 422), ("role=training", 200), ("q=no-such", 200)]
)
def test_a_list_that_is_filtered_to_nothing_is_no_empty_study(
    mine: Any, owner: Any, query: str, status: int
) -> None:
    answer = signed_in(owner).get(f"{of_study(Item, mine.study)}?{query}")
    assert answer.status_code == status
    page = answer.content.decode()
    assert "No items yet" not in page
    assert ("No item fits this filter" in page) == (status == 200)


def test_columns_without_anything_are_left_out(owner: Any) -> None:
    """Nobody has a slot yet; a list that is sorted by an empty column shows it."""
    study = make_crowd_study("awaited", owner=owner, queries=3, arms=PAPER_ARMS[1:2])
    client, address = signed_in(owner), of_study(Slot, study)
    page = client.get(address).content.decode()
    assert "column-state" in page
    assert "column-item" in page
    assert "column-leased_until" not in page
    last = SLOT_COLUMNS.index("leased_until")
    assert "column-leased_until" in client.get(f"{address}?o={last}").content.decode()


def test_filters_offer_what_there_is(mine: Any, owner: Any) -> None:
    client, address = signed_in(owner), of_study(Judge, mine.study)
    assert "changelist-filter" not in client.get(address).content.decode(), "there is one judge"
    Judge.objects.create(study=mine.study, name="chance", backend="random")
    page = client.get(address).content.decode()
    assert "backend__exact=longer" in page
    assert "backend__exact=random" in page
    assert "backend__exact=chat" not in page
