"""Workers that are killed outright in the middle of a run, again and again; a fifth of the calls fail.

Whatever is killed, every item is judged once or counted as failed; what was recorded before a kill is not asked again.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import pytest

from tests.judging import endpoint
from tests.judging.table import SURVIVAL

ROOT = Path(__file__).resolve().parents[4]
ITEMS = 2_000
FEW = 500
KILLS = 10
LATENCY, BEHAVIOURS = 0.04, "500@0.2"
IN_FLIGHT = 8
# Calls that become final between two kills.
STEP = 120
PATIENCE = 90
# The child that works; the main process and its child at once, as when the power fails; the main process alone, whose
# child goes on until it is killed in its turn.
TURNS = ("child", "all", "child", "main", "child")


class Installation:
    """Assay in a folder of its own, on SQLite, with its worker and an endpoint."""

    def __init__(self, folder, **environment):
        kept = {name: each for name, each in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        self.environment = kept | environment | {
            "ASSAY_VAR_DIR": str(folder),
            "ASSAY_BATCH_SIZE": "250",
            "ASSAY_RUN_LEASE_SECONDS": "2",
            "ASSAY_RUN_BACKOFF_SECONDS": "0.05",
            "ASSAY_RUN_SECONDS": "5",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "LOG_LEVEL": "WARNING",
        }  # fmt: skip
        self.folder = folder
        self.main = None
        self.children = set()
        self.started = []

    def survivor(self, *arguments):
        command = [sys.executable, "-m", "tests.judging.survivor", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def start(self, *arguments, **options):
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=self.environment,
            start_new_session=True,
            **options,
        )
        self.started.append(process)
        return process

    def start_worker(self, pool="prefork"):
        self.main = self.start(
            "celery", "-A", "config", "--quiet", "worker", "--pool", pool, "--concurrency", "1", "--loglevel", "error",
            "--without-gossip", "--without-mingle", "--", "worker.lost_wait=0.5",
        )  # fmt: skip

    def pool_children(self):
        return {
            int(stat.parent.name)
            for stat in Path("/proc").glob("[0-9]*/stat")
            if (fields := read(stat)) and int(fields[1]) == self.main.pid
        }

    def kill(self, what):
        """Kills outright; what is left of earlier turns dies with the child."""
        self.children |= self.pool_children()
        doomed = set() if what == "main" else set(self.children)
        for pid in doomed | (set() if what == "child" else {self.main.pid}):
            kill(pid)
        self.children -= doomed
        if what != "child":
            self.main.wait(10)
            self.start_worker()

    def rows(self, query):
        database = sqlite3.connect(self.folder / "assay.sqlite3", timeout=20)
        found = database.execute(query).fetchall()
        database.close()
        return found

    def final(self):
        return self.rows("select count(*) from judging_call where state = 'final'")[0][0]

    def stop(self):
        for pid in self.pool_children() | self.children if self.main else ():
            kill(pid)
        for process in self.started:
            process.kill()
            process.communicate(timeout=10)


def read(stat):
    """The fields after a process's name, or nothing if it is gone."""
    try:
        return stat.read_text().rpartition(") ")[2].split()
    except OSError:
        return None


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_for(condition, what, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def write_items(path, items, *, with_context=False):
    with path.open("w") as out:
        key = "NoCtxGen-CtxEval" if with_context else "NoCtxGen-NoCtxEval"
        arm = {"key": key, "context_at_generation": False, "context_at_judging": with_context}
        context = {"key": "c", "follow_ups": [{"question": "Why?", "answers": ["a", "b"], "answer": "a"}]}
        out.write(
            json.dumps({"assay": 1, "spec": {"protocol": "pairwise", "title": "Survival", "arms": [arm]}})
            + "\n"
        )
        for number in range(items):
            item = {
                "key": f"i{number}",
                "arm": arm["key"],
                "query": {"key": f"q{number}", "text": f"What is {number}?"},
                "responses": [
                    {"system": name, "text": f"{name} says {number}."} for name in ("aspen", "birch")
                ],
                **({"context": context} if with_context else {}),
            }
            out.write(json.dumps(item) + "\n")


def prepare(installation, url, items=ITEMS, last=""):
    """A run that waits for a worker, with a question that is asked last where one is named."""
    dump = installation.folder / "items.jsonl"
    write_items(dump, items, with_context=bool(last))
    installation.survivor("make", str(dump), url, *([last] if last else []))


def survive(installation, record_property, *, items=ITEMS, last="", kills=KILLS):
    calls = 2 * items if last else items
    options = ("--latency", str(LATENCY), "--behaviours", BEHAVIOURS)
    apart = installation.start("tests.judging.endpoint", *options, stdout=subprocess.PIPE, text=True)
    url = apart.stdout.readline().strip()
    prepare(installation, url, items, last)
    installation.start_worker()

    seen = 0
    for turn in range(kills):
        wait_for(lambda wanted=seen + STEP: installation.final() >= wanted, f"no progress after {turn} kills")
        installation.kill(TURNS[turn % len(TURNS)])
        seen = installation.final()
        assert seen < calls, "the run was over before the last kill"
    wait_for(lambda: installation.final() == calls, "the run did not come to its end")
    wait_for(lambda: installation.rows("select state from judging_run") == [("complete",)], "not complete")

    log = json.loads(urllib.request.urlopen(url.replace("/v1", "/log")).read())
    found = installation.survivor("look")
    assert (found["items"], found["most_per_item"]) == (items, 1)
    assert set(found["judgments"]) <= {"ok", "failed"}
    if not last:
        assert found["calls"] == found["judgments"]
    assert sum(found["calls"].values()) == calls
    assert found["verify"] == []
    in_vain = log["total"] - found["attempts"]
    told = f"{kills} kills: {found['judgments']}, {log['total']:,} requests, {in_vain} of them in vain"
    record_property(SURVIVAL, told)
    # What a kill loses: calls in flight, and answers of the last fifth of a second; and the requests that probe.
    assert in_vain <= kills * 4 * IN_FLIGHT
    assert log["statuses"]["500"] > calls * 0.1


@pytest.fixture
def installed(tmp_path, migrated):
    made = []

    def install(**environment):
        shutil.copy(migrated, tmp_path)
        made.append(Installation(tmp_path, **environment))
        return made[-1]

    yield install
    for each in made:
        each.stop()


@pytest.mark.audit
@pytest.mark.embedded
def test_ten_kills_on_the_filesystem(installed, record_property):
    survive(installed(), record_property)


@pytest.mark.audit
@pytest.mark.embedded
def test_kills_while_calls_wait_for_others(installed, record_property):
    survive(installed(), record_property, items=400, last="preference", kills=4)


@pytest.mark.redis
def test_five_kills_on_redis(installed, record_property):
    url = os.environ.get("REDIS_URL")
    if not url:
        if os.environ.get("ASSAY_REQUIRE_ALL"):
            pytest.fail("REDIS_URL is not set")
        pytest.skip("REDIS_URL is not set")
    import redis

    prefix = f"assay-test-{uuid.uuid4().hex}:"
    try:
        survive(
            installed(REDIS_URL=url, REDIS_KEY_PREFIX=prefix),
            record_property,
            items=1_000,
            kills=len(TURNS),
        )
    finally:
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter(f"{prefix}*"):
                client.delete(key)


@pytest.fixture
def served():
    with endpoint.serve(latency=LATENCY, behaviours=BEHAVIOURS, keep=False) as server:
        yield server


@pytest.mark.embedded
@pytest.mark.parametrize(
    "pool", ["prefork", *(pytest.param(each, marks=pytest.mark.audit) for each in ("threads", "solo"))]
)
def test_a_polite_stop_gives_calls_back(installed, served, pool):
    installation = installed()
    prepare(installation, served.url, FEW)
    installation.start_worker(pool)
    wait_for(lambda: installation.final() >= STEP, "no progress")
    installation.main.terminate()
    installation.main.wait(15)
    assert installation.rows("select count(*) from judging_call where state = 'leased'") == [(0,)]
    assert installation.rows("select state from judging_run") == [("running",)]
    seen = installation.final()
    assert seen < FEW
    installation.start_worker(pool)
    wait_for(lambda: installation.final() >= seen + STEP, "nobody went on")
