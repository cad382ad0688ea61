"""The other web server: it starts from the same environment, serves the same site and stops when it is told."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def fetch(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.embedded
def test_it_serves_the_site_and_stops_politely(tmp_path):
    port = free_port()
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "config.granian", f"127.0.0.1:{port}"],
        cwd=ROOT,
        env=environment | {"ASSAY_VAR_DIR": str(tmp_path), "WEB_CONCURRENCY": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            assert server.poll() is None, server.stderr.read()
            try:
                status, body = fetch(f"http://127.0.0.1:{port}/healthz")
                break
            except OSError:
                assert time.monotonic() < deadline, "it does not answer"
        assert status == 200
        assert "ok" in body
        # An address of participants that leads nowhere: the site's own page, by the short way and by the long one.
        for path in ("/s/", "/nowhere/"):
            status, body = fetch(f"http://127.0.0.1:{port}{path}")
            assert status == 404
            assert "Assay" in body
    finally:
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=60)
    assert server.returncode == 0
    assert "Traceback" not in said


def test_an_address_that_is_none_is_said():
    ended = subprocess.run(
        [sys.executable, "-m", "config.granian", "8000"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "'8000' is not HOST:PORT" in ended.stderr
