"""Runs chosen tests, file by file in a given order, and writes down each beginning and end.

Loaded by `python -m benchmarks.faults run`, in a copy of a checkout that need not know of it.
"""

import faulthandler
import json
import os
import resource
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

CHOSEN = json.loads(Path(os.environ["FAULTS_CHOSEN"]).read_text())
LIMITS = CHOSEN["limits"]  # seconds by test
PLACE = {file: place for place, file in enumerate(CHOSEN["files"])}
GIGABYTES = 8 * 2**30
# A fault may make lists without an end.
resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES, GIGABYTES))


def write(**line: object) -> None:
    with Path(CHOSEN["events"]).open("a") as file:
        file.write(f"{json.dumps(line)}\n")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if item.nodeid not in LIMITS]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item.nodeid in LIMITS]
    items.sort(key=lambda item: PLACE[item.nodeid.partition("::")[0]])


def pytest_collectreport(report):
    if report.failed:
        write(broken=report.nodeid)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    write(began=item.nodeid)
    # From a thread of its own, whatever the test is doing.
    faulthandler.dump_traceback_later(LIMITS[item.nodeid], exit=True, file=sys.__stderr__)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        write(ended=item.nodeid)


def pytest_runtest_logreport(report):
    if report.failed:
        write(failed=report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """The test database is the one that was kept when the tests were recorded."""
    if fixturedef.argname != "django_db_setup" or not CHOSEN["database"]:
        return (yield)
    from django.core import management
    from django.db import connection

    really = management.call_command

    def call_command(name, *args, **options):
        if name != "migrate":
            return really(name, *args, **options)
        connection.ensure_connection()
        with closing(sqlite3.connect(CHOSEN["database"])) as kept:
            return kept.backup(connection.connection)

    management.call_command = call_command
    try:
        return (yield)
    finally:
        management.call_command = really
