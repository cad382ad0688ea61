"""Connections that are kept between requests: a database that ended them meanwhile costs nobody an error page.

And what is kept with them: statements that go past the driver say what it would have said.
"""

import contextlib
import os
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.backends.postgresql.psycopg_any import register_tzloader
from django.db.transaction import TransactionManagementError
from django.urls import reverse

from evaluation.models import Study
from evaluation.prepared import Prepared, PreparedInsert, PreparedUpdate, Sample
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


READ = Prepared(
    lambda slug: Study.objects.only("slug", "created_at", "seed").filter(slug=slug),
    slug=Sample.of(Study, "slug", "no such study"),
)
MAKE = PreparedInsert(Study, with_keys=True)
RENAME = PreparedUpdate(
    lambda slug, title: (Study.objects.filter(slug=slug), {"title": title}),
    slug=Sample.of(Study, "slug", "no such study"),
    title=Sample.of(Study, "title", "no such title"),
)
# After so many times the driver has prepared a statement.
OFTEN = 6


@pytest.mark.postgres
def test_a_statement_that_the_driver_has_prepared_is_executed_without_it_and_says_the_same(kept, monkeypatch):
    study = make_crowd_study("kept", queries=1, arms=PAPER_ARMS[:1])
    said = [
        (RENAME.run(slug="kept", title=f"100 % {turn}"), RENAME.run(slug="other", title="x"))
        for turn in range(OFTEN)
    ]
    found = [(READ.first(slug="kept"), READ.first(slug="other")) for _ in range(OFTEN)]
    monkeypatch.setattr("psycopg.Cursor.execute", lambda *args, **kwargs: pytest.fail("the driver was asked"))
    said.append((RENAME.run(slug="kept", title="by libpq"), RENAME.run(slug="other", title="x")))
    found.append((READ.first(slug="kept"), READ.first(slug="other")))
    monkeypatch.undo()
    assert set(said) == {(1, 0)}
    assert [other for _, other in found] == [None] * (OFTEN + 1)
    assert {(each.pk, each.slug, each.created_at, each.seed) for each, _ in found} == {
        (study.pk, "kept", study.created_at, study.seed)
    }
    assert Study.objects.get(slug="kept").title == "by libpq"


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
@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-21 23:23:10.419035+00", "2026-11-21 23:23:10+00", "2026-11-21 23:23:10.4+00"),
        *("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "2026-03-29 02:30:00+02"),
    ],
)
def test_an_instant_is_read_as_django_reads_it(kept, text):
    with kept.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        [here] = cursor.fetchone()
        register_tzloader(UTC, cursor.cursor)
        cursor.execute("SELECT  %s::timestamptz", [text])
        [djangos] = cursor.fetchone()
    assert (here, here.tzinfo, here.isoformat()) == (djangos, djangos.tzinfo, djangos.isoformat())


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
def test_a_kept_statement_s_row_that_can_not_be_read_is_djangos_error_too(kept):
    statement = kept.kept_statement("SELECT %s::timestamptz")
    for turn in range(OFTEN):
        statement.execute(["infinity" if turn % 2 else "2026-11-21 00:00:00+00"])
        for fetch in (statement.fetchone, statement.fetchall) if turn % 2 else ():
            with pytest.raises(DataError):
                fetch()
    statement.execute(["2026-11-21 00:00:00+00"])
    assert statement.fetchall() == [(datetime(2026, 11, 21, tzinfo=UTC),)]
