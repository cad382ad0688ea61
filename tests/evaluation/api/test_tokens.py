"""Tokens: made and shown once, kept as a digest, ended by time, by their owner and with their owner's account."""

import hashlib
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import ApiToken
from evaluation.refusals import Refused
from evaluation.services.tokens import MAX_TOKENS, make_token
from tests.evaluation.api.conftest import Caller

PAGE = "/account/tokens/"
STUDIES = "studies/"
TOKEN = re.compile(r"assay_[0-9a-f]{64}")


def shown(response):
    return TOKEN.findall(response.content.decode())


# --- what a token opens ---------------------------------------------------------------------------------------------


def test_only_the_digest_is_in_the_database(owner):
    token, text = make_token(owner, name="script")
    assert TOKEN.fullmatch(text)
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert row["digest"] == hashlib.sha512(text.encode()).hexdigest()
    assert all(text not in str(value) for value in row.values())
    assert text not in str(token)
    assert row["digest"] not in str(token)


def test_a_token_has_its_owner_s_rights(study, owner, outsider):
    assert Caller(make_token(owner, name="a")[1]).get("studies/contrast/").status_code == 200
    assert Caller(make_token(outsider, name="b")[1]).get("studies/contrast/").status_code == 404


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer x",
        f"Bearer assay_{'0' * 64}",
        f"Bearer assay_{'0' * 63}\N{LATIN SMALL LETTER U WITH DIAERESIS}",
        "Bearer \udcff".encode("utf-8", "surrogateescape").decode("latin-1"),
        f"Bearer assay_{'0' * 63}\x00",
        f"Bearer {'a' * 100_000}",
        f"Token assay_{'0' * 64}",
        "Basic b3duZXI6b3duZXItcGFzc3dvcmQ=",
    ],
)
def test_what_is_no_token_opens_nothing(db, header):
    answer = Client().get("/api/v1/studies/", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_token_differs_in_one_digit(owner):
    _, text = make_token(owner, name="script")
    other = text[:-1] + ("0" if text[-1] != "0" else "1")
    assert Caller(other).get(STUDIES).status_code == 401
    assert Caller(text.upper()).get(STUDIES).status_code == 401


def test_an_expired_token_is_none(owner):
    token, text = make_token(owner, name="script", days=1)
    assert Caller(text).get(STUDIES).status_code == 200
    ApiToken.objects.filter(pk=token.pk).update(expiry=timezone.now() - timedelta(seconds=1))
    refusal = Caller(text).get(STUDIES)
    assert (refusal.status_code, refusal.json()["code"]) == (401, "authentication_failed")


def test_a_token_ends_with_its_owner_s_account(owner):
    _, text = make_token(owner, name="script")
    owner.is_active = False
    owner.save()
    assert Caller(text).get(STUDIES).status_code == 401
    owner.delete()
    assert not ApiToken.objects.exists()


def test_nobody_has_more_than_so_many(owner, outsider):
    for _ in range(MAX_TOKENS):
        make_token(owner, name="script")
    with pytest.raises(Refused):
        make_token(owner, name="one more")
    make_token(outsider, name="script")


@pytest.mark.parametrize("days", [0, -1, 366])
def test_a_token_lasts_a_year_at_most(owner, days):
    with pytest.raises(ValueError, match="between 1 and 365 days"):
        make_token(owner, name="script", days=days)


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture
def signed_in(client, owner):
    client.force_login(owner)
    return client


def test_a_token_is_made_shown_once_and_works(signed_in, owner):
    answer = signed_in.post(PAGE, {"name": "notebook", "days": "30"})
    [text] = shown(answer)
    assert "no-store" in answer["Cache-Control"]
    assert Caller(text).get(STUDIES).status_code == 200
    again = signed_in.get(PAGE)
    assert shown(again) == []
    assert "notebook" in again.content.decode()
    assert text[:15] in again.content.decode()
    token = ApiToken.objects.get(user=owner)
    assert timedelta(days=29) < token.expiry - timezone.now() < timedelta(days=31)
    assert text not in str(dict(signed_in.session))


def test_the_page_needs_a_session_and_no_token_does(client, owner):
    for address in (PAGE, reverse("evaluation:account-token-revoke", args=["assay_123456789"])):
        assert client.post(address)["Location"].startswith("/admin/login/")
    _, text = make_token(owner, name="script")
    answer = client.post(PAGE, {"name": "x", "days": "7"}, headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 302, "a leaked token can't make itself a longer-lived one"


def test_both_forms_are_safe_from_other_sites(owner):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    token, _ = make_token(owner, name="script")
    assert client.post(PAGE, {"name": "x", "days": "7"}).status_code == 403
    address = reverse("evaluation:account-token-revoke", args=[token.token_key])
    assert client.post(address).status_code == 403
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"name": "", "days": "30"},
        {"name": "x" * 81, "days": "30"},
        {"name": "x", "days": "4000"},
        {"name": "a\x00b", "days": "30"},
    ],
)
def test_bad_input_makes_no_token(signed_in, data):
    answer = signed_in.post(PAGE, data)
    assert answer.status_code == 200
    assert 'class="error"' in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_too_many_are_refused_in_words(signed_in, owner):
    for _ in range(MAX_TOKENS):
        make_token(owner, name="script")
    assert (
        "Revoke one that you no longer use."
        in signed_in.post(PAGE, {"name": "x", "days": "7"}).content.decode()
    )


def test_a_name_is_text(signed_in):
    signed_in.post(PAGE, {"name": "<b>bold</b>", "days": "7"})
    assert "<b>bold</b>" not in signed_in.get(PAGE).content.decode()


def test_revoking_ends_a_token(signed_in, owner):
    token, text = make_token(owner, name="script")
    address = reverse("evaluation:account-token-revoke", args=[token.token_key])
    assert signed_in.get(address).status_code == 405
    assert signed_in.post(address)["Location"] == PAGE
    assert Caller(text).get(STUDIES).status_code == 401
    assert signed_in.post(address).status_code == 404


def test_another_s_token_can_be_neither_seen_nor_revoked(signed_in, outsider):
    token, text = make_token(outsider, name="theirs")
    assert "theirs" not in signed_in.get(PAGE).content.decode()
    address = reverse("evaluation:account-token-revoke", args=[token.token_key])
    assert signed_in.post(address).status_code == 404
    assert Caller(text).get(STUDIES).status_code == 200


def test_the_page_has_nothing_inline_and_no_other_method(signed_in):
    page = signed_in.post(PAGE, {"name": "x", "days": "7"}).content.decode()
    assert "style=" not in page
    assert "<script>" not in page
    assert signed_in.put(PAGE).status_code == 405


def test_the_list_of_studies_leads_there(signed_in):
    assert f'href="{PAGE}"' in signed_in.get("/studies/").content.decode()


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_prints_a_token_and_nothing_else(owner):
    out, err = StringIO(), StringIO()
    call_command("token", "owner", days=7, stdout=out, stderr=err)
    text = out.getvalue().strip()
    assert TOKEN.fullmatch(text)
    assert Caller(text).get(STUDIES).status_code == 200
    assert "Works until" in err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody"], "There is no user 'nobody'."),
        (["owner", "--days", "0"], "between 1 and 365 days"),
        (["owner", "--name", " "], "between 1 and 80 characters"),
    ],
)
def test_the_command_says_what_is_wrong(owner, arguments, said):
    with pytest.raises(CommandError, match=said):
        call_command("token", *arguments)
