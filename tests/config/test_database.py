"""Connections that are kept between requests: a database that ended them meanwhile costs nobody an error page.

And what lives with them: statements that the driver prepares say the same before and after.
"""

import contextlib
import os

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.database.compiled_queries import CompiledInsert, CompiledSelect, CompiledUpdate, field_of
from evaluation.models import Study
from evaluation.services.studies.creation import PAPER_ARMS
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
            {"preference": "r1", "justification": "It says more about it."} | cells(assignment),
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


READ = CompiledSelect(
    lambda slug: Study.objects.only("slug", "created_at", "seed").filter(slug=slug),
    slug=field_of(Study, "slug"),
)
MAKE = CompiledInsert(Study, with_keys=True)
RENAME = CompiledUpdate(
    lambda slug, title: (Study.objects.filter(slug=slug), {"title": title}),
    slug=field_of(Study, "slug"),
    title=field_of(Study, "title"),
)
# After so many times the driver has prepared a statement.
OFTEN = 6


def prepared_statements():
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [statement for (statement,) in cursor.fetchall()]


@pytest.mark.postgres
def test_a_statement_says_the_same_once_the_server_keeps_its_plan(kept):
    study = make_crowd_study("kept", queries=1, arms=PAPER_ARMS[:1])
    said = [
        (RENAME.run(slug="kept", title=f"100 % {turn}"), RENAME.run(slug="other", title="x"))
        for turn in range(OFTEN)
    ]
    found = [(READ.first(slug="kept"), READ.first(slug="other")) for _ in range(OFTEN)]
    kept_plans = [text for text in prepared_statements() if "evaluation_study" in text]
    assert any(text.startswith("UPDATE") for text in kept_plans)
    assert any(text.startswith("SELECT") and '"seed"' in text for text in kept_plans)
    assert set(said) == {(1, 0)}
    assert [other for _, other in found] == [None] * OFTEN
    assert {(each.pk, each.slug, each.created_at, each.seed) for each, _ in found} == {
        (study.pk, "kept", study.created_at, study.seed)
    }
    assert Study.objects.get(slug="kept").title == f"100 % {OFTEN - 1}"


@pytest.mark.postgres
def test_a_statement_is_prepared_anew_after_a_rollback_took_what_was(kept):
    for turn in range(4 * OFTEN):
        with contextlib.suppress(ZeroDivisionError), transaction.atomic():
            assert RENAME.run(slug="nobody's", title=str(turn)) == 0
            if turn % OFTEN == OFTEN - 1:
                raise ZeroDivisionError
    assert READ.first(slug="nobody's") is None


def make_again():
    MAKE.run(Study(slug="made-0", title="again", protocol="pairwise"))


@pytest.mark.postgres
def test_a_refused_row_is_djangos_error_and_breaks_the_transaction(kept):
    for turn in range(OFTEN):
        MAKE.run(Study(slug=f"made-{turn}", title="made", protocol="pairwise"))
    with pytest.raises(IntegrityError, match="made-0"), transaction.atomic():
        make_again()
    assert READ.first(slug="made-1").slug == "made-1"
    with pytest.raises(IntegrityError), transaction.atomic(savepoint=False):
        make_again()
    with pytest.raises(TransactionManagementError):
        READ.first(slug="made-1")


def read_after_the_end():
    assert READ.first(slug="none") is None
    terminate(backend())
    READ.first(slug="none")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ends_amid_a_transaction_is_an_operational_error(kept):
    for _ in range(OFTEN):
        READ.first(slug="none")
    with pytest.raises(OperationalError), transaction.atomic():
        read_after_the_end()
    begin_request()
    assert READ.first(slug="none") is None


@pytest.mark.postgres
@pytest.mark.parametrize("text", ["infinity", "20000-01-01 00:00:00+00", "0044-03-15 12:00:00+00 BC"])
def test_an_instant_that_python_has_no_room_for_is_a_data_error(kept, text):
    with pytest.raises(DataError), transaction.atomic():
        read_instant(kept, text)


def read_instant(connection, text):
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        return cursor.fetchone()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_statements_share_a_cursor_as_long_as_the_connection_lasts_and_nobody_watches(kept):
    with kept.statement_cursor() as first:
        pass
    with kept.statement_cursor() as second:
        assert second is first
    with CaptureQueriesContext(kept) as queries:
        assert READ.first(slug="none") is None
    assert len(queries) == 1
    kept.close()
    with kept.statement_cursor() as third:
        assert third is not first
        assert third.connection is not first.connection
