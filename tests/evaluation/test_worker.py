"""A real worker takes work from a real broker: files by default, Redis where it is there."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60


@pytest.fixture
def installation(tmp_path, migrated):
    """An installation of its own, with SQLite and a draft study."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    env = {**kept, "ASSAY_VAR_DIR": str(tmp_path)}
    shutil.copy(migrated, tmp_path)
    items = str(ROOT / "evaluation/demo/headline_preview.jsonl")
    manage(env, "import_study", items, "--slug", "large", "--protocol", "pairwise")
    return env


def manage(env, *arguments):
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def status(env):
    with sqlite3.connect(Path(env["ASSAY_VAR_DIR"]) / "assay.sqlite3", timeout=20) as database:
        [(found,)] = database.execute("select status from evaluation_study where slug = 'large'")
    database.close()
    return found


def launch_in_background(env):
    manage(env, "launch", "large", "--background", "--confirm")
    assert status(env) == "draft"
    start_worker_until_live(env)


def start_worker_until_live(env):
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "config", "worker", "--pool", "solo", "--loglevel", "warning"],
        cwd=ROOT,
        env=env,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while status(env) != "live" and time.monotonic() < deadline and worker.poll() is None:
            time.sleep(0.2)
        assert status(env) == "live"
    finally:
        worker.terminate()
        worker.wait(20)


# Killed as it freezes its tenth item.
KILLED = """
import os, signal
import django
django.setup()
from django.core.management import call_command
from evaluation.services.studies import freeze
original, frozen = freeze.freeze_item, []
def freeze_item(*args):
    frozen.append(args)
    if len(frozen) == 10:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args)
freeze.freeze_item = freeze_item
call_command("launch", "large", confirm=True)
"""


@pytest.mark.embedded
def test_a_launch_whose_process_was_killed_is_finished_by_a_worker_that_starts(installation):
    env = {**installation, "DJANGO_SETTINGS_MODULE": "config.settings", "ASSAY_BATCH_SIZE": "4"}
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, env=env, check=False)
    assert killed.returncode == -signal.SIGKILL
    verify = [sys.executable, "manage.py", "verify", "large"]
    said = subprocess.run(verify, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert said.stdout.startswith("The launch is unfinished")
    assert said.stdout.count("\n") == 1
    # Long ago, so that nobody waits for it.
    with sqlite3.connect(Path(env["ASSAY_VAR_DIR"]) / "assay.sqlite3") as database:
        database.execute("update evaluation_study set launching_since = '2026-01-01 00:00:00'")
    database.close()
    start_worker_until_live(env)
    assert "all is well" in manage(env, "verify", "large")


@pytest.mark.embedded
def test_a_study_is_launched_through_the_filesystem(installation):
    launch_in_background(installation)


@pytest.mark.redis
def test_a_study_is_launched_through_redis(installation):
    url = os.environ.get("REDIS_URL")
    if not url:
        if os.environ.get("ASSAY_REQUIRE_ALL"):
            pytest.fail("REDIS_URL is not set")
        pytest.skip("REDIS_URL is not set")
    import redis

    prefix = f"assay-test-{uuid.uuid4().hex}:"
    try:
        launch_in_background({**installation, "REDIS_URL": url, "REDIS_KEY_PREFIX": prefix})
    finally:
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter(f"{prefix}*"):
                client.delete(key)
