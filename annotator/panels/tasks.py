"""Background work of the recruiters."""

import logging
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import transaction

from annotator.models import Panel
from annotator.panels.money.sending import open_acts, send
from annotator.panels.platforms.errors import NotSetUp, PanelError
from annotator.panels.selectors import panels_to_sync
from annotator.panels.services.events import apply_events
from annotator.panels.services.reading_jobs import read_back
from annotator.panels.services.readings import sync
from annotator.panels.services.retention.id_deletion import delete_ids
from annotator.services.erasing import sweep_erasures
from evaluation.models import Job
from evaluation.operations import logcontext
from evaluation.operations.message_queue import send_message
from evaluation.refusals import Refused
from evaluation.services.studies.retention import studies_due

logger = logging.getLogger(__name__)


# What is stored and was not sent is taken up by beat (`sync_panels`) or the next worker.
def queue_events() -> None:
    """Have stored events applied, on commit."""
    transaction.on_commit(lambda: send_message(apply_panel_events), robust=True)


def queue_acts(panel_id: int) -> None:
    """Have what is intended sent to the panel, on commit."""
    transaction.on_commit(lambda: send_message(send_panel_acts, panel_id), robust=True)


@shared_task
def apply_panel_events() -> None:
    """Apply the webhooks' events that wait; a second message finds none."""
    apply_events()


# Should its process be killed, the message goes to another one: what it finds being sent it leaves alone for a while.
@shared_task(acks_late=True, reject_on_worker_lost=True)
def send_panel_acts(panel_id: int, comes_back: bool = True) -> None:
    """Send what is intended for a panel, and come back for what could not be, or may be in the hands of one lost."""
    with logcontext.bind(panel=panel_id):
        try:
            sent = send(Panel.objects.get(pk=panel_id))
        except NotSetUp as why:
            logger.warning("Acts of panel %s wait: %s", panel_id, why)
            return
        logger.info("Panel %s: %s", panel_id, sent)
        if comes_back and open_acts().filter(panel=panel_id).exists():
            send_message(send_panel_acts, panel_id, countdown=settings.ASSAY_PANEL_SENDING_SECONDS + 1)


@shared_task
def sync_panel(panel_id: int) -> None:
    """Read a study and its submissions back, apply events that could not be, and send what waits."""
    panel = Panel.objects.get(pk=panel_id)
    try:
        sync(panel)
    except (NotSetUp, PanelError) as why:
        logger.warning("Panel %s was not synced: %s", panel_id, why)
    _apply_and_send(panel)


def read_panel_of(job: Job) -> None:
    """Read all of a study back because somebody asked for it; what waits is applied and sent, however that went."""
    panel = Panel.objects.select_related("study").get(study=job.study)
    try:
        read_back(job, panel)
    except Refused:
        _apply_and_send(panel)
        raise
    _apply_and_send(panel)


def _apply_and_send(panel: Panel) -> None:
    """Events that could not be applied before may be known by now; what waits is sent."""
    apply_events(panel)
    if open_acts().filter(panel=panel).exists():
        send_message(send_panel_acts, panel.pk, comes_back=False)  # the next sync does


@shared_task
def sync_panels() -> None:
    """One message per study that is open on its panel, so that one that fails keeps no other waiting; of the others
    what was left in the middle."""
    open_panels = set(panels_to_sync().values_list("pk", flat=True))
    for panel_id in open_panels:
        send_message(sync_panel, panel_id)
    apply_events()
    for panel_id in _panels_with_acts() - open_panels:
        send_message(send_panel_acts, panel_id, comes_back=False)


@shared_task
def take_up_panels() -> None:
    """Take up what was left in the middle: events that were not applied, acts that were not sent."""
    apply_events()
    for panel_id in _panels_with_acts():
        send_message(send_panel_acts, panel_id)


@shared_task
def delete_due_ids() -> None:
    """Delete platform ids and exact times of the studies whose retention period is over; of one with a submission that
    is not settled, once it is."""
    for study in studies_due():
        try:
            delete_ids(study)
        except Refused as why:
            logger.info("Ids of study %s wait: %s", study.slug, why)


def _panels_with_acts() -> set[int]:
    return set(open_acts().order_by().values_list("panel", flat=True))


@shared_task
def sweep_erased() -> None:
    """Erase those who asked for it and are settled by now, and finish what a kill has left of an erasure."""
    sweep_erasures()


@signals.worker_ready.connect
def look_for_panels(**kwargs: Any) -> None:
    """A new worker takes up what there is, so that nothing is left lying even where there is no beat."""
    send_message(take_up_panels)
    send_message(sweep_erased)
    send_message(delete_due_ids)
