"""The same site on granian in gunicorn's place, which needs less of a core per request (docs/performance.md).

Run as `python -m config.granian [HOST:PORT]`. What it reads from the environment is what `gunicorn.conf.py` reads.
"""

import gc
import os
import sys
from typing import Any

from granian import Granian
from granian.constants import Interfaces
from granian.http import HTTP1Settings

from config import logs

DEFAULT = "127.0.0.1:8000"


def load() -> Any:
    """The site, in each worker: with its views imported before the first request, and what is loaded left to stay."""
    from django.urls import get_resolver

    from config.wsgi import application

    assert get_resolver().url_patterns
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    return application


def build(address: str) -> Any:
    """The server, not yet started; ValueError where the address is none."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit()):
        raise ValueError(f"{address!r} is not HOST:PORT")
    form, level = os.environ.get("ASSAY_LOG_FORMAT", "line"), os.environ.get("LOG_LEVEL", "INFO")
    return Granian(
        f"{__spec__.name}:load",
        host,
        int(port),
        interface=Interfaces.WSGI,
        factory=True,
        workers=int(os.environ.get("WEB_CONCURRENCY", "2")),
        blocking_threads=int(os.environ.get("ASSAY_WEB_THREADS", "4")),
        # A thread that ends takes its connection to the database with it.
        blocking_threads_idle_timeout=600,
        # A proxy that keeps connections must not meet one that is just being closed.
        http1_settings=HTTP1Settings(keep_alive=True, header_read_timeout=30_000),
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=30,
        log_dictconfig=logs.configuration(form, level.upper()),
    )


if __name__ == "__main__":
    try:
        build(sys.argv[1] if len(sys.argv) > 1 else DEFAULT).serve()
    except ValueError as error:
        sys.exit(str(error))
