"""The Celery application; settings come from Django's."""

import gc
import logging
import logging.config
import os
from typing import Any

from celery import Celery, signals
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

from evaluation.operations import logcontext

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

TRANSPORT_ALIASES["filesystem"] = "config.message_files:Transport"

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Workers take from both queues in turn: a page that waits for its job is behind one turn of a judge's run, not all.
app.conf.task_queues = (Queue("celery"), Queue("jobs"))
app.conf.task_routes = {"evaluation.tasks.work_on_job": {"queue": "jobs"}}
app.autodiscover_tasks()
app.autodiscover_tasks(["annotator.panels"])


@signals.setup_logging.connect
def set_up_logging(loglevel: int, **kwargs: Any) -> None:
    """Instead of Celery's own handlers, which would neither mask nor say which task a line belongs to."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
    # As everywhere with Celery, `--loglevel` decides for its processes.
    logging.getLogger().setLevel(loglevel)


@signals.worker_before_create_process.connect
def share_memory_with_children(**kwargs: Any) -> None:
    """Memory stays shared as long as the collector does not write into it."""
    gc.collect()
    gc.freeze()


# An eager task runs inside a request or a command, whose fields it keeps.
@signals.task_prerun.connect
def name_the_task(task_id: str, task: Any, **kwargs: Any) -> None:
    if not task.request.is_eager:
        logcontext.begin(task=task_id, task_name=task.name)


@signals.task_postrun.connect
def forget_the_task(task: Any, **kwargs: Any) -> None:
    if not task.request.is_eager:
        logcontext.end()
