"""The cast and the studies that tests share."""

import gc
import io
import logging
import os
import pickle
import re
import secrets
import sqlite3
import subprocess
import sys
import threading
import warnings
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from axes.handlers.proxy import AxesProxyHandler
from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS, IntegrityError, OperationalError, connection, transaction
from django.db.models import Q
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError
from django.test import TransactionTestCase

from annotator.selectors.quota import items_for_one
from evaluation import tasks
from evaluation.dumps.tables.readers import box, child
from evaluation.models import Job
from evaluation.services.jobs import mark_sent
from tests import factories
from tests.judging.table import pytest_terminal_summary  # noqa: F401 - a hook: only this file's are seen under xdist

# Playwright's sync API keeps an event loop running, and the tests beside it use the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

ROOT = Path(__file__).resolve().parent.parent

TOUCHES_A_DATABASE = {"db", "transactional_db", "django_db_setup", "live_server"}
SAYS_SO = ("django_db", "services", "postgres", "redis", "browser")
# Tests of what is computed, drawn, parsed or said by an endpoint, of pages and of commands. How their rows are written
# and read is asked of each database by others: services, the API, the worker's loop, dumps, the frames that figures are
# computed from, and the goldens, which hold every figure of every demo study; and every page by the walks in a browser,
# which PostgreSQL answers.
ASKED_ONCE = tuple(
    f"tests/{path}"
    for path in (
        "analytics/admin", "analytics/figures", "analytics/reports", "analytics/reproduce", "analytics/views",
        "annotator/panels/admin", "annotator/panels/money/test_decisions.py", "annotator/panels/platforms",
        "annotator/panels/services/test_panel_settings.py", "annotator/panels/services/test_readings.py",
        "annotator/panels/services/test_recruitment_filters.py",
        "annotator/panels/services/test_unread_arrivals.py", "annotator/panels/test_panel_command.py",
        "annotator/services/rehearsal", "annotator/services/work/test_checks.py",
        "annotator/services/work/test_draft_rounds.py", "annotator/services/work/test_endings.py",
        "annotator/views", "assay_client", "benchmarks", "config/test_bodies.py",
        "config/test_commands_json.py", "config/test_doors.py", "config/test_formsets.py",
        "config/test_full_disk.py", "config/test_hostile_text.py", "config/test_logs.py",
        "config/test_start.py", "config/test_viewers_read_no_ids.py", "evaluation/admin", "evaluation/api",
        "evaluation/demo", "evaluation/dumps", "evaluation/forms", "evaluation/library", "evaluation/protocols",
        "evaluation/services/studies", "evaluation/services/test_invitations.py",
        "evaluation/test_human_sample.py", "evaluation/test_permissions.py", "evaluation/test_rendering.py",
        "evaluation/views", "judging/admin", "judging/asking", "judging/backends", "judging/generation",
        "judging/management", "judging/prompting", "judging/services", "judging/test_acts.py",
        "judging/test_presets.py", "judging/test_references.py", "judging/test_validation.py", "judging/views",
        "rehearsal",
    )
)  # fmt: skip
# Of those folders, what reads and writes their rows: launches, imports, exports, runs, batches and the goldens.
ASKED_TWICE = tuple(
    f"tests/{path}"
    for path in (
        "analytics/reports/test_goldens.py", "evaluation/api/test_at_once.py", "evaluation/api/test_changing.py",
        "evaluation/api/test_reading.py", "evaluation/demo/test_demo.py", "evaluation/dumps/exports/test_tables.py",
        "evaluation/dumps/imports/test_broken_imports.py", "evaluation/dumps/imports/test_import.py",
        "evaluation/dumps/imports/test_killed_import.py", "evaluation/dumps/test_round_trip.py",
        "evaluation/dumps/test_verify_command.py", "evaluation/services/studies/test_duplication.py",
        "evaluation/services/studies/test_items.py", "evaluation/services/studies/test_launch.py",
        "evaluation/services/studies/test_verification.py", "judging/services/batches", "judging/services/calls",
        "judging/services/endpoints/test_spend_tracker.py", "judging/services/generation/test_pipeline_batches.py",
        "judging/services/generation/test_pipeline_runs.py", "judging/services/runs/test_endpoint_loop.py",
        "judging/services/runs/test_lifecycle.py", "judging/services/runs/test_survival.py",
        "judging/services/runs/test_unanswered.py", "judging/services/test_rate_limits.py",
    )
)  # fmt: skip


def is_asked_once(place):
    """Of a test or its file: nothing is asked that no other test asks of each database."""
    return place.startswith(ASKED_ONCE) and not place.startswith(ASKED_TWICE)


