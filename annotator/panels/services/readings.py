"""Reading a study back from its panel: its state, its submissions, and the bonuses that the panel shows on them.

A list of submissions tells no bonuses; each submission has to be asked for by itself. So a reading by the clock looks
only where a bonus was paid from here and has not been seen yet, one that somebody asks for looks everywhere, and
neither at more than `BONUS_READS` submissions: those that wait longest come first, and the next reading goes on.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from time import sleep

from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelRecord, PanelStatus
from annotator.panels.platforms import get_api, get_platform
from annotator.panels.platforms.api import PanelSubmission, PlatformClient
from annotator.panels.platforms.errors import NOT_FOUND, PanelBusy, PanelError, PanelUnreachable
from annotator.panels.selectors import studies_there
from annotator.panels.services.connection import open_client
from annotator.panels.services.recruiting import drafted_id, sync_study
from annotator.panels.services.submission_records import ENDINGS, ReportedState, note_status
from evaluation.counting import counted
from evaluation.extension import Watch
from evaluation.refusals import Refused

logger = logging.getLogger(__name__)

BONUS_READS = 500
# Waiting for a panel that is busy, it gives a sign of life as often.
NAP_SECONDS = 10.0
AT_WORK = (PanelStatus.RESERVED, PanelStatus.ACTIVE)


@dataclass(frozen=True)
class ReadingResult:
    """The result of a reading, and how much of it was news. `left` says why some bonuses were not read."""

    submissions: int
    changed: int
    bonuses: int = 0
    left: str = ""

    def __str__(self) -> str:
        news = f"{counted(self.submissions, 'submission')}, {self.changed:,} changed"
        bonuses = f"; bonuses of {self.bonuses:,}" if self.bonuses else ""
        return f"{news}{bonuses}.{f' {self.left}' if self.left else ''}"


def ignore_progress(phase: str, done: int, total: int) -> None:
    pass


def sync(
    panel: Panel, *, everyone: bool = False, watch: Watch = ignore_progress, patience: float | None = None
) -> ReadingResult:
    """The study, its submissions, and bonuses. Raises Refused, NotSetUp or PanelError.

    `everyone`: bonuses of all submissions, and not only where one that was paid from here has not been seen yet.
    """
    sync_study(panel)
    watch("", 0, 0)
    synced = sync_submissions(panel, watch=watch, patience=patience)
    read, left = read_bonuses(panel, everyone=everyone, watch=watch, patience=patience)
    return replace(synced, bonuses=read, left=left)


def sync_submissions(
    panel: Panel, *, watch: Watch = ignore_progress, patience: float | None = None
) -> ReadingResult:
    """Read all of the study's submissions back, and do what each one's state calls for."""
    drafted_id(panel)
    # The panel's answers are true of a moment after this one; an event that occurs meanwhile is newer.
    asked = timezone.now()
    found: list[PanelSubmission] = []
    with _client(panel, patience, watch) as client:
        for study in studies_there(panel):
            try:
                found += client.list_submissions(study, watch=lambda n, of: watch("reading the list", n, of))
            except PanelError as error:
                # A linked study that is gone keeps nobody from reading the others.
                if error.status != NOT_FOUND or study == panel.external_id:
                    raise
    known = {
        each.external_id: each
        for each in PanelRecord.objects.filter(panel=panel).select_related("panel", "linked_study")
    }
    news = [each for each in found if not _is_settled(known.get(each.id), each)]
    for n, each in enumerate(news):
        watch("applying changes", n, len(news))
        note_status(panel, _seen(each, asked))
    Panel.objects.filter(pk=panel.pk).update(synced_at=asked)
    return ReadingResult(len(found), len(news))


def read_visit(panel: Panel, external_id: str) -> PanelRecord:
    """Read one submission with its bonuses, and nothing else of the study; apply its state.

    Raises Refused, NotSetUp or PanelError; also where the panel has it under another study.
    """
    drafted_id(panel)
    asked = timezone.now()
    with open_client(panel.platform) as client:
        there = client.get_submission(external_id)
    if there.study_id not in ("", *studies_there(panel)):
        label = get_platform(panel.platform).label
        raise Refused(f"{external_id} belongs to another study on {label}, {there.study_id}.")
    record = note_status(panel, _seen(there, asked))
    if record is None:
        raise Refused("Whoever made this submission was erased.")
    _note_bonuses(record, there, asked)
    return record


def _client(panel: Panel, patience: float | None, watch: Watch) -> PlatformClient:
    if patience is None:
        return open_client(panel.platform)
    return open_client(panel.platform, patience=patience, wait=_napping(watch))


def _napping(watch: Watch) -> Callable[[float], None]:
    """Wait in short pieces, so that nobody takes for lost who only waits."""

    def wait(seconds: float) -> None:
        left = seconds
        while left > 0:
            watch("waiting for the panel", round(seconds - left), round(seconds))
            sleep(min(left, NAP_SECONDS))
            left -= NAP_SECONDS

    return wait


def _is_settled(record: PanelRecord | None, there: PanelSubmission) -> bool:
    """True if all of this is known, and everything done about it."""
    if record is None or record.submission_id is None or record.study_there != there.study_id:
        return False
    same = (record.status, record.code, record.started_at, record.completed_at, record.return_asked_at) == (
        there.status,
        there.code,
        there.started_at,
        there.completed_at,
        there.return_requested_at,
    )
    return same and record.applied == (there.status if there.status in ENDINGS else "")


def _seen(there: PanelSubmission, asked: datetime) -> ReportedState:
    return ReportedState(
        external_id=there.id,
        study_id=there.study_id,
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
    watch: Watch = ignore_progress,
    patience: float | None = None,
) -> tuple[int, str]:
    """Read the bonuses of submissions; return for how many, and why not for all. What was read before is kept.

    One that the panel refuses to show keeps none of the others; a panel that is busy or can't be reached ends it.
    """
    wanted = _bonuses_to_read(panel, everyone)
    chosen, read, refused, why = wanted[:BONUS_READS], 0, 0, ""
    if not chosen:
        return 0, ""
    with _client(panel, patience, watch) as client:
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
    left = f"Bonuses of {rest:,} more will be read on the next refresh." if rest else ""
    return read, f"{_refusals(refused, why)} {left}".strip()


def _refusals(refused: int, why: str) -> str:
    return f"Bonuses of {refused:,} could not be read, the last because: {why}" if refused else ""


def _read_bonuses_of(client: PlatformClient, record: PanelRecord) -> None:
    """Raises PanelError. Of a submission that the panel does not know nothing is known, and it has been looked at."""
    asked = timezone.now()
    try:
        there = client.get_submission(record.external_id)
    except PanelError as error:
        if error.status == NOT_FOUND:
            _note_bonuses(record, None, asked)
        raise
    _note_bonuses(record, there, asked)


def _note_bonuses(record: PanelRecord, there: PanelSubmission | None, asked: datetime) -> None:
    """The bonuses that the panel shows, unless a later answer is known."""
    shown = sum(there.bonuses, Decimal(0)) if there is not None else None
    older = PanelRecord.objects.filter(Q(bonuses_at=None) | Q(bonuses_at__lt=asked), pk=record.pk)
    older.update(bonuses=shown, bonuses_at=asked)


def _bonuses_to_read(panel: Panel, everyone: bool) -> list[PanelRecord]:
    """First those with a bonus of ours that was not seen since it must show; then the others, longest unread first."""
    records = PanelRecord.objects.filter(panel=panel)
    paid = PanelAct.objects.filter(
        panel=panel, kind=PanelAct.Kind.BONUS, state__in=[PanelAct.State.DONE, PanelAct.State.UNKNOWN]
    )
    shows = Coalesce("ended_at", "sent_at") + get_api(panel.platform).bonuses_show_within
    unseen = Q(record__bonuses_at=None) | Q(record__bonuses_at__lt=shows)
    due = set(paid.filter(unseen).values_list("record", flat=True))
    if not everyone:
        return [each for each in records.order_by("pk") if each.pk in due]
    in_order = records.exclude(status__in=AT_WORK).order_by(F("bonuses_at").asc(nulls_first=True), "pk")
    return sorted(in_order, key=lambda each: each.pk not in due)
