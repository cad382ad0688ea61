"""What every answer to a participant carries and does not: no cookie, framing by the panel, nothing kept or indexed."""

import logging
import re
from io import StringIO

import pytest
from django.test import Client

from annotator.models import Participant
from config.logs import Json, LogLine
from tests.annotator.conftest import VISIT, address, fields, home

pytestmark = pytest.mark.django_db


def every_answer(client, participant):
    """Answers of every kind: pages, redirects, refusals, JSON."""
    base, submit = home(participant), address(client, participant)
    yield client.get("/s/pairs/")
    yield client.get("/s/pairs/", VISIT)
    yield client.get("/s/no-such-study/")
    yield client.post("/s/pairs/", {"choice": "decline"})
    yield client.post("/s/pairs/", {"choice": "agree"})
    yield client.get(base)
    yield client.post(base)
    yield client.get(f"{base}withdraw/")
    yield client.get("/p/nobody-has-this-token-here/")
    yield client.post(submit, {})
    yield client.post(address(client, participant, "draft"), {}, content_type="application/json")
    yield client.post(address(client, participant, "problem"), {"problem_note": "odd"})
    yield client.post(submit, fields(client, participant))
    yield client.post(f"{base}go-on/")
    yield client.post(f"{base}withdraw/")


def test_every_answer(participant, settings):
    settings.ASSAY_FRAME_ANCESTORS = ["https://panel.example"]
    client = Client(enforce_csrf_checks=True)
    for response in every_answer(client, participant):
        where = f"{response.status_code} {response.request['PATH_INFO']}"
        assert not response.cookies, where
        assert "Vary" not in response or "Cookie" not in response["Vary"], where
        assert response["Referrer-Policy"] == "no-referrer", where
        assert response["Cache-Control"] == "no-store", where
        assert response["X-Robots-Tag"] == "noindex", where
        assert "X-Frame-Options" not in response, where
        policy = response["Content-Security-Policy"]
        assert "frame-ancestors 'self' https://panel.example" in policy, where
        assert "script-src 'self'" in policy, where
        assert "unsafe" not in policy, where
        assert not response.wsgi_request.session.accessed, where
        assert response["Content-Length"] == str(len(response.content)), where


def test_pages_have_no_inline_script_or_style(client, participant):
    for response in every_answer(client, participant):
        page = response.content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert not re.search(r"<[^>]+\son[a-z]+=", page)
        assert all(
            re.search(r' src="/static/(js|django_htmx)/', each) for each in re.findall(r"<script[^>]*>", page)
        )
        assert page.count("<script") == page.count("></script>")


def test_a_cookie_that_comes_changes_nothing(participant):
    client = Client()
    client.cookies["sessionid"] = "stolen"
    client.cookies["csrftoken"] = "x"
    client.cookies["messages"] = "x"
    for response in (client.get(home(participant)), client.post(address(client, participant), {})):
        assert response.status_code in (200, 303)
        assert not response.wsgi_request.COOKIES
        assert not response.wsgi_request.session.accessed
        assert not response.cookies


def test_a_host_that_is_not_ours_is_refused(client, participant):
    response = client.get(home(participant), headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert "frame-ancestors" in response["Content-Security-Policy"]


def test_a_panel_s_frame_shows_an_error_too(participant, monkeypatch, settings):
    settings.ASSAY_FRAME_ANCESTORS = ["https://panel.example"]
    monkeypatch.setattr("annotator.selectors.participants.PRESENT.first", lambda **values: 1 / 0)
    client = Client(raise_request_exception=False)
    response = client.get(home(participant))
    assert response.status_code == 500
    assert "frame-ancestors 'self' https://panel.example" in response["Content-Security-Policy"]
    assert "X-Frame-Options" not in response
    assert not response.cookies


def test_an_address_without_its_last_slash_leads_on(client, participant):
    response = client.get(home(participant).rstrip("/"))
    assert response.status_code == 301
    assert response["Location"] == home(participant)


def test_admin_pages_are_framed_by_nobody(client, db):
    response = client.get("/admin/login/")
    assert response["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def _handlers(name):
    """The handlers that a record of this logger reaches, without the test runner's own."""
    logger = logging.getLogger(name)
    found = []
    while logger:
        found += [handler for handler in logger.handlers if "pytest" not in type(handler).__module__]
        logger = logger.parent if logger.propagate else None
    return found


def test_no_token_in_the_logs(client, participant):
    secret = "a-stranger-s-secret-token-1"
    for name in ("django.request", "django.server", "django.security.csrf"):
        handlers = _handlers(name)
        assert handlers
        assert all(isinstance(handler.formatter, LogLine | Json) for handler in handlers), name
    [console] = _handlers("django.request")
    stream, written = console.stream, StringIO()
    console.setStream(written)
    try:
        client.get(f"/p/{secret}/")
        client.get(f"/p/{participant.token}/go-on/")
        client.post(address(client, participant), {})
        server = logging.getLogger("django.server")
        server.warning('"%s" %s %s', f"GET /p/{secret}/ HTTP/1.1", "404", "12")
    finally:
        console.setStream(stream)
    assert "/p/***/" in written.getvalue()
    assert secret not in written.getvalue()
    assert participant.token not in written.getvalue()
    assert Participant.objects.count() == 1
