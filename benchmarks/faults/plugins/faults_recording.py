"""Says to coverage which test is running, and writes down how long each took and which wide fixtures it uses.

Loaded by `python -m benchmarks.faults record`, in the environment of a checkout that need not know of it.
"""

import json
import os
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import coverage
import pytest

OUT = Path(os.environ["FAULTS_OUT"])
TESTS = OUT / "tests.jsonl"
RUNNING = "PYTEST_CURRENT_TEST"  # what processes take their context from that a test starts


def wide(fixture) -> str | None:
    """The context of a fixture that is made once for several tests."""
    return None if fixture.scope == "function" else f"fixture:{fixture.baseid}::{fixture.argname}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Goes on where an earlier recording ended: a test that came to its end has two reports and more."""
    lines = TESTS.read_text().splitlines() if TESTS.exists() else []
    reports = Counter(json.loads(line)["test"] for line in lines)
    known = {test for test, times in reports.items() if times > 1}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in known])
    items[:] = [item for item in items if item.nodeid not in known]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    coverage.Coverage.current().switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        coverage.Coverage.current().switch_context("")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    context = wide(fixturedef)
    if context is None:
        return (yield)
    before = coverage.Coverage.current().switch_context(context)
    test = os.environ.get(RUNNING)
    os.environ[RUNNING] = f"{context} (setup)"
    try:
        return (yield)
    finally:
        coverage.Coverage.current().switch_context(before)
        os.environ.pop(RUNNING)
        if test is not None:
            os.environ[RUNNING] = test
        if fixturedef.argname == "django_db_setup":
            keep_database()


def keep_database() -> None:
    """Once, for runs with a fault, which need not migrate."""
    from django.db import connection

    path = OUT / "database.sqlite3"
    if connection.vendor == "sqlite" and not path.exists():
        own = path.with_suffix(f".{os.getpid()}")
        with closing(sqlite3.connect(own)) as kept:
            connection.connection.backup(kept)
        own.replace(path)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item):
    used = {wide(each) for each in item._request._fixture_defs.values()}
    item.user_properties.append(("wide_fixtures", sorted(used - {None})))


def pytest_runtest_logreport(report):
    """Under xdist the process that started the others hears of all."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        line = {
            "test": report.nodeid,
            "seconds": report.duration,
            "outcome": report.outcome,
            "fixtures": dict(report.user_properties).get("wide_fixtures", []),
        }
        with TESTS.open("a") as file:
            file.write(f"{json.dumps(line)}\n")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """Processes of xdist may end without saying so."""
    measuring = coverage.Coverage.current()
    measuring.stop()
    measuring.save()
