"""How gunicorn serves Assay; every setting can be overridden on its command line."""

import gc
import logging.config
import os

from gunicorn.config import Config
from gunicorn.glogging import Logger

from config import logs

worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("ASSAY_WEB_THREADS", "4"))
keepalive = 30
# Loaded once and shared by the workers' memory.
preload_app = True


class MaskedLogger(Logger):
    """gunicorn's words, and its access log where somebody turns that on, through the same mask as all others."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        form, level = os.environ.get("ASSAY_LOG_FORMAT", "line"), os.environ.get("LOG_LEVEL", "INFO")
        logging.config.dictConfig(logs.configuration(form, level.upper()))


logger_class = MaskedLogger


def when_ready(server: object) -> None:
    """Imports the views, and what reports compute with, before the workers fork: not each during a request."""
    import scipy.stats  # noqa: F401 - reports load it when they first need it
    from django.urls import get_resolver

    assert get_resolver().url_patterns


def post_fork(server: object, worker: object) -> None:
    """What is loaded by now stays for good: the collector need not walk it again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
