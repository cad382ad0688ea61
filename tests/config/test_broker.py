"""Redis goes away under work that is asked for, and comes back: nothing is lost, and no page waits for it.

A Redis of the test's own, which is stopped, or which hangs: it takes connections and answers nothing.
"""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest
import redis

from tests.config.site import ROOT, environment, free_port, need

pytestmark = pytest.mark.embedded
PATIENCE = 120
UNREACHABLE = "he job queue can't be reached right now"


class Broker:
    """A Redis on a port of its own, without memory of what it held."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process = None

    def start(self):
        command = [need("redis-server"), "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        self.process = subprocess.Popen([*command, "--dir", str(self.folder)], stdout=subprocess.DEVNULL)
        wait_until(self.answers, "Redis does not answer")

    def answers(self):
        try:
            with redis.Redis.from_url(self.url) as client:
                return client.ping()
        except redis.exceptions.ConnectionError:
            return False

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


def wait_until(condition, otherwise):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.2)


@pytest.fixture
def broker(tmp_path):
    made = Broker(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def installation(tmp_path, migrated, broker):
    """Everything that is asked for is the worker's, however small."""
    shutil.copy(migrated, tmp_path / "assay.sqlite3")
    return environment(
        tmp_path,
        REDIS_URL=broker.url,
        ASSAY_LAUNCH_INLINE_ITEMS="0",
        ASSAY_RUN_SWEEP_SECONDS="1",
        ASSAY_REDIS_SECONDS="0.5",
    )


def drill(installation, *arguments):
    """What a process says that does this part of the drill. One that hangs is given up."""
    command = [sys.executable, "-m", "tests.config.broker_drill", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=installation, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def workers(installation, folder):
    """A worker and beat, as they are run; they are told to end afterwards."""
    schedule = str(folder / "schedule")
    programs = (["worker", "--pool", "solo"], ["beat", "--schedule", schedule, "--pidfile", ""])
    begun = [
        subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "config", *program, "--loglevel", "critical"],
            cwd=ROOT,
            env=installation,
        )
        for program in programs
    ]
    try:
        yield
    finally:
        for each in begun:
            each.terminate()
        for each in begun:
            try:
                each.wait(30)
            finally:
                each.kill()


def look(folder):
    """How all of it stands, read from the database's file."""
    with closing(sqlite3.connect(folder / "assay.sqlite3", timeout=20)) as database:

        def rows(query):
            return database.execute(query).fetchall()

        return {
            "jobs": rows("SELECT kind, slug, state FROM evaluation_job ORDER BY kind, slug"),
            "runs": [state for (state,) in rows("SELECT state FROM judging_run")],
            "reports": len(rows("SELECT 1 FROM evaluation_cachedreport")),
            "studies": dict(rows("SELECT slug, status FROM evaluation_study")),
        }


def all_is_done(folder):
    found = look(folder)
    return (
        [state for *_, state in found["jobs"]] == ["done"] * 6
        and found["runs"] == ["complete"]
        and {found["studies"][name] for name in ("by-page", "by-command")} == {"live"}
        and found["studies"]["soups"] == "draft"
        and found["reports"] == 1
    )


@pytest.mark.parametrize("fault", ["stopped", pytest.param("hangs", marks=pytest.mark.audit)])
def test_what_is_asked_for_without_redis_is_stored_said_and_done_later(installation, broker, tmp_path, fault):
    token = drill(installation, "make")["token"]
    with workers(installation, tmp_path):
        broker.stop() if fault == "stopped" else broker.hang()
        told = drill(installation, "begin", token)
        for page in ("export", "import", "launch", "command", "run", "report", "connection"):
            assert UNREACHABLE in told[page], page
        assert told["api"] == {"state": "waiting", "message": ""}
        found = look(tmp_path)
        assert found["jobs"] == [
            ("connection_test", "endpoint-1", "queued"),
            ("export", "judged", "queued"),
            ("figures", "judged", "queued"),
            ("import", "soups", "queued"),
            ("launch", "by-command", "queued"),
            ("launch", "by-page", "queued"),
        ]
        assert (found["runs"], found["reports"]) == (["pending"], 0)
        broker.start() if fault == "stopped" else broker.go_on()
        wait_until(lambda: all_is_done(tmp_path), "what was stored was never sent")


def test_every_message_goes_through_one_door():
    """Nothing else speaks to the broker, so nothing else can fail by it."""
    sources = [
        path
        for app in ("annotator", "config", "evaluation", "judging")
        for path in (ROOT / app).rglob("*.py")
    ]
    speaks = re.compile(r"\.(delay|apply_async|send_task)\b")
    found = {str(path.relative_to(ROOT)) for path in sources if speaks.search(path.read_text())}
    assert found == {"evaluation/operations/message_queue.py"}
