"""The web server: it serves the site, whoever is slow keeps nobody waiting, and it ends as it should."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from django.urls import reverse

from assay_client import Client
from assay_client import uploads as client_uploads
from tests.config import site as sites
from tests.config.slow import slow_senders, still_open, trickle

pytestmark = pytest.mark.embedded
EACH = 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory, migrated):
    made = tmp_path_factory.mktemp("site")
    shutil.copy(migrated, made / "assay.sqlite3")
    sites.install(made)
    return made


@pytest.fixture(scope="module")
def site(folder):
    with sites.serving(folder, TMPDIR=str(folder)) as served:
        yield sites.come_in(served)


@pytest.fixture(scope="module")
def proxied(tmp_path_factory, folder):
    tls = {"ASSAY_TLS": "1", "ALLOWED_HOSTS": "assay.example.org"}
    with (
        sites.serving(folder, **tls) as behind,
        sites.nginx(tmp_path_factory.mktemp("proxy") / "nginx", behind) as before,
    ):
        yield sites.come_in(before), behind


@pytest.fixture(params=["site", "proxied"])
def either(request):
    """The shipped command, and the same behind the documented proxy: how it is reached, and where its probe is."""
    found = request.getfixturevalue(request.param)
    return found if isinstance(found, tuple) else (found, found)


def processes(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return {int(each) for each in children.split()}


def test_slow_senders_keep_nobody_waiting(either):
    """Eight of them did, with as many threads; all are still under way while others are answered."""
    site, probed = either
    with slow_senders(site, EACH) as senders:
        for _ in range(3):
            trickle(senders)
            assert probed.ask("/healthz", timeout=20).status == 200
            page = site.ask(site.page, timeout=20)
            assert page.status == 200
            assert "/submit/" in page.text
        assert still_open(senders) == 2 * EACH


def test_addresses_that_lead_nowhere_get_the_site_s_own_page(site):
    for path in ("/s/nowhere/", "/nowhere/"):
        answer = site.ask(path)
        assert answer.status == 404
        assert "Assay" in answer.text


def test_a_connection_is_used_again(site):
    with site.connect() as connection:
        for path in ("/healthz", site.page):
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            answer = socket.SocketIO(connection, "rb")
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += answer.read(1)
            assert head.startswith(b"HTTP/1.1 200")
            length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
            while length:
                length -= len(answer.read(length))


def until(condition, otherwise):
    """Waits for what comes soon; fails with the sentence where it does not."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def test_a_process_that_dies_is_replaced(site):
    before = processes(site.pid)
    assert len(before) == 2
    gone = min(before)
    os.kill(gone, signal.SIGKILL)
    until(
        lambda: gone not in processes(site.pid) and len(processes(site.pid)) == 2, "no process took its place"
    )
    assert site.ask(site.page).status == 200


def test_processes_end_with_the_one_that_started_them(folder):
    port = sites.free_port()
    command = [sys.executable, "-m", "config.serve", f"127.0.0.1:{port}"]
    server = subprocess.Popen(command, cwd=sites.ROOT, env=sites.environment(folder))
    sites.wait_for(sites.Site(port), server)
    # One of them may answer before the other is there.
    until(lambda: len(processes(server.pid)) == 2, "there are not two processes")
    left = processes(server.pid)
    server.kill()
    server.wait()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left), "processes were left behind")


