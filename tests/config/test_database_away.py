"""While the database can't be reached: a page in the participant's language that tries again, JSON for scripts."""

import json
import re
import shutil
import socket
import subprocess
import sys
from html import unescape
from importlib import import_module
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.utils import translation

from evaluation.models import Language
from tests.config import site as sites

# The package has a function of that name.
PAGE = import_module("annotator.views.page")
TOKEN = "a-token-of-somebody-who-judges-00"
ON_THE_PROXYS_PAGE = (
    "Not available at the moment",
    "Everything that was saved before is kept.",
    "This page tries again by itself every few seconds.",
)
ITEM = f"/p/{TOKEN}/a/9b0f9b0f-9b0f-4b0f-8b0f-9b0f9b0f9b0f/"


@pytest.fixture(scope="module")
def away(tmp_path_factory):
    """The shipped command, whose PostgreSQL does not listen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"postgres://assay:a-password@127.0.0.1:{taken.getsockname()[1]}/assay"
        with sites.serving(tmp_path_factory.mktemp("away"), DATABASE_URL=url, ASSAY_ACCESS_LOG="1") as site:
            yield site


SAID = {
    "de-AT, de;q=0.9, en;q=0.1": ("de", "ltr", "Im Moment nicht erreichbar", "von selbst alle paar Sekunden"),
    "fr, es;q=0.5": ("es", "ltr", "No disponible en este momento", "por sí sola"),
    "ar": ("ar", "rtl", "غير متاح في الوقت الحالي", "تعيد هذه الصفحة المحاولة من تلقاء نفسها"),
    "fr": ("en", "ltr", "Not available at the moment", "tries again by itself"),
}


@pytest.mark.embedded
@pytest.mark.parametrize("asked", SAID)
@pytest.mark.parametrize("path", [f"/p/{TOKEN}/", "/s/some-study/?PROLIFIC_PID=5f0c"])
def test_a_participant_reads_that_the_page_tries_again(away, path, asked):
    answer = away.ask(path, Accept_Language=asked)
    language, direction, title, again = SAID[asked]
    assert answer.status == 503
    assert answer.headers["Retry-After"] == "10"
    # The same address once more, by a GET.
    assert answer.headers["Refresh"] == "10"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'self' https://app.prolific.com" in answer.headers["Content-Security-Policy"]
    assert f'<html lang="{language}" dir="{direction}">' in answer.text
    assert title in answer.text
    assert again in answer.text


@pytest.mark.embedded
def test_a_form_is_not_sent_again_by_itself_and_keeps_what_is_in_it(away):
    filled = {"justification": 'It says "more" & <b>better</b>.', "preference": "r1"}
    answer = away.ask(f"{ITEM}submit/", "POST", urlencode(filled), **sites.FORM)
    assert answer.status == 503
    assert "Refresh" not in answer.headers
    assert "may not have been saved" in answer.text
    assert fields_of(answer.text) == filled
    assert f'<a href="/p/{TOKEN}/">' in answer.text


@pytest.mark.embedded
def test_scripts_get_json(away):
    answer = away.ask(f"{ITEM}draft/", "POST", "{}", Content_Type="application/json")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "10")
    assert json.loads(answer.text) == {"code": "unavailable"}
    answer = away.ask("/api/v1/studies/", Authorization="Bearer assay_" + "0" * 64)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "10")
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(answer.text)
    assert (problem["status"], problem["code"]) == (503, "unavailable")
    assert "can't be reached" in problem["detail"]


@pytest.mark.embedded
def test_members_read_it_in_english_and_no_form_of_theirs_is_shown(away):
    signed_in = {"Cookie": "sessionid=0123456789abcdefghijklmnopqrstuv", "Accept_Language": "de"}
    for path in ("/studies/", "/admin/"):
        answer = away.ask(path, **signed_in)
        assert (answer.status, answer.headers["Refresh"]) == (503, "10")
        assert "Not available at the moment" in answer.text
        assert answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Request-ID"]
    came = away.ask("/admin/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', came.text)[1]
    cookie = came.headers["Set-Cookie"].partition(";")[0]
    filled = urlencode({"csrfmiddlewaretoken": token, "username": "owner", "password": "my-secret"})
    answer = away.ask("/admin/login/", "POST", filled, **sites.FORM, Cookie=cookie)
    assert answer.status == 503
    assert "go back in your browser" in answer.text
    assert "my-secret" not in answer.text


def fields_of(page):
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page)
    return {unescape(name): unescape(value) for name, value in found}


# In a process of its own: another connection holds the file, and the wait for it is short.
LOCKED = f"""
import json, sqlite3, sys
import django
from django.conf import settings
settings.DATABASES["default"]["OPTIONS"]["timeout"] = 0.1
django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
def answer(sent):
    got = client.post("/s/{sites.SLUG}/", sent, headers={{"accept-language": "de"}})
    return {{"status": got.status_code, "headers": dict(got.headers), "text": got.content.decode()}}
other = sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)
other.execute("BEGIN EXCLUSIVE")
locked = answer(json.loads(sys.argv[1]))
other.execute("ROLLBACK")
from tests.config.test_database_away import fields_of
print(json.dumps([locked, answer(fields_of(locked["text"]))]))
"""


@pytest.mark.embedded
def test_a_locked_database_gets_the_same_page_and_what_was_sent_is_taken_later(tmp_path, migrated):
    shutil.copy(migrated, tmp_path / "assay.sqlite3")
    sites.install(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LOCKED, json.dumps(sites.PERSON)],
        cwd=sites.ROOT,
        env=sites.environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    locked, later = json.loads(done.stdout)
    assert locked["status"] == 503
    assert locked["headers"]["Retry-After"] == "10"
    assert "Im Moment nicht erreichbar" in locked["text"]
    assert fields_of(locked["text"]) == sites.PERSON
    assert later["status"] == 303
    assert later["headers"]["Location"].startswith("/p/")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_ended_amid_a_request_is_told_from_an_error(study, monkeypatch):
    def ended(token):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    client = Client(raise_request_exception=False)
    with monkeypatch.context() as patch:
        patch.setattr(PAGE, "present_of", ended)
        assert client.get(f"/p/{TOKEN}/").status_code == 503
    connection.close()
    assert client.get(f"/p/{TOKEN}/").status_code == 404


@pytest.mark.django_db
def test_a_programming_error_is_none_of_it(monkeypatch):
    def wrong(token):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM there_is_no_such_table")

    monkeypatch.setattr(PAGE, "present_of", wrong)
    answer = Client(raise_request_exception=False).get(f"/p/{TOKEN}/", headers={"accept-language": "de"})
    assert answer.status_code == 500
    text = answer.content.decode()
    assert "Bei uns ist etwas schiefgegangen" in text
    assert f'<a href="/p/{TOKEN}/">Zurück zur Studie</a>' in text
    assert "Retry-After" not in answer.headers


@pytest.mark.embedded
def test_the_proxy_shows_a_page_while_web_is_down(tmp_path):
    down = sites.Site(sites.free_port())
    again = {
        f"{ITEM}submit/": f"/p/{TOKEN}/",
        "/s/some-study/?PROLIFIC_PID=5f0c": "/s/some-study/?PROLIFIC_PID=5f0c",
        "//elsewhere.example.org/": "/",
        "/\\elsewhere.example.org/": "/",
    }
    with sites.nginx(tmp_path / "nginx", down) as proxy:
        for path, address in again.items():
            answer = proxy.ask(path, "POST", "preference=r1", **sites.FORM)
            assert (answer.status, answer.headers["Retry-After"]) == (503, "10")
            assert answer.headers["Refresh"] == f"10; url={address}"
    for language in Language.values:
        with translation.override(language):
            for sentence in ON_THE_PROXYS_PAGE:
                assert translation.gettext(sentence) in answer.text
