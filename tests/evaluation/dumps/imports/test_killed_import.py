"""A process that is killed outright while it writes an import: nothing is seen of it, and it can be made anew."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest
from django.db import connection

from tests.evaluation.dumps.build import header, item, judgment, write

ROOT = Path(__file__).resolve().parents[4]
ITEMS = 600
SEEN = 40
DEADLINE = 60  # seconds


class Place:
    """A database of a test's own, seen by processes through its URL and by the test beside Django."""

    def __init__(self, url, folder, connect):
        self.connect = connect
        self.environment = os.environ | {
            "DATABASE_URL": url,
            "ASSAY_VAR_DIR": str(folder / "var"),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    def start(self, *command, **environment):
        return subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=self.environment | environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *command):
        """Its exit code and all that it said."""
        process = self.start(*command)
        out, err = process.communicate(timeout=DEADLINE)
        return process.returncode, out + err

    def worker(self, *arguments):
        process = self.start("-m", "tests.evaluation.dumps.imports.killed_worker", *arguments)
        out, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, err
        return json.loads(out)

    def items(self):
        """The number of items that others can see in the database."""
        with self.connect() as connected:
            rows = connected.execute("SELECT count(*) FROM evaluation_item").fetchone()
        connected.close()
        return rows[0]


@pytest.fixture
def sqlite(tmp_path, migrated):
    path = tmp_path / "killed.sqlite3"
    shutil.copy(migrated, path)
    return Place(f"sqlite:///{path}", tmp_path, lambda: sqlite3.connect(path, timeout=20))


@pytest.fixture
def postgres(tmp_path, django_db_setup):
    """A new database on the server that DATABASE_URL names."""
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    name = f"assay_killed_{token_hex(4)}"
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    admin = psycopg.connect(f"{server}/postgres", autocommit=True)
    admin.execute(f"CREATE DATABASE {name}")
    yield Place(f"{server}/{name}", tmp_path, lambda: psycopg.connect(f"{server}/{name}"))
    admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    admin.close()


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=[pytest.mark.embedded, pytest.mark.audit]),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def place(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def dump(tmp_path):
    excluded = {"scope": "judgment", "reason": "Distracted"}
    items = [item(n, judgments=[judgment(), judgment("bo", excluded=excluded)]) for n in range(ITEMS)]
    return write(tmp_path / "dump.jsonl", header(), *items)


def kill_while_writing(place, dump):
    """Kills an import once others can see some of its rows; one item per transaction leaves it far from its end."""
    process = place.start("manage.py", "import_study", str(dump), "--slug", "soups", ASSAY_BATCH_SIZE="1")
    try:
        deadline = time.monotonic() + DEADLINE
        while place.items() < SEEN:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "the import wrote nothing"
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_killed_while_writing(place, dump):
    place.worker("make")
    kill_while_writing(place, dump)

    half = place.worker("look", "soups")
    assert SEEN <= half["items"] < ITEMS
    assert half["imports"] == ["running"]
    assert not half["visible"]
    assert not half["listed"]
    assert set(half["pages"].values()) == {404}
    assert set(half["commands"].values()) == {"There is no study 'soups'."}

    again = ("manage.py", "import_study", str(dump), "--slug", "soups")
    code, said = place.run(*again)
    assert code == 1
    assert "has not finished" in said
    assert "--replace-broken" in said
    assert place.items() == half["items"], "nothing is deleted unasked"

    code, said = place.run(*again, "--replace-broken")
    assert (code, "600 items, 1,200 judgments, 2 raters" in said) == (0, True), said
    place.run("manage.py", "import_study", str(dump), "--slug", "undisturbed")
    second, undisturbed = place.worker("look", "soups"), place.worker("look", "undisturbed")
    assert (second["visible"], second["listed"], second["items"]) == (True, True, ITEMS)
    assert second["imports"] == ["complete", "complete"], "the killed one is gone"
    assert second["verify"] == []
    for same in ("hash", "content", "export"):
        assert second[same] == undisturbed[same] != ""
