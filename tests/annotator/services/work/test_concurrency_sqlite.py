"""The crowd on SQLite, in processes that share one database file."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.crowd import HABITS

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def start(tmp_path, migrated):
    """Starts a process of the crowd on a database of this test's own."""
    shutil.copy(migrated, tmp_path / "crowd.sqlite3")
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'crowd.sqlite3'}",
        "ASSAY_VAR_DIR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    running = []

    def begin(*arguments):
        command = [sys.executable, "-m", "tests.annotator.services.work.crowd_worker", *arguments]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def result(process):
    """What the process printed; it must have ended well."""
    out, _ = process.communicate("go\n", timeout=60)
    assert process.returncode == 0
    return json.loads(out)


@pytest.mark.embedded
@pytest.mark.parametrize("processes", [3, pytest.param(8, marks=pytest.mark.audit)])
def test_processes_at_once(start, processes):
    result(start("make"))
    workers = [start("work", str(number)) for number in range(processes)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    done = sum((Counter(result(worker)) for worker in workers), Counter())
    # The first person of each worker has a habit of their own to begin with.
    assert min(done[habit] for habit in list(HABITS)[:processes]) > 0

    found = result(start("finish"))
    assert found["open"] == 0
    assert found["counting"] == 36
    assert (found["items"], found["per_item"]) == (12, [3])
    assert found["most_encounters_per_query"] == found["most_judgments_per_query"] == 1
    assert found["order_difference_per_item"] == 1
    assert found["order_difference_per_stratum"] <= 1
    assert found["verify"] == []