def pytest_ignore_collect(collection_path, config):
    """Where nothing that is asked once is asked, its files are not read, which takes as long as many tests do; nor are
    those of the screens where no browser is driven.
    """
    place = collection_path.relative_to(ROOT).as_posix()
    if not collection_path.match("test_*.py"):
        return None
    asked = config.option.markexpr
    if "not browser" in asked and place.startswith("tests/browser/"):
        return (
            bool(re.search(r"^pytestmark = .*mark\.browser", collection_path.read_text(), re.MULTILINE))
            or None
        )
    if "not once" in asked and is_asked_once(place):
        return not re.search(r"mark\.(postgres|redis)", collection_path.read_text()) or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks the tests that touch no database, which say the same whatever DATABASE_URL is, and those that need be
    asked of one database only.

    A test of a module with a transaction around it has one of its own in that; without the mark nothing would say that
    a test database is needed.
    """
    for item in items:
        if "around_module" in item.fixturenames:
            item.add_marker(pytest.mark.django_db)
        if TOUCHES_A_DATABASE.isdisjoint(item.fixturenames) and not any(
            map(item.get_closest_marker, SAYS_SO)
        ):
            item.add_marker("pure")
        if is_asked_once(item.nodeid) and not any(map(item.get_closest_marker, ("postgres", "redis"))):
            item.add_marker("once")


# How long an example takes says how busy the machine is; a test is never about that. What decides about a change finds
# the same each time; `make audit` draws other examples, and more of them.
TOO_SLOW = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "assay", deadline=None, suppress_health_check=TOO_SLOW, derandomize=True, max_examples=25
)
hypothesis.settings.register_profile(
    "audit", deadline=None, suppress_health_check=TOO_SLOW, derandomize=False, max_examples=500
)
hypothesis.settings.load_profile(os.environ.get("ASSAY_HYPOTHESIS", "assay"))


def pytest_configure(config):
    from django.conf import settings

    # Slow hashing protects real passwords; here it would only be waited for.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Every test client has middleware of its own, which would read all static files' properties each time.
    settings.WHITENOISE_AUTOREFRESH = True
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "config.sqlite3":
        # pytest-django gives every database of another engine than Django's a file for each worker.
        database.setdefault("TEST", {})["NAME"] = ":memory:"


TRIES = 5
# Filled by the migrations themselves, and the same for every test.
FURNITURE = {"django_migrations", "django_content_type", "auth_permission"}


def empty_what_was_filled(test_case):
    """After a test that commits: only tables with rows. Django empties every table and furnishes anew, which takes half
    a second each time on PostgreSQL.
    """
    quoted = connection.ops.quote_name
    tables = [quoted(name) for name in connection.introspection.table_names() if name not in FURNITURE]
    filled = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables)
    # What a page sends as it is closed may still be written meanwhile; whoever the database turns away tries again.
    for attempt in range(TRIES):
        try:
            # Foreign keys are looked at when all are empty.
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(filled)
                for (table,) in cursor.fetchall():
                    cursor.execute(f"DELETE FROM {table}")
            return
        except (IntegrityError, OperationalError):
            if attempt == TRIES - 1:
                raise


@pytest.fixture(scope="session", autouse=True)
def quick_emptying():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_what_was_filled)
        yield


@pytest.fixture(scope="session", autouse=True)
def locks_are_taken_in_transactions():
    """As PostgreSQL wants it: SQLite locks no rows, and a test's own transaction would hide what is missing."""
    compiled = SQLCompiler.as_sql

    def as_sql(compiler, *args, **options):
        if compiler.query.select_for_update and all(
            block._from_testcase for block in compiler.connection.atomic_blocks
        ):
            raise TransactionManagementError("select_for_update cannot be used outside of a transaction.")
        return compiled(compiler, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLCompiler, "as_sql", as_sql)
        yield


@pytest.fixture(scope="session", autouse=True)
def constraints_are_asked_by_their_fields():
    """Django writes all fields of a row into the question of each of its constraints, where those that the constraint
    names say the same: of a study, a quarter of what it takes to make one and launch it.
    """
    asked = Q.check

    def check(condition, against, using=DEFAULT_DB_ALIAS):
        named = condition.referenced_base_fields & against.keys()
        return asked(condition, {name: against[name] for name in named}, using)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Q, "check", check)
        yield


@contextmanager
def read_here(asked, limits):
    with warnings.catch_warnings(action="ignore"):
        told = b"".join(pickle.dumps(answer) for answer in child._answers(asked))
    yield box._received(SimpleNamespace(stdout=io.BytesIO(told)), limits, threading.Event())


