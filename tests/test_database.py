"""Connections that are kept between requests: a database that ended them meanwhile costs nobody an error page."""

import os

import psycopg
import pytest
from django.db import connection
from django.urls import reverse

from evaluation.services import PAPER_ARMS
from tests.crowd import before, come, filled_in, make_crowd_study


@pytest.fixture
def kept(db):
    """The test's connection as requests have it: asked for its health once per request."""
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    assert connection.settings_dict["CONN_HEALTH_CHECKS"]
    yield connection
    connection.close()


def begin_request():
    """What Django does where a request begins and ends."""
    connection.close_if_unusable_or_obsolete()


def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def terminate(pid):
    """From outside, as an administrator or a restart does it."""
    database = connection.settings_dict
    with psycopg.connect(
        host=database["HOST"],
        port=database["PORT"] or None,
        user=database["USER"],
        password=database["PASSWORD"] or None,
        dbname="postgres",
        autocommit=True,
    ) as outside:
        # Returns when the connection is gone, as after a restart, or after five seconds.
        assert outside.execute("SELECT pg_terminate_backend(%s, 5000)", [pid]).fetchone() == (True,)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_participant_does_not_notice_that_the_database_ended_the_connection(client, kept):
    token = come(make_crowd_study("kept", queries=3, arms=PAPER_ARMS[1:2])).token
    page = reverse("annotator:page", args=[token])
    assert client.get(page).status_code == 200
    assignment = before(token)
    for request in (
        lambda: client.get(page),
        lambda: client.post(
            reverse("annotator:submit", args=[token, assignment.pk]),
            {"preference": "r1", "justification": "It says more."} | cells(assignment),
        ),
    ):
        ended = backend()
        terminate(ended)
        begin_request()
        assert request().status_code in (200, 303)
        assert backend() != ended
    assert before(token).pk != assignment.pk


def cells(assignment):
    return {f"satisfied.{part}": value for part, value in filled_in(assignment).get("satisfied", {}).items()}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_connection_in_use_is_not_asked_and_one_that_rested_is(kept, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "django.db.backends.postgresql.base.DatabaseWrapper.is_usable", lambda self: asked.append(1) or True
    )
    first = backend()
    begin_request()
    assert backend() == first  # the first request of all is asked: nobody knows since when it rests
    asked.clear()
    begin_request()
    assert backend() == first
    assert not asked
    connection._used_at -= 11
    begin_request()
    assert backend() == first
    assert asked
