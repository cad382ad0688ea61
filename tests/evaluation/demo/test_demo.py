"""The one command of the README: it sets up, serves, prints links that work, and Ctrl-C leaves nothing running."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evaluation.demo.studies import STUDIES

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 90


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read_until(stream, wanted):
    """The process's output up to the wanted words."""
    deadline, text = time.monotonic() + PATIENCE, ""
    while wanted not in text:
        ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"{wanted!r} was not printed in {PATIENCE} s; there was:\n{text}"
        block = os.read(stream.fileno(), 65536).decode()
        assert block, f"the demo ended; it had printed:\n{text}"
        text += block
    return text


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.status, answer.read().decode()


def children_of(session):
    """Processes that carry the demo's data folder in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if session.encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


@pytest.fixture
def demo(tmp_path):
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", str(port)],
        cwd=ROOT,
        env={**kept, "ASSAY_VAR_DIR": str(tmp_path / "var"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.mark.embedded
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
def test_the_demo_runs_and_stops(demo, tmp_path):
    text = read_until(demo.stdout, "All studies")
    links = re.findall(r"http://127\.0\.0\.1:\d+/\S*", text)
    paths = {urlsplit(link).path for link in links}
    assert {f"/s/{demo_study.slug}/" for demo_study in STUDIES} <= paths
    for link in links:
        status, page = fetch(link)
        assert status == 200
        assert "<title>" in page
    assert len(children_of(str(tmp_path))) >= 3  # this command, web and worker
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=60)
    assert children_of(str(tmp_path)) == []