@pytest.fixture(scope="session", autouse=True)
def tables_are_read_here():
    """Not in a process of their own, whose start takes longer than what any test does with its table."""
    indeed = box._child
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(box, "_child", read_here)
        yield indeed


@pytest.fixture
def tables_are_read_apart(tables_are_read_here, monkeypatch):
    """As they are in earnest."""
    monkeypatch.setattr(box, "_child", tables_are_read_here)


@pytest.fixture(autouse=True)
def worker_at_hand(monkeypatch):
    """What a page waits for is done at once, as by a worker that has nothing else to do."""

    def work(job):
        tasks.work_on_job(job.pk)
        job.refresh_from_db()
        return job

    monkeypatch.setattr(tasks, "wait_for_job", work)


@pytest.fixture
def busy_worker(monkeypatch, worker_at_hand):
    """A worker that is at something else for longer than a page waits; called, it does what was asked of it."""

    def look(job):
        mark_sent(job.pk)
        job.refresh_from_db()
        return job

    def work():
        waiting = list(Job.objects.filter(state=Job.State.QUEUED).order_by("pk"))
        for job in waiting:
            tasks.work_on_job(job.pk)
        return waiting

    monkeypatch.setattr(tasks, "wait_for_job", look)
    return work


@pytest.fixture
def in_transaction(db):
    """For what is called here by itself, and otherwise by a service in its transaction."""
    with transaction.atomic():
        yield


class Raising(logging.Handler):
    """A report goes on without a figure that fails; a test does not."""

    def emit(self, record):
        raise record.exc_info[1]


RAISING = Raising()


@pytest.fixture(scope="session", autouse=True)
def figures_raise():
    logging.getLogger("assay.figures").addHandler(RAISING)


@pytest.fixture
def figures_may_fail(figures_raise):
    logger = logging.getLogger("assay.figures")
    logger.removeHandler(RAISING)
    yield
    logger.addHandler(RAISING)


@pytest.fixture(scope="module")
def around_module(django_db_setup, django_db_blocker):
    """A transaction around the tests of a module, for what its module fixtures make: every test finds that as it was
    made, since what a test does itself is undone before the next. Not for tests that commit.
    """
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around._from_testcase = True  # blocks that must be the outermost may stand in it, as in a test's own
        with around:
            yield
            transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def own_count_of_logins():
    """What one test failed at delays no other: in Redis the count would last."""
    AxesProxyHandler.get_implementation().cache.key_prefix = secrets.token_hex(8)


@pytest.fixture(scope="session")
def migrated(django_db_setup, django_db_blocker, tmp_path_factory):
    """An empty SQLite database with all tables, to be copied by tests whose processes need one of their own."""
    path = tmp_path_factory.mktemp("migrated") / "assay.sqlite3"
    # Where no test of this run touches the database, none has been made.
    if connection.vendor == "sqlite" and connection.is_in_memory_db():
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(path)])
        # Tests before this one may have used ids up: here they begin at 1.
        with closing(sqlite3.connect(path)) as copy, copy:
            copy.execute("DELETE FROM sqlite_sequence")
    else:
        kept = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
        command = [sys.executable, "manage.py", "migrate", "-v0"]
        subprocess.run(command, cwd=ROOT, env=kept | {"DATABASE_URL": f"sqlite:///{path}"}, check=True)
    return path


@pytest.fixture(params=[True, False], ids=["compiled", "built"])
def compiled_and_built(request, settings):
    """Runs a test twice: with the hot path's statements compiled once, and built by Django each time."""
    settings.ASSAY_COMPILED_QUERIES = request.param


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.audit)], ids=["compiled", "built"])
def compiled_and_built_in_audit(request, settings):
    """The same, where what is asked is not the statements."""
    settings.ASSAY_COMPILED_QUERIES = request.param


@pytest.fixture
def owner(db):
    return get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)


@pytest.fixture
def colleague(db):
    return get_user_model().objects.create_user("colleague", password="colleague-password", is_staff=True)


@pytest.fixture
def outsider(db):
    return get_user_model().objects.create_user("outsider", password="outsider-password", is_staff=True)


@pytest.fixture
def draft(owner):
    """A small context contrast in three arms: 4 queries, training and attention items."""
    return factories.make_study("contrast", owner=owner)


@pytest.fixture
def study(draft):
    """The same, live."""
    return factories.launch(draft)


@pytest.fixture(autouse=True)
def nothing_counted_before():
    """Each test's database begins empty, and gives the same ids again; a process's database never does."""
    items_for_one.cache_clear()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """What is imported and collected by now stays until the end: the collector need not walk it again and again."""
    gc.collect()
    gc.freeze()