def test_a_request_in_hand_is_answered_when_the_server_is_told_to_end(folder, tmp_path):
    """It waits for the database, and the server for it."""
    shutil.copy(folder / "assay.sqlite3", tmp_path)
    with sites.serving(tmp_path, WEB_CONCURRENCY="1") as served:
        mine = sites.come_in(served)
        held = sqlite3.connect(tmp_path / "assay.sqlite3", isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        with closing(held), mine.connect() as waiting:
            waiting.sendall(
                f"POST {mine.page}withdraw/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode()
            )
            # The one process reads in order: what came before is in hand when this is answered.
            mine.ask("/healthz")
            os.kill(served.pid, signal.SIGTERM)
            # Nobody new gets in, so the end has begun.
            while True:
                try:
                    mine.connect().close()
                    time.sleep(0.05)
                except OSError:
                    break
            held.execute("ROLLBACK")
            assert waiting.recv(12) == b"HTTP/1.1 303"


def test_an_address_that_is_none_is_said(tmp_path):
    command = [sys.executable, "-m", "config.serve", "8000"]
    done = subprocess.run(
        command, cwd=sites.ROOT, env=sites.environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "'8000' is not HOST:PORT\n"


def test_a_port_that_is_taken_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "config.serve", address]
        done = subprocess.run(
            command,
            cwd=sites.ROOT,
            env=sites.environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == f"Cannot listen on {address}: Address already in use\n"


def answer_to_head(site, path, kind, length):
    """What is answered before a byte of the body was sent; None if it is waited for."""
    with site.connect() as connection:
        connection.sendall(
            f"POST {path} HTTP/1.1\r\nHost: {site.host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
            "Expect: 100-continue\r\n\r\n".encode()
        )
        status = int(connection.recv(12).split()[1])
        return None if status == 100 else status


def test_bodies_are_refused_by_their_heads(site):
    form, files = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
    problem = f"{site.page}a/{'0' * 8}-0000-0000-0000-{'0' * 12}/problem/"
    assert answer_to_head(site, problem, form, 100_000) is None
    assert answer_to_head(site, problem, form, 3_000_000) == 413
    assert answer_to_head(site, problem, files, 1_000) == 415
    assert answer_to_head(site, f"//{problem}", files, 1_000) == 415
    assert answer_to_head(site, f"/s/{sites.SLUG}/", files, 1_000) == 415
    assert answer_to_head(site, "/admin/login/", form, 3_000_000) == 413


def uploads():
    yield reverse("admin:evaluation_study_from_file")
    generation = (f"generation_{name}" for name in ("queries", "import", "corpora"))
    for name in ("upload", "scores", "add_items", *generation):
        yield reverse(f"admin:evaluation_study_{name}", args=["soups"])


def test_files_are_taken_where_they_are_uploaded(site):
    files = "multipart/form-data; boundary=x"
    for path in uploads():
        assert answer_to_head(site, path, files, 500_000_000) is None
        assert answer_to_head(site, path, files, 502_000_000) == 413


ASK_BY_TLS = """
import django
django.setup()
from django.test import Client
answer = Client().get("/nowhere/", headers={"X-Forwarded-Proto": "https"})
print(answer.headers["Strict-Transport-Security"])
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "max-age=31536000; includeSubDomains"),
        ({"SECURE_HSTS_SECONDS": "3600"}, "max-age=3600; includeSubDomains"),
        ({"SECURE_HSTS_PRELOAD": "1"}, "max-age=31536000; includeSubDomains; preload"),
    ],
)
def test_browsers_are_told_to_stay_with_tls(tmp_path, given, told):
    """And are to build the name in only where that is asked for."""
    given = {"ASSAY_TLS": "1", "ALLOWED_HOSTS": "testserver", "LOG_LEVEL": "ERROR"} | given
    asked = [sys.executable, "-c", ASK_BY_TLS]
    done = subprocess.run(
        asked,
        cwd=sites.ROOT,
        env=sites.environment(tmp_path, **given),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == told


def test_the_proxy_takes_files_where_they_are_uploaded_alone(proxied):
    before, _ = proxied
    files = "multipart/form-data; boundary=x"
    assert answer_to_head(before, before.page, files, 3_000_000) == 413
    for path in uploads():
        assert answer_to_head(before, path, files, 500_000_000) is None
        assert answer_to_head(before, path, files, 600_000_000) == 413


def test_files_go_in_parts_and_come_back_in_ranges(proxied, folder, tmp_path, monkeypatch):
    """A table of two parts by the client, and an export whose download broke off, through the documented proxy."""
    before, _behind = proxied
    made = subprocess.run(
        [sys.executable, "manage.py", "token", "owner", "--json"],
        cwd=sites.ROOT,
        env=sites.environment(folder),
        capture_output=True,
        check=True,
    )
    token = json.loads(made.stdout)["token"]
    monkeypatch.setattr(client_uploads, "AT_ONCE", 1_000_000)
    lines = (f"Which soup is number {n}?,Leek.,Onion." + "x" * 4_000 for n in range(9_000))
    raw = "\n".join(["prompt,aspen,birch", *lines, ""]).encode()
    assert client_uploads.PART < len(raw) < 2 * client_uploads.PART
    # As a browser's, the name of the host goes with each request, wherever the proxy is.
    transport = NamedHost(verify=before.tls)
    with Client(f"https://127.0.0.1:{before.port}", token, transport=transport) as client:
        guess = client.guess_map(raw, name="soups.csv")
        assert [each["column"] for each in guess["columns"]] == ["prompt", "aspen", "birch"]
        assert transport.statuses.count(("PUT", 200)) == 2
        job = client.post(client.study(sites.SLUG).at("exports/"), {"format": "jsonl"}, once=True)
        # No worker is there.
        work = f"from evaluation.tasks import work_on_job; work_on_job({job['id']})"
        subprocess.run(
            [sys.executable, "manage.py", "shell", "-c", work],
            cwd=sites.ROOT,
            env=sites.environment(folder),
            check=True,
        )
        path = f"jobs/{job['id']}/file/"
        whole = client.download(path, tmp_path / "study.jsonl").read_bytes()
        assert whole.startswith(b'{"assay":1')
        tag = client.send("GET", path).headers["ETag"]
        rest = client.send("GET", path, headers={"Range": "bytes=100-", "If-Range": tag})
        assert (rest.status_code, rest.content) == (206, whole[100:])
        assert rest.headers["Content-Range"] == f"bytes 100-{len(whole) - 1}/{len(whole)}"


class NamedHost(httpx2.HTTPTransport):
    """Asks the proxy as what its certificate calls it, and keeps what it answers."""

    def __init__(self, **options):
        super().__init__(**options)
        self.statuses = []

    def handle_request(self, request):
        request.headers["Host"] = "assay.example.org"
        answer = super().handle_request(request)
        self.statuses.append((request.method, answer.status_code))
        return answer
