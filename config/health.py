"""`/healthz`: this process answers. `/readyz`: so do its database and its broker, and no migration is pending.

A middleware and no view, because whoever asks is a machine inside: it asks by IP address, which ALLOWED_HOSTS does not
list, and without TLS, which would redirect it. Nothing of the answer depends on the host named in the request, so
neither check protects anything here. No session, no cookie, and no word of what the services are called.
"""

import logging
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late

from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase

from evaluation.operations.upgrades import unfinished_apps

if settings.REDIS_URL:
    import redis  # not within the check, whose time is short

logger = logging.getLogger(__name__)
# All checks together; whoever probes every few seconds has no use for a later answer.
PATIENCE_SECONDS = 1.5

GetResponse = Callable[[HttpRequest], HttpResponseBase]
# Threads are started with the first question, so in the process that answers it. A check that hangs keeps its thread;
# later ones wait for a free one and are given up in time.
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="readyz")
_known: dict[str, bool] = {"migrated": False}


class NotReady(Exception):
    """With the words for the answer."""


def health_checks(get_response: GetResponse) -> GetResponse:
    """Answer the two addresses before any other layer sees them."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        view = VIEWS.get(request.path_info)
        if view is None:
            return get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        return view()

    return middleware


def healthz() -> HttpResponseBase:
    """The process runs; nothing else is asked."""
    return _answer(200, {"status": "ok"})


def readyz() -> HttpResponseBase:
    """Each part's state, and 503 unless all are ok."""
    asked = {name: _threads.submit(check) for name, check in CHECKS.items()}
    deadline = time.monotonic() + PATIENCE_SECONDS
    parts = {name: _state(name, future, deadline) for name, future in asked.items()}
    ready = all(state == "ok" for state in parts.values())
    return _answer(200 if ready else 503, {"status": "ok" if ready else "not ready", **parts})


def _state(name: str, future: Future[None], deadline: float) -> str:
    try:
        future.result(max(0.0, deadline - time.monotonic()))
    except NotReady as why:
        logger.warning("readyz: %s: %s", name, why)
        return str(why)
    except Late:
        future.cancel()
        logger.warning("readyz: %s: no answer in %s s", name, PATIENCE_SECONDS)
        return "no answer in time"
    except Exception as error:
        # What a driver says names hosts and accounts: that is for the log.
        logger.warning("readyz: %s: %s", name, error)
        return "unreachable"
    return "ok"


def _answer(status: int, said: dict[str, str]) -> HttpResponseBase:
    answer = JsonResponse(said, status=status)
    answer.headers["Cache-Control"] = "no-store"
    # The layers that would say it come after this one, and without it a connection ends with its answer.
    answer.headers["Content-Length"] = str(len(answer.content))
    return answer


def check_database() -> None:
    """A connection of its own answers, and all migrations have been applied."""
    connection = connections.create_connection("default")
    if connection.vendor == "postgresql":
        # A copy: the other connections share the original. libpq knows no shorter time than 2 s to connect in.
        options = {
            **connection.settings_dict.get("OPTIONS", {}),
            "connect_timeout": 2,
            "tcp_user_timeout": 2000,
        }
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _known["migrated"]:
            _check_migrations(connection)
    finally:
        connection.close()
        # Django reads the table of migrations through this thread's own connection, which nobody else would close.
        connections.close_all()


def _check_migrations(connection: BaseDatabaseWrapper) -> None:
    if unfinished_apps(connection):
        raise NotReady("migrations of the version before are pending")
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if pending:
        raise NotReady("1 migration pending" if len(pending) == 1 else f"{len(pending)} migrations pending")
    # Migrations are not taken back under a running process, and looking costs a hundred times the rest.
    _known["migrated"] = True


def check_broker() -> None:
    """Redis answers, or a message could be written to the broker's folder."""
    if settings.REDIS_URL:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=PATIENCE_SECONDS, socket_timeout=PATIENCE_SECONDS
        ) as client:
            client.ping()
    else:
        with tempfile.TemporaryFile(dir=settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"]):
            pass


CHECKS = {"database": check_database, "broker": check_broker}
VIEWS: dict[str, Callable[[], HttpResponseBase]] = {"/healthz": healthz, "/readyz": readyz}
