"""Prices of models are read by who may use their endpoint and set by who may change it."""

from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model

from judging.models import ModelPrice
from tests.evaluation.api.test_runs import llm  # noqa: F401 - a fixture

PRICES = "endpoints/models/prices/"
WANTED = {"model": "small-1", "price_prompt": "0.15", "price_completion": "0"}


@pytest.fixture
def as_boss(llm, call):  # noqa: F811
    return call(get_user_model().objects.get(username="boss"))


def test_a_price_is_set_and_replaced_and_read_by_those_who_use_it(as_boss, as_owner, as_outsider, llm):  # noqa: F811
    assert as_owner.get(PRICES).json()["results"] == []
    answer = as_boss.put(PRICES, WANTED)
    assert answer.status_code == 200
    assert (answer.json()["model"], Decimal(answer.json()["price_prompt"])) == ("small-1", Decimal("0.15"))
    as_boss.put(PRICES, WANTED | {"price_prompt": "2.000001"})
    [seen] = as_owner.all(PRICES)
    assert (Decimal(seen["price_prompt"]), Decimal(seen["price_completion"])) == (Decimal("2.000001"), 0)
    assert ModelPrice.objects.get().endpoint == llm.endpoint
    assert as_outsider.get(PRICES).status_code == 404
    assert as_boss.get("endpoints/nowhere/prices/").status_code == 404


def test_only_who_may_change_the_endpoint_sets_its_prices(as_owner, as_outsider, owner, llm):  # noqa: F811
    assert as_owner.put(PRICES, WANTED).status_code == 403
    assert as_outsider.put(PRICES, WANTED).status_code == 404
    assert not ModelPrice.objects.exists()
    type(llm.endpoint).objects.update(created_by=owner)
    assert as_owner.put(PRICES, WANTED).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"price_prompt": "-1"}, {"price_prompt": 0.15}, {"price_prompt": "1.0000001"}, {"price_prompt": "1000000"},
        {"price_prompt": None}, {"price_prompt": ""}, {"model": ""}, {"model": 7}, {"other": 1},
    ],
)  # fmt: skip
def test_what_is_no_price(as_boss, change):
    assert as_boss.put(PRICES, WANTED | change).status_code == 400
    assert not ModelPrice.objects.exists()
