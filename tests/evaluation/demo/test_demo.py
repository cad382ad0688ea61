"""The one command of the README: it sets up, serves, prints links that work, and Ctrl-C leaves nothing running."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from evaluation.demo.studies import STUDIES

ROOT = Path(__file__).resolve().parents[3]
# So that a hang ends, in seconds.
PATIENCE = 600


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


@pytest.fixture(scope="module")
def var(tmp_path_factory):
    """The demo's data folder; the second start finds its studies there."""
    return tmp_path_factory.mktemp("demo") / "var"


@pytest.fixture
def run(var):
    """Starts the demo as `make demo` does, and ends it."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    started = []

    def run(*arguments):
        process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", *arguments],
            cwd=ROOT,
            env={**kept, "ASSAY_VAR_DIR": str(var), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.communicate()


NEEDS_PROC = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="looks for processes in /proc"
)


@pytest.mark.embedded
@NEEDS_PROC
def test_the_demo_runs_and_stops(run, var):
    demo = run("--port", str(free_port()))
    text = read_until(demo.stdout, "demo-worker.log\n")
    assert text.startswith("Setting up the database")
    assert all(f"{study.doing} " in text for study in STUDIES)
    links = re.findall(r"http://127\.0\.0\.1:\d+/\S*", text)
    paths = {urlsplit(link).path for link in links}
    assert {f"/s/{demo_study.slug}/" for demo_study in STUDIES} <= paths
    for link in links:
        status, page = fetch(link)
        assert status == 200
        assert "<title>" in page
    with pytest.raises(urllib.error.HTTPError):
        fetch(urljoin(links[0], "/nowhere/"))
    assert len(children_of(str(var))) >= 3  # this command, web and worker
    demo.send_signal(signal.SIGINT)
    rest, _ = demo.communicate(timeout=PATIENCE)
    assert (rest.decode(), demo.returncode) == ("\nStopping.\n", 0)
    assert children_of(str(var)) == []
    # What went wrong meanwhile is where it says, and of a worker that did its work there is nothing to say.
    web, worker = (Path(log).read_text() for log in re.findall(r"^  Log of .* (/.*)$", text, re.MULTILINE))
    assert "Not Found: /nowhere/" in web
    assert "kombu" not in worker
    assert "[queues]" not in worker


@pytest.mark.embedded
@NEEDS_PROC
def test_a_web_server_that_cannot_start_says_why(run, var):
    # An address for documentation, which no machine has.
    demo = run("--host", "192.0.2.1", "--port", str(free_port()))
    text = demo.communicate(timeout=PATIENCE)[0].decode()
    assert demo.returncode == 1
    assert "The web server has stopped. It printed last:\nCannot listen on 192.0.2.1" in text
    assert "Assay is running" not in text
    assert children_of(str(var)) == []


@pytest.mark.embedded
def test_a_port_in_use_is_refused_at_once(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        demo = run("--port", str(port))
        text = demo.communicate(timeout=PATIENCE)[0].decode()
    assert demo.returncode == 1
    assert (
        text == f"CommandError: Something listens on 127.0.0.1:{port} already; choose another with PORT=.\n"
    )
