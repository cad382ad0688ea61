"""Runs tests until one fails or the time is over, and writes down each beginning and end.

Loaded by `python -m benchmarks.faults run`, in a copy of a checkout that need not know of it.
"""

import faulthandler
import json
import os
import resource
import sys
import time
from pathlib import Path

import pytest

CHOSEN = json.loads(Path(os.environ["FAULTS_CHOSEN"]).read_text())
GIGABYTES = 8 * 2**30
# A fault may make lists without an end.
resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES, GIGABYTES))


def write(**line: object) -> None:
    with Path(CHOSEN["events"]).open("a") as file:
        file.write(f"{json.dumps(line)}\n")


def pytest_collection_modifyitems(config, items):
    untrue = [item for item in items if item.nodeid in CHOSEN["untrue"]]
    config.hook.pytest_deselected(items=untrue)
    items[:] = [item for item in items if item.nodeid not in CHOSEN["untrue"]]


def pytest_collectreport(report):
    if report.failed:
        write(broken=report.nodeid)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop():
    CHOSEN["until"] = time.monotonic() + CHOSEN["most"]
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """True where nothing is left to be done for a test."""
    return True if time.monotonic() > CHOSEN["until"] else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    write(began=item.nodeid)
    # From a thread of its own, whatever the test is doing.
    faulthandler.dump_traceback_later(CHOSEN["limit"], exit=True, file=sys.__stderr__)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        write(ended=item.nodeid)


def pytest_runtest_logreport(report):
    if report.failed:
        write(failed=report.nodeid)
