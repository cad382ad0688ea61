"""Failed logins delay further ones: by account and address together, later by address, never by account alone."""

import threading

import pytest
from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings as configured
from django.db import connection
from django.test import Client, RequestFactory

from evaluation.operations.logins import TABLE, client_address
from evaluation.services.tokens import make_token

pytestmark = pytest.mark.django_db
HERE, THERE = "192.0.2.7", "198.51.100.9"
AGENT = "Mozilla/5.0 (of somebody)"
BAD_TOKEN = "assay_" + "0" * 64


def log_in(name="owner", password="wrong", address=HERE, **headers):  # noqa: S107 - it is wrong
    return Client(REMOTE_ADDR=address, headers={"user-agent": AGENT, **headers}).post(
        "/admin/login/?next=/admin/", {"username": name, "password": password}
    )


def fail(times, **kwargs):
    return [log_in(**kwargs).status_code for _ in range(times)]


def ask_api(token, address=HERE):
    return Client(REMOTE_ADDR=address, headers={"authorization": f"Bearer {token}"}).get("/api/v1/studies/")


def redis():
    cache = AxesProxyHandler.get_implementation().cache
    client = cache._cache.get_client(None, write=True)
    return client, list(client.scan_iter(cache.make_key("*")))


def stored():
    """Everything that is kept about failed logins."""
    if configured.REDIS_URL:
        client, keys = redis()
        assert all(0 < client.ttl(key) <= 900 for key in keys)
        return {(key.decode(), client.get(key).decode()) for key in keys}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT cache_key, value FROM {TABLE}")
        return set(cursor.fetchall())


def end_delays():
    """As if the time had passed."""
    if configured.REDIS_URL:
        client, keys = redis()
        for key in keys:
            client.expireat(key, 1)
        return
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {TABLE} SET expires = %s", ["2001-01-01 00:00:00"])


def test_the_fifth_failure_delays_further_attempts_and_says_for_how_long(owner):
    assert fail(4) == [200] * 4
    answer = log_in()
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "Wait 15 minutes, then try again." in answer.content.decode()
    assert log_in(password="owner-password").status_code == 429


def test_nobody_else_is_delayed(owner, colleague):
    """Neither the account from elsewhere, or anybody could lock its owner out, nor another account from there."""
    fail(8)
    assert log_in(password="owner-password", address=THERE).status_code == 302
    assert log_in("colleague", "colleague-password").status_code == 302


def test_an_address_that_tries_many_accounts_is_delayed_for_all(owner, settings):
    settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS = 7
    statuses = [log_in(f"guess-{number}").status_code for number in range(8)]
    assert statuses == [200] * 6 + [429] * 2
    assert log_in(password="owner-password").status_code == 429
    assert log_in(password="owner-password", address=THERE).status_code == 302


def test_a_login_ends_the_account_s_count_and_not_the_address_s(owner, settings):
    settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS = 6
    fail(4)
    assert log_in(password="owner-password").status_code == 302
    assert fail(2) == [200, 429]


def test_what_is_refused_is_not_counted(owner, settings):
    settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS = 7
    fail(20)
    assert fail(2, name="colleague") == [200, 429]


def test_the_delay_ends_and_nothing_of_it_is_left(owner, caplog):
    fail(6)
    counted = stored()
    assert len(counted) == 2
    end_delays()
    assert log_in(password="owner-password").status_code == 302
    fail(1, address=THERE)
    assert len(stored()) == 2
    assert not stored() & counted, "what is over is deleted"
    for text in (str(counted), caplog.text):
        assert HERE not in text
        assert AGENT not in text
        assert "wrong" not in text


def test_bad_tokens_are_delayed_and_good_ones_never(owner):
    _, good = make_token(owner, name="a script", days=7)
    assert [ask_api(BAD_TOKEN).status_code for _ in range(6)] == [401] * 4 + [429] * 2
    refused = ask_api(BAD_TOKEN)
    assert refused["Retry-After"] == "900"
    assert refused.json()["code"] == "throttled"
    assert ask_api(good).status_code == 200


def test_an_address_that_tries_many_tokens_is_delayed_and_may_still_log_in(owner, settings):
    settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS = 7
    statuses = [ask_api(f"assay_{number}{'0' * 63}").status_code for number in range(8)]
    assert statuses == [401] * 6 + [429] * 2
    assert log_in(password="owner-password").status_code == 302


def test_guessing_the_present_password_is_delayed(owner):
    client = Client(REMOTE_ADDR=HERE)
    client.force_login(owner)
    new = {"new_password1": "another-password-1", "new_password2": "another-password-1"}

    def change(old):
        return client.post("/admin/password_change/", {"old_password": old, **new}).status_code

    assert [change("wrong") for _ in range(5)] == [200] * 4 + [429]
    assert change("owner-password") == 429
    owner.refresh_from_db()
    assert owner.check_password("owner-password")


@pytest.mark.parametrize(
    ("proxies", "passed", "found"),
    [
        (0, "203.0.113.5", HERE),
        (1, "203.0.113.5", "203.0.113.5"),
        (1, "10.0.0.1, 203.0.113.5", "203.0.113.5"),
        (2, "10.0.0.1, 203.0.113.5, 203.0.113.6", "203.0.113.5"),
        (2, "203.0.113.5", HERE),
        (1, "", HERE),
        (1, "not an address", HERE),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:203.0.113.5", "203.0.113.5"),
    ],
)
def test_the_address_is_what_the_trusted_proxies_saw(settings, proxies, passed, found):
    settings.ASSAY_TRUSTED_PROXIES = proxies
    request = RequestFactory(REMOTE_ADDR=HERE).get("/", headers={"x-forwarded-for": passed})
    assert client_address(request) == found


def test_an_invented_address_frees_nobody(owner, settings):
    settings.ASSAY_TRUSTED_PROXIES = 1
    invented = [f"10.0.0.{number}, {THERE}" for number in range(6)]
    assert [log_in(**{"x-forwarded-for": each}).status_code for each in invented] == [200] * 4 + [429] * 2


@pytest.mark.postgres
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs PostgreSQL")
@pytest.mark.django_db(transaction=True)
def test_failures_at_once_are_all_counted(owner, settings):
    """Of threads as of processes: the count is outside of them."""
    settings.ASSAY_LOGIN_FAILURES = settings.ASSAY_LOGIN_FAILURES_PER_ADDRESS = 9

    def attempt():
        fail(2)
        connection.close()

    threads = [threading.Thread(target=attempt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fail(1) == [429]


@pytest.mark.parametrize(
    "target", ["", "https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"]
)
def test_a_login_without_a_target_on_this_site_leads_to_the_studies(django_user_model, target):
    django_user_model.objects.create_user("owner", password="right", is_staff=True)
    browser = Client()
    answer = browser.post("/admin/login/", {"username": "owner", "password": "right", "next": target})
    assert answer["Location"] == "/studies/"
    assert browser.get("/studies/").status_code == 200
