"""Readings that take too long for a page: a worker does them, and their row says how far they are."""

import logging
from datetime import timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotator.models import Panel, PanelReading, PanelRecord
from annotator.panels.prolific.errors import PanelError
from annotator.panels.services.connection import NotSetUp
from annotator.panels.services.readings import sync
from annotator.panels.services.recruiting import drafted_id
from evaluation.refusals import Refused
from evaluation.services.history import log_action

logger = logging.getLogger(__name__)

# A study of so few people is read while the page waits.
SHORT = 20
# A worker may wait longer for a panel that is busy than a page can.
PATIENCE = 60.0
UNREACHED = "The job queue can't be reached right now. Try again in a few minutes."
BEAT_SECONDS = 1.0


class ReadingTaken(Exception):
    """Another worker has taken over this reading; this one must stop."""


def is_short(panel: Panel) -> bool:
    """True of a study that can be read while a page waits."""
    return max(PanelRecord.objects.filter(panel=panel).count(), panel.places or 0) <= SHORT


def begin_reading(panel: Panel, by: Any) -> PanelReading:
    """A reading to be done by a worker. Raises Refused while another one of the panel is under way."""
    drafted_id(panel)
    silent = timezone.now() - timedelta(seconds=settings.ASSAY_JOB_LOST_SECONDS)
    active = PanelReading.objects.filter(panel=panel, state__in=["queued", "running"])
    active.filter(heartbeat_at__lt=silent).update(state="failed", message="The worker was lost.")
    try:
        with transaction.atomic():
            return PanelReading.objects.create(panel=panel, by=by)
    except IntegrityError:
        raise Refused("A refresh is already running; the page shows its progress.") from None


def work_on_reading(pk: int) -> Panel | None:
    """Do a reading that waits; None if there is nothing to do. How it went stands in its row."""
    taken = PanelReading.objects.filter(pk=pk, state=PanelReading.State.QUEUED).update(
        state=PanelReading.State.RUNNING, heartbeat_at=timezone.now()
    )
    if not taken:
        return None
    reading = PanelReading.objects.select_related("panel__study", "by").get(pk=pk)
    panel = reading.panel
    try:
        said = f"Refreshed: {sync(panel, everyone=True, watch=_Progress(reading), patience=PATIENCE)}"
    except ReadingTaken as taken_over:
        logger.warning("%s", taken_over)
        return None
    except (Refused, NotSetUp, PanelError) as why:
        _end(reading, PanelReading.State.FAILED, str(why))
    except Exception:
        logger.exception("Reading %s failed", pk)
        _end(reading, PanelReading.State.FAILED, "Something went wrong on our side; see the log.")
    else:
        _end(reading, PanelReading.State.DONE, said)
        log_action(study=panel.study, by=reading.by, message=said)
    return panel


def give_up_reading(pk: int) -> None:
    """End a reading that no worker could be told of."""
    waiting = PanelReading.objects.filter(pk=pk, state=PanelReading.State.QUEUED)
    waiting.update(state=PanelReading.State.FAILED, message=UNREACHED, heartbeat_at=timezone.now())


class _Progress:
    """Writes how far a reading is, once a second at most."""

    def __init__(self, reading: PanelReading) -> None:
        self.reading = reading
        self._last = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        if monotonic() - self._last < BEAT_SECONDS:
            return
        self._last = monotonic()
        mine = PanelReading.objects.filter(pk=self.reading.pk, state=PanelReading.State.RUNNING)
        if not mine.update(phase=phase, done=done, total=total, heartbeat_at=timezone.now()):
            raise ReadingTaken(f"Reading {self.reading.pk} was given up.")


def _end(reading: PanelReading, state: str, message: str) -> None:
    mine = PanelReading.objects.filter(pk=reading.pk, state=PanelReading.State.RUNNING)
    mine.update(state=state, message=message[:500], heartbeat_at=timezone.now())
