"""/healthz and /readyz: asked by IP address, without TLS, and honest in time about what does not answer."""

import os
import socket
import subprocess
import sys
import threading

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test import Client

from config import health
from tests.config.reading import ROOT

pytestmark = pytest.mark.services

# In a process of its own, since where the database is is read at its start.
ASK = """
import json, sys
import django
django.setup()
from django.test import Client
from config import health
client = Client()
client.get("/healthz")
answer = client.get("/readyz", headers={"host": "10.9.8.7:8000"})
print(json.dumps({"status": answer.status_code, "said": answer.json()}))
sys.stdout.flush()
import os
os._exit(0)
"""


def ask(tmp_path, **environment):
    import json

    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=ROOT,
        env={
            **kept,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "ASSAY_VAR_DIR": str(tmp_path),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture
def closed_port():
    """Bound and not listening: nobody else can come to listen there, and every connection is refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def silent_port():
    """Takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield listening.getsockname()[1]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setitem(health._known, "migrated", False)


def test_healthz_asks_no_database(client):
    # Without the `db` fixture a query would be an error.
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}


def test_readyz_is_ready(client, db):
    answer = client.get("/readyz")
    assert answer.json() == {"status": "ok", "database": "ok", "broker": "ok"}
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"


def test_migrations_are_looked_at_until_they_are_clean(client, db, monkeypatch):
    looked = []
    before = health._check_migrations
    monkeypatch.setattr(
        health, "_check_migrations", lambda connection: (looked.append(1), before(connection))
    )
    client.get("/readyz")
    client.get("/readyz")
    assert looked == [1]


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_any_host_is_answered_without_tls_and_without_a_session(client, db, settings, address):
    settings.ALLOWED_HOSTS = ["assay.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    client.cookies["sessionid"] = "stolen"
    answer = client.get(address, headers={"host": "10.1.2.3:8000"})
    assert answer.status_code == 200
    assert not answer.cookies
    assert not hasattr(answer.wsgi_request, "session")
    # The tolerance ends with the two addresses.
    assert client.get("/studies/", headers={"host": "10.1.2.3:8000"}).status_code in (301, 400)
    assert client.get(f"{address}/more", headers={"host": "10.1.2.3:8000"}).status_code in (301, 400)


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_other_methods_are_refused(client, address, method):
    answer = getattr(client, method)(address)
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD"


def test_head_has_the_status_alone(client, db):
    answer = client.head("/readyz")
    assert answer.status_code == 200
    assert answer.content == b""


@pytest.mark.parametrize("kind", ["closed", "silent"])
def test_a_stopped_database_is_said(tmp_path, kind, closed_port, silent_port):
    port = {"closed": closed_port, "silent": silent_port}[kind]
    url = f"postgres://someone:a-password-of-the-database@127.0.0.1:{port}/assay"
    answer, log = ask(tmp_path, DATABASE_URL=url)
    assert answer["status"] == 503
    assert answer["said"]["status"] == "not ready"
    # Who never answers is given up before libpq would give up, which takes 2 s.
    said = ["no answer in time"] if kind == "silent" else ["unreachable", "no answer in time"]
    assert answer["said"]["database"] in said
    assert answer["said"]["broker"] == "ok"
    for secret in ("a-password", "someone", str(port)):
        assert secret not in str(answer["said"])
    assert "readyz: database" in log
    assert "a-password" not in log


@pytest.mark.parametrize("kind", ["closed", "silent"])
def test_a_stopped_redis_is_said(tmp_path, kind, closed_port, silent_port):
    port = {"closed": closed_port, "silent": silent_port}[kind]
    answer, _ = ask(tmp_path, REDIS_URL=f"redis://127.0.0.1:{port}/0")
    assert answer["status"] == 503
    assert answer["said"]["broker"] in ("unreachable", "no answer in time")


def test_pending_migrations_are_not_ready(tmp_path):
    answer, _ = ask(tmp_path)
    assert answer["status"] == 503
    assert answer["said"]["database"].endswith("migrations pending")
    assert answer["said"]["broker"] == "ok"


def test_an_address_that_is_none_is_not_ready(tmp_path):
    answer, log = ask(tmp_path, DATABASE_URL="postgres://u:a-password-of-the-database@host:port/assay")
    assert answer["status"] == 503
    assert answer["said"]["database"] == "unreachable"
    assert "a-password" not in log


def test_a_broker_s_folder_that_is_gone_is_not_ready(client, db, settings, tmp_path):
    settings.REDIS_URL = ""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_out": str(tmp_path / "gone")}
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "not ready", "database": "ok", "broker": "unreachable"}


@pytest.mark.redis
def test_a_real_redis_is_ready(tmp_path):
    url = os.environ.get("REDIS_URL")
    if not url:
        if os.environ.get("ASSAY_REQUIRE_ALL"):
            pytest.fail("REDIS_URL is not set")
        pytest.skip("REDIS_URL is not set")
    answer, _ = ask(tmp_path, REDIS_URL=url)
    assert answer["said"]["broker"] == "ok"


def test_hanging_checks_do_not_pile_up(client, monkeypatch):
    """Ten questions to services that hang leave no more threads behind than the pool has."""
    release, running = threading.Event(), []
    monkeypatch.setattr(health, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setitem(health.CHECKS, "database", lambda: (running.append(1), release.wait(20)))
    monkeypatch.setitem(health.CHECKS, "broker", lambda: (running.append(1), release.wait(20)))
    try:
        answers = [client.get("/readyz") for _ in range(10)]
        assert {answer.status_code for answer in answers} == {503}
        assert len(running) <= 4
    finally:
        release.set()


def test_ready_again_after_a_hang(client, db):
    assert client.get("/readyz").status_code == 200


def test_other_connections_keep_their_options(client, db, settings):
    before = dict(settings.DATABASES["default"]["OPTIONS"])
    client.get("/readyz")
    assert settings.DATABASES["default"]["OPTIONS"] == before


def test_probes_leave_no_line_in_the_log(client, db, caplog):
    with caplog.at_level("INFO"):
        client.get("/readyz")
        client.get("/healthz")
    assert caplog.messages == []


def test_the_connection_of_the_request_is_left_alone(client, db, django_assert_num_queries):
    with django_assert_num_queries(0, connection=connection):
        assert client.get("/readyz").status_code == 200


def test_the_handler_loads_with_both_middlewares_first(settings):
    assert settings.MIDDLEWARE[:2] == ["config.health.health_checks", "config.middleware.request_log"]
    WSGIHandler()
    assert Client().get("/healthz").status_code == 200
