"""Reading a study back from its panel: its state, its submissions, and the bonuses that the panel shows on them.

A list of submissions tells no bonuses; each submission has to be asked for by itself. So a reading by the clock looks
only where a bonus was paid from here and has not been seen yet, one that somebody asks for looks everywhere, and
neither at more than `BONUS_READS` submissions: those that wait longest come first, and the next reading goes on.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelReading, PanelRecord, PanelStatus
from annotator.platforms.prolific.answers import PanelSubmission
from annotator.platforms.prolific.client import CENT, Client
from annotator.platforms.prolific.errors import PanelBusy, PanelError, PanelUnreachable
from annotator.services.bonus_evidence import SHOWS_WITHIN
from annotator.services.draft_checks import NotReady
from annotator.services.panel_client import NotSetUp, open_client
from annotator.services.panel_records import ENDINGS, Seen, note_status
from annotator.services.recruiting import drafted_id, sync_study
from evaluation.services.acts import log_act

logger = logging.getLogger(__name__)

BONUS_READS = 500
# A study of so few people is read while the page waits.
SHORT = 20
# A worker may wait longer for a panel that is busy than a page can.
PATIENCE = 60.0
NOT_FOUND = 404
BEAT_SECONDS = 1.0
# Waiting for a panel that is busy, it gives a sign of life as often.
NAP_SECONDS = 10.0
AT_WORK = (PanelStatus.RESERVED, PanelStatus.ACTIVE)
# What it is at, how far it is, and of how many.
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Synced:
    """What a reading read, and how much of it was news. `left` is why not all bonuses were read, if they were not."""

    submissions: int
    changed: int
    bonuses: int = 0
    left: str = ""

    def __str__(self) -> str:
        news = f"{self.submissions:,} submissions, {self.changed:,} of them news"
        bonuses = f"; bonuses of {self.bonuses:,}" if self.bonuses else ""
        return f"{news}{bonuses}.{f' {self.left}' if self.left else ''}"


def nobody_watches(phase: str, done: int, total: int) -> None:
    pass


def sync(
    panel: Panel, *, everyone: bool = False, watch: Watch = nobody_watches, patience: float | None = None
) -> Synced:
    """The study, its submissions, and bonuses. Raises NotReady, NotSetUp or PanelError.

    `everyone`: bonuses of all submissions, and not only where one that was paid from here has not been seen yet.
    """
    sync_study(panel)
    watch("", 0, 0)
    synced = sync_submissions(panel, watch=watch, patience=patience)
    read, left = read_bonuses(panel, everyone=everyone, watch=watch, patience=patience)
    return replace(synced, bonuses=read, left=left)


def sync_submissions(panel: Panel, *, watch: Watch = nobody_watches, patience: float | None = None) -> Synced:
    """Reads all of the study's submissions back, and does what each one's state calls for."""
    study = drafted_id(panel)
    # The panel's answers are true of a moment after this one; an event that occurs meanwhile is newer.
    asked = timezone.now()
    with _client(patience, watch) as client:
        found = client.list_submissions(study, watch=lambda n, of: watch("reading the list", n, of))
    known = {each.external_id: each for each in PanelRecord.objects.filter(panel=panel)}
    news = [each for each in found if not _is_settled(known.get(each.id), each)]
    for n, each in enumerate(news):
        watch("taking over what is new", n, len(news))
        note_status(panel, _seen(each, asked))
    Panel.objects.filter(pk=panel.pk).update(synced_at=asked)
    return Synced(len(found), len(news))


def _client(patience: float | None, watch: Watch) -> Client:
    return open_client() if patience is None else open_client(patience=patience, wait=_napping(watch))


def _napping(watch: Watch) -> Callable[[float], None]:
    """Waits in short pieces, so that nobody takes for lost who only waits."""

    def wait(seconds: float) -> None:
        left = seconds
        while left > 0:
            watch("waiting for the panel", round(seconds - left), round(seconds))
            sleep(min(left, NAP_SECONDS))
            left -= NAP_SECONDS

    return wait


def _is_settled(record: PanelRecord | None, there: PanelSubmission) -> bool:
    """Whether all of this is known, and everything done about it."""
    if record is None or record.submission_id is None:
        return False
    same = (record.status, record.code, record.started_at, record.completed_at, record.return_asked_at) == (
        there.status,
        there.code,
        there.started_at,
        there.completed_at,
        there.return_requested_at,
    )
    return same and record.applied == (there.status if there.status in ENDINGS else "")


def _seen(there: PanelSubmission, asked: datetime) -> Seen:
    return Seen(
        external_id=there.id,
        participant_id=there.participant_id,
        status=there.status,
        at=asked,
        started_at=there.started_at,
        completed_at=there.completed_at,
        code=there.code,
        return_asked_at=there.return_requested_at,
        tells_requests=True,
    )


# --- bonuses ----------------------------------------------------------------------------------------------------------


def read_bonuses(
    panel: Panel,
    *,
    everyone: bool = False,
    watch: Watch = nobody_watches,
    patience: float | None = None,
) -> tuple[int, str]:
    """Of how many submissions the bonuses were read, and why not of all, if so. What was read before is kept.

    One that the panel refuses to show keeps none of the others; a panel that is busy or can't be reached ends it.
    """
    wanted = _bonuses_to_read(panel, everyone)
    chosen, read, refused, why = wanted[:BONUS_READS], 0, 0, ""
    if not chosen:
        return 0, ""
    with _client(patience, watch) as client:
        for number, record in enumerate(chosen):
            watch("reading bonuses", number, len(chosen))
            try:
                _read_bonuses_of(client, record)
                read += 1
            except (PanelBusy, PanelUnreachable) as error:
                logger.warning("Bonuses of panel %s were not all read: %s", panel.pk, error)
                left = f"Bonuses of {len(wanted) - number:,} more were not read: {error.message}"
                return read, f"{_refusals(refused, why)} {left}".strip()
            except PanelError as error:
                logger.warning("Bonuses of %s were not read: %s", record.external_id, error)
                refused, why = refused + 1, error.message
    rest = len(wanted) - len(chosen)
    left = f"Bonuses of {rest:,} more are read when it is asked again." if rest else ""
    return read, f"{_refusals(refused, why)} {left}".strip()


def _refusals(refused: int, why: str) -> str:
    return f"Bonuses of {refused:,} could not be read, the last because: {why}" if refused else ""


def _read_bonuses_of(client: Client, record: PanelRecord) -> None:
    """Raises PanelError. Of a submission that the panel does not know nothing is known, and it has been looked at."""
    asked = timezone.now()
    ours = PanelRecord.objects.filter(Q(bonuses_at=None) | Q(bonuses_at__lt=asked), pk=record.pk)
    try:
        there = client.get_submission(record.external_id)
    except PanelError as error:
        if error.status == NOT_FOUND:
            ours.update(bonuses=None, bonuses_at=asked)
        raise
    ours.update(bonuses=sum(there.bonuses, Decimal(0)) * CENT, bonuses_at=asked)


def _bonuses_to_read(panel: Panel, everyone: bool) -> list[PanelRecord]:
    """First those with a bonus of ours that was not seen since it must show; then the others, longest unread first."""
    records = PanelRecord.objects.filter(panel=panel)
    paid = PanelAct.objects.filter(
        panel=panel, kind=PanelAct.Kind.BONUS, state__in=[PanelAct.State.DONE, PanelAct.State.UNKNOWN]
    )
    shows = Coalesce("ended_at", "sent_at") + SHOWS_WITHIN
    unseen = Q(record__bonuses_at=None) | Q(record__bonuses_at__lt=shows)
    due = set(paid.filter(unseen).values_list("record", flat=True))
    if not everyone:
        return [each for each in records.order_by("pk") if each.pk in due]
    in_order = records.exclude(status__in=AT_WORK).order_by(F("bonuses_at").asc(nulls_first=True), "pk")
    return sorted(in_order, key=lambda each: each.pk not in due)


# --- a long one, by a worker ------------------------------------------------------------------------------------------


class ReadingTaken(Exception):
    """Somebody else reads this panel by now; what is under way must stop."""


def is_short(panel: Panel) -> bool:
    """Whether the study can be read while a page waits."""
    return max(PanelRecord.objects.filter(panel=panel).count(), panel.places or 0) <= SHORT


def begin_reading(panel: Panel, by: Any) -> PanelReading:
    """A reading to be done by a worker. Raises NotReady while another one of the panel is under way."""
    drafted_id(panel)
    silent = timezone.now() - timedelta(seconds=settings.ASSAY_JOB_LOST_SECONDS)
    active = PanelReading.objects.filter(panel=panel, state__in=["queued", "running"])
    active.filter(heartbeat_at__lt=silent).update(state="failed", message="Its worker was lost.")
    try:
        with transaction.atomic():
            return PanelReading.objects.create(panel=panel, by=by)
    except IntegrityError:
        raise NotReady(["The panel is being asked already; its page shows how far that is."]) from None


def work_on_reading(pk: int) -> Panel | None:
    """Does a reading that waits; None if there is nothing to do. How it went stands in its row."""
    taken = PanelReading.objects.filter(pk=pk, state=PanelReading.State.QUEUED).update(
        state=PanelReading.State.RUNNING, heartbeat_at=timezone.now()
    )
    if not taken:
        return None
    reading = PanelReading.objects.select_related("panel__study", "by").get(pk=pk)
    panel = reading.panel
    try:
        said = f"Read back: {sync(panel, everyone=True, watch=_Progress(reading), patience=PATIENCE)}"
    except ReadingTaken as taken_over:
        logger.warning("%s", taken_over)
        return None
    except (NotReady, NotSetUp, PanelError) as why:
        _end(reading, PanelReading.State.FAILED, str(why))
    except Exception:
        logger.exception("Reading %s failed", pk)
        _end(reading, PanelReading.State.FAILED, "Something went wrong on our side; the log has the details.")
    else:
        _end(reading, PanelReading.State.DONE, said)
        log_act(study=panel.study, by=reading.by, message=said)
    return panel


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
