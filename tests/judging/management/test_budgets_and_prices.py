"""Budgets and prices at the shell, on the judges' page, on the endpoint's page and by the API."""

import io
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from judging.models import Endpoint, LedgerEntry, ModelPrice
from judging.services.calls.budget import set_study_budget, study_budget
from judging.services.endpoints.access import create_endpoint

pytestmark = pytest.mark.django_db


def say(*command, **options):
    out = io.StringIO()
    call_command(*command, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def here(db):
    return create_endpoint(user=None, name="here", base_url="http://127.0.0.1:9/v1")


@pytest.fixture
def spent(study, here):
    return LedgerEntry.objects.create(
        study=study,
        endpoint=here,
        model="m",
        purpose="judging",
        calls=1_200,
        prompt_tokens=34_000,
        cost=Decimal("1.5"),
    )


@pytest.fixture
def browser(owner):
    client = Client()
    client.force_login(owner)
    return client


def test_a_budget_is_set_and_shown_at_the_shell(study, spent):
    assert "1.5 spent, no limit" in say("set_budget", study.slug)
    told = say("set_budget", study.slug, "20")
    assert "1.5 spent, of 20" in told
    assert "m, judging: 1,200 calls, 34,000 and 0 tokens, cost 1.5" in told
    say("set_budget", study.slug, "none")
    assert study_budget(study) is None
    for wrong in ("much", "0"):
        with pytest.raises(CommandError):
            say("set_budget", study.slug, wrong)


def test_a_model_s_price_is_set_at_the_shell(here):
    told = say("set_endpoint", "here", price=[("m", "0.15", "0.6")])
    assert "m: 0.15 per million prompt tokens, 0.6 per million completion tokens" in told
    say("set_endpoint", "here", price=[("m", "2", "3")])
    assert ModelPrice.objects.get().price_prompt == 2
    say("add_endpoint", "there", url="http://127.0.0.1:9/v1", price=[("a", "1", "2"), ("b", "3", "4")])
    prices = ModelPrice.objects.filter(endpoint__name="there").order_by("model")
    assert list(prices.values_list("model", "price_prompt", "price_completion")) == [("a", 1, 2), ("b", 3, 4)]
    with pytest.raises(CommandError, match="A price must be"):
        say("add_endpoint", "nowhere", url="http://127.0.0.1:9/v1", price=[("a", "-1", "2")])
    assert not Endpoint.objects.filter(name="nowhere").exists()
    with pytest.raises(CommandError, match="A price must be"):
        say("set_endpoint", "here", price=[("m", "-1", "3")])


def test_rate_limits_are_set_at_the_shell_and_on_the_endpoint_s_page(here, browser, owner):
    told = say("add_endpoint", "there", url="http://127.0.0.1:9/v1", requests_per_minute=60)
    assert "Endpoint there" in told
    assert "Takes 60 requests and 9,000 tokens per minute." in say(
        "set_endpoint", "there", "--tokens-per-minute", "9000"
    )
    say("set_endpoint", "there", "--requests-per-minute", "none")
    limits = Endpoint.objects.filter(name="there").values_list("requests_per_minute", "tokens_per_minute")
    assert list(limits) == [(None, 9_000)]
    for wrong in ("0", "-1", "1.5", "much"):
        with pytest.raises(CommandError, match="is not a number above 0"):
            say("set_endpoint", "there", "--requests-per-minute", wrong)
    with pytest.raises(CommandError, match="greater than or equal to 1"):
        say("add_endpoint", "nowhere", url="http://127.0.0.1:9/v1", tokens_per_minute=0)
    here.created_by = owner
    here.save()
    shown = browser.get(reverse("admin:judging_endpoint_change", args=[here.pk])).content.decode()
    assert 'name="requests_per_minute"' in shown
    assert 'name="tokens_per_minute"' in shown


def test_the_judges_page_says_nothing_of_money_where_there_is_none_to_speak_of(study, browser):
    page = f"{reverse('admin:judging_judge_list', args=[study.slug])}"
    assert " spent" not in browser.get(page).content.decode()
    set_study_budget(study, Decimal(20))
    assert "0.0000 spent of a budget of 20.0000" in browser.get(page).content.decode()


def test_the_judges_page_shows_what_was_spent(study, spent, browser):
    page = f"{reverse('admin:judging_judge_list', args=[study.slug])}"
    assert "1.5000 spent; no budget" in browser.get(page).content.decode()
    set_study_budget(study, Decimal(20))
    shown = browser.get(page).content.decode()
    assert "1.5000 spent of a budget of 20.0000" in shown
    assert "<td>1,200</td>" in shown
    assert reverse("admin:judging_judge_budget", args=[study.slug]) in shown


def test_the_budget_is_set_on_a_page_by_who_may(study, browser, django_user_model):
    address = reverse("admin:judging_judge_budget", args=[study.slug])
    assert browser.get(address).status_code == 200
    assert browser.post(address, {"amount": "12.5"}).status_code == 302
    assert study_budget(study) == Decimal("12.5")
    for wrong in ("0", "-3", "much"):
        assert browser.post(address, {"amount": wrong}).status_code == 422
    browser.post(address, {"amount": ""})
    assert study_budget(study) is None
    stranger = Client()
    stranger.force_login(django_user_model.objects.create_user("stranger", is_staff=True))
    assert stranger.post(address, {"amount": "1"}).status_code in (403, 404)


def test_prices_are_edited_on_the_endpoint_s_page(here, browser, owner):
    here.created_by = owner
    here.save()
    shown = browser.get(reverse("admin:judging_endpoint_change", args=[here.pk])).content.decode()
    assert "prices-0-price_prompt" in shown
