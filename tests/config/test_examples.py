"""The example by commands: a study is made, launched, judged, reported and exported at the shell."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.config import site as sites

pytestmark = pytest.mark.embedded
OWNER = "from django.contrib.auth import get_user_model as users; users().objects.create_user('ada', is_staff=True)"


@pytest.fixture
def short() -> Iterator[str]:
    """A folder for a socket, whose path may not be long."""
    with tempfile.TemporaryDirectory(prefix="assay", dir="/tmp") as made:
        yield made


def test_a_study_by_commands(migrated: Path, tmp_path: Path, short: str) -> None:
    folder, out = tmp_path / "var", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    shutil.copy(migrated, folder / "assay.sqlite3")
    given = sites.environment(folder, PYTHON=f"{short}/python")
    serving = [sys.executable, "-m", "tests.config.command_lines", "--serve", short]

    def run(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=sites.ROOT, env=given, capture_output=True, text=True, check=False, **options
        )

    with subprocess.Popen(serving, cwd=sites.ROOT, env=given, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout.readline() == b"ready\n"
            assert run(given["PYTHON"], "manage.py", "shell", "-c", OWNER).returncode == 0
            done = run("sh", "examples/study_by_commands.sh", "ada", str(out))
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert [line for line in said if line in ("live", "closed")] == ["live", "closed"]
    assert "Changed 2 settings: contact, redundancy." in said
    for judge in ("longer", "random"):
        assert json.loads((out / f"{judge}.json").read_text())
    assert len((out / "tables" / "win-rates.csv").read_text().splitlines()) > 1
    lines = [json.loads(line) for line in (out / "study.jsonl").read_text().splitlines()]
    assert {each["key"] for each in lines if "judgments" in each} == {"soup", "eggs", "leek", "salt"}
    with closing(sqlite3.connect(folder / "assay.sqlite3")) as database:
        [history] = zip(*database.execute("SELECT change_message FROM django_admin_log"), strict=True)
    assert "Changed the design: contact, redundancy." in history
    assert "Closed. Reason: Judged." in history
