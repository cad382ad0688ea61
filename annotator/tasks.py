"""Background work of the crowd. A task loads by id and calls a service; it is queued on commit."""

import logging
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import transaction

from annotator.models import Panel
from annotator.platforms.prolific.errors import PanelError
from annotator.selectors import panels_to_sync
from annotator.services.panel_client import NotSetUp
from annotator.services.panel_events import apply_events
from annotator.services.panel_sending import open_acts, send
from annotator.services.reading_back import sync, work_on_reading
from annotator.services.rounds import work_on_round
from evaluation import logcontext

logger = logging.getLogger(__name__)


@shared_task
def ask_for_draft(round_id: int) -> None:
    """Asks a model for a revised draft; a second message about the same round changes nothing."""
    work_on_round(round_id)


# A broker that is down must not turn what is stored into an error: beat, or the next worker, takes it up.
def queue_events() -> None:
    """Has stored events applied, on commit."""
    transaction.on_commit(apply_panel_events.delay, robust=True)


@shared_task
def apply_panel_events() -> None:
    """Applies the webhooks' events that wait; a second message finds none."""
    apply_events()


# Should its process be killed, the message goes to another one: what it finds being sent it leaves alone for a while.
@shared_task(acks_late=True, reject_on_worker_lost=True)
def send_panel_acts(panel_id: int, comes_back: bool = True) -> None:
    """Sends what is intended for a panel, and comes back for what could not be, or may be in the hands of one lost."""
    with logcontext.bind(panel=panel_id):
        try:
            sent = send(Panel.objects.get(pk=panel_id))
        except NotSetUp as why:
            logger.warning("Acts of panel %s wait: %s", panel_id, why)
            return
        logger.info("Panel %s: %s", panel_id, sent)
        if comes_back and open_acts().filter(panel=panel_id).exists():
            send_panel_acts.apply_async((panel_id,), countdown=settings.ASSAY_PANEL_SENDING_SECONDS + 1)


@shared_task
def sync_panel(panel_id: int) -> None:
    """Reads a study and its submissions back, applies events that could not be, and sends what waits."""
    panel = Panel.objects.get(pk=panel_id)
    try:
        sync(panel)
    except (NotSetUp, PanelError) as why:
        logger.warning("Panel %s was not synced: %s", panel_id, why)
    _apply_and_send(panel)


@shared_task
def read_panel(reading_id: int) -> None:
    """Reads all of a study back because somebody asked for it; a second message about it changes nothing."""
    panel = work_on_reading(reading_id)
    if panel is not None:
        _apply_and_send(panel)


def _apply_and_send(panel: Panel) -> None:
    """Events that could not be applied before may be known by now; what waits is sent."""
    apply_events(panel)
    if open_acts().filter(panel=panel).exists():
        send_panel_acts.delay(panel.pk, comes_back=False)  # the next sync does


@shared_task
def sync_panels() -> None:
    """One message per study that is open on its panel, so that one that fails keeps no other waiting."""
    for panel_id in panels_to_sync().values_list("pk", flat=True):
        sync_panel.delay(panel_id)


@shared_task
def take_up_panels() -> None:
    """What was left in the middle: events that were stored and not applied, acts that were intended and not sent."""
    apply_events()
    for panel_id in open_acts().order_by().values_list("panel", flat=True).distinct():
        send_panel_acts.delay(panel_id)


@signals.worker_ready.connect
def look_for_panels(**kwargs: Any) -> None:
    """A new worker takes up what there is, so that nothing is left lying even where there is no beat."""
    take_up_panels.delay()
