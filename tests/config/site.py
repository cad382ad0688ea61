"""The site as it is run: the shipped command with a small live study, and nginx as docs/operating.md configures it."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLUG = "slow"
MAKE_STUDY = f"""
import django
django.setup()
from django.contrib.auth import get_user_model
from tests import factories
owner = get_user_model().objects.create_superuser("owner", password="owner-password")
study = factories.make_study("{SLUG}", owner=owner, training=False, checks=0, steps=factories.NO_STEPS, redundancy=30)
factories.launch(study)
"""
PERSON = {"PROLIFIC_PID": "a" * 24, "STUDY_ID": "s", "SESSION_ID": "b" * 24, "choice": "agree"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
# The documented line, and what stands in its place here.
LISTENS = {"listen 443 ssl;": "listen 127.0.0.1:{tls} ssl;", "listen 80;": "listen 127.0.0.1:{plain};"}
CERTIFICATES = {
    "/etc/letsencrypt/live/assay.example.org/fullchain.pem": "{folder}/certificate.pem",
    "/etc/letsencrypt/live/assay.example.org/privkey.pem": "{folder}/key.pem",
}
CODE = {"/srv/assay": str(ROOT)}


@dataclass(frozen=True)
class Site:
    """Where the site is reached, with a participant's page there."""

    port: int
    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    page: str = ""
    pid: int = 0

    def connect(self) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        return self.tls.wrap_socket(plain) if self.tls else plain

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | str | None = None,
        timeout: float = 30,
        **headers: str,
    ) -> HTTPResponse:
        """An answer whose body has been read into `text`."""
        if self.tls:
            asked: HTTPConnection = HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.tls)
        else:
            asked = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            asked.request(method, path, body, {"Host": self.host, **named})
            answer = asked.getresponse()
            answer.text = answer.read().decode()
            return answer
        finally:
            asked.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(folder: Path, **given: str) -> dict[str, str]:
    """Of the embedded default with everything in this folder."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return kept | {"ASSAY_VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", **given}


def install(folder: Path) -> None:
    """A database with a live study; `folder` may hold an empty migrated one."""
    if not (folder / "assay.sqlite3").exists():
        migrate = [sys.executable, "manage.py", "migrate", "-v0"]
        subprocess.run(migrate, cwd=ROOT, env=environment(folder), check=True)
    make = [sys.executable, "-c", MAKE_STUDY]
    subprocess.run(make, cwd=ROOT, env=environment(folder), check=True)


@contextmanager
def serving(folder: Path, port: int = 0, **given: str) -> Iterator[Site]:
    """The shipped command; it is told to end afterwards, and ends."""
    port = port or free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "config.serve", f"127.0.0.1:{port}"],
        cwd=ROOT,
        env=environment(folder, **{"ASSAY_ACCESS_LOG": "0", **given}),
    )
    site = Site(port, pid=server.pid)
    try:
        wait_for(site, server)
        yield site
    finally:
        server.terminate()
        try:
            assert server.wait(60) == 0
        finally:
            server.kill()


def wait_for(site: Site, server: subprocess.Popen[bytes], path: str = "/healthz") -> None:
    deadline = time.monotonic() + 120
    while True:
        assert server.poll() is None, "the server ended"
        try:
            site.ask(path, timeout=5)
            return
        except OSError:
            assert time.monotonic() < deadline, "the server does not answer"


def come_in(site: Site) -> Site:
    """The same, with the page of somebody who has just come in."""
    answer = site.ask(f"/s/{SLUG}/", "POST", urllib.parse.urlencode(PERSON), **FORM)
    assert answer.status == 303, answer.text
    page = urllib.parse.urlsplit(answer.headers["Location"]).path
    return Site(site.port, site.tls, site.host, page, site.pid)


def documented(name: str) -> str:
    """The configuration that docs/operating.md prints for this program."""
    text = (ROOT / "docs/operating.md").read_text()
    return re.search(rf"^```{name}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


def need(program: str) -> str:
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not found:
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail(f"{program} is not installed")
        pytest.skip(f"needs {program}")
    return found


@contextmanager
def nginx(folder: Path, behind: Site) -> Iterator[Site]:
    """nginx before the site, as documented but for ports and certificate."""
    program = need("nginx")
    places = {"tls": free_port(), "plain": free_port(), "folder": folder}
    folder.mkdir()
    make_certificate(folder)
    configuration = documented("nginx")
    passed_on = {"http://127.0.0.1:8000": f"http://127.0.0.1:{behind.port}"}
    for line, here in (LISTENS | CERTIFICATES | CODE | passed_on).items():
        assert line in configuration, f"docs/operating.md does not print {line}"
        configuration = configuration.replace(line, here.format(**places))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    scratch = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    # Its processes change to an account that may not look into this folder, unless told not to.
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{scratch}{configuration}}}\n"
    )
    command = [program, "-p", str(folder), "-e", f"{folder}/error.log", "-c", str(folder / "nginx.conf")]
    server = subprocess.Popen(command)
    trusting = ssl.create_default_context(cafile=str(folder / "certificate.pem"))
    trusting.check_hostname = False
    site = Site(places["tls"], trusting, "assay.example.org", behind.page, behind.pid)
    try:
        wait_for(site, server, "/healthz")
        yield site
    finally:
        server.terminate()
        server.wait(30)


def make_certificate(folder: Path) -> None:
    subprocess.run(
        [need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=assay.example.org", "-addext", "subjectAltName=DNS:assay.example.org",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
