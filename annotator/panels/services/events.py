"""A panel's webhooks: stored before anything is done about them, applied in the order in which things happened.

They come at least once and in any order, some for studies that are not here, and some before the participant is. So an
event is kept by its id, what is older than what is known changes nothing, and all of it can be played again.
"""

import hashlib
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from annotator.models import Panel, PanelEvent, PanelStatus, Submission
from annotator.panels.prolific import signature
from annotator.panels.prolific.statuses import study_status, submission_status
from annotator.panels.services.submission_records import ReportedState, note_status
from evaluation.json_bodies import BadJSON, read_object

logger = logging.getLogger(__name__)

PLATFORM = "prolific"
STUDY_STATUS, SUBMISSION_STATUS = "study.status.change", "submission.status.change"
# An event that was nobody's for so long is of a study that is not here.
ORPHAN_DAYS = 30
# Every attempt to deliver is signed again; what was signed longer ago is sent again by somebody else.
FRESH = timedelta(minutes=5)
# The time of signing has whole seconds.
SLACK = timedelta(minutes=1)
# Above this a number of seconds would be in the year 5138; it counts milliseconds.
SECONDS_END = 1e11


class NoSecret(Exception):
    """There is no secret here, so no delivery can be verified."""


class NotSigned(Exception):
    """The signature is missing or wrong: the sender does not know the secret."""


class NotAnEvent(Exception):
    """Signed, but it can't be read."""


class EventDeferred(Exception):
    """Why an event can't be applied, in words."""


def receive(raw: bytes, headers: Mapping[str, str]) -> PanelEvent | None:
    """Store a delivery once, whatever it is about. Raises NoSecret, NotSigned or NotAnEvent; then nothing is stored.
    Nor is anything where it is a copy of one that was made before: then the answer is None.

    `raw` is the body byte by byte as it came: that is what was signed.
    """
    secret = settings.ASSAY_PROLIFIC_WEBHOOK_SECRET
    if not secret:
        raise NoSecret("ASSAY_PROLIFIC_WEBHOOK_SECRET is not set.")
    written = headers.get("X-Prolific-Request-Timestamp", "")
    if not signature.verify(raw, written, headers.get("X-Prolific-Request-Signature", ""), secret):
        raise NotSigned("The signature is not that of this body and the secret set here.")
    payload = _read(raw)
    signed = hashlib.sha256(written.encode() + raw).hexdigest()
    # The id is not signed: a copy may have another one.
    event_id = headers.get("X-Event-ID", "").strip()
    event_id = event_id if 0 < len(event_id) <= 120 else signed
    known = PanelEvent.objects.filter(platform=PLATFORM, signed=signed).exclude(event_id=event_id)
    if _moment(written) < timezone.now() - FRESH or known.exists():
        logger.warning("A webhook signed at %s was sent again by somebody, and is ignored.", written)
        return None
    panel = _find_panel(payload)
    event, _ = PanelEvent.objects.get_or_create(
        platform=PLATFORM,
        event_id=event_id,
        defaults={
            "signed": signed,
            "kind": payload["event_type"][:60],
            "occurred_at": _occurred(headers.get("X-Timestamp", ""), written),
            "payload": payload,
            "panel": panel,
        },
    )
    return event


def apply_events(panel: Panel | None = None, *, again: bool = False) -> int:
    """Apply what waits, oldest first, and return how many events that were.

    Of a panel, also what could not be applied before: its study or its participant may be known by now. `again` plays
    all of the panel's events once more, which changes nothing where nothing was lost.
    """
    events = PanelEvent.objects.all() if again else PanelEvent.objects.filter(applied_at=None)
    if panel is None:
        events = events.filter(problem="")
    else:
        _adopt(panel)
        events = events.filter(panel=panel)
    applied = 0
    for event in events.select_related("panel").order_by("occurred_at", "pk"):
        applied += _apply_one(event)
    return applied


def _apply_one(event: PanelEvent) -> bool:
    try:
        _apply(event)
    except EventDeferred as why:
        _note(event, problem=str(why)[:300])
        return False
    except Exception:
        # One that can't be applied must not keep the others; it is tried again with the panel's next sync.
        logger.exception("Event %s could not be applied.", event.event_id)
        _note(event, problem="It could not be applied; see the server's log.")
        return False
    _note(event, applied_at=timezone.now(), problem="")
    return True


def _note(event: PanelEvent, **fields: Any) -> None:
    PanelEvent.objects.filter(pk=event.pk).update(panel=event.panel, **fields)


def _apply(event: PanelEvent) -> None:
    event.panel = event.panel or _find_panel(event.payload)
    if event.panel is None:
        raise EventDeferred(f"No study here belongs to {event.payload['resource_id']}.")
    if event.kind == STUDY_STATUS:
        _note_study(event.panel, study_status(event.payload.get("status", "")), event.occurred_at)
    elif event.kind == SUBMISSION_STATUS:
        note_status(event.panel, _seen(event))


def _seen(event: PanelEvent) -> ReportedState:
    word = event.payload.get("status", "")
    status = submission_status(word)
    if status == PanelStatus.UNKNOWN:
        raise EventDeferred(f"A submission's status {word!r} is not known here.")
    return ReportedState(
        external_id=event.payload["resource_id"],
        participant_id=event.payload.get("participant_id", ""),
        status=status,
        at=event.occurred_at,
    )


def _note_study(panel: Panel, status: str, at: datetime) -> None:
    """The study's state there, unless something newer is known."""
    older = Q(status_at=None) | Q(status_at__lte=at)
    Panel.objects.filter(older, pk=panel.pk).update(status=status, status_at=at)


def _find_panel(payload: Mapping[str, Any]) -> Panel | None:
    """The study that an event is about. A submission's event does not name its study: it is known by the submission,
    from the panel's list or from the address that the participant came by."""
    about = payload["resource_id"]
    panels = Panel.objects.filter(platform=PLATFORM)
    if payload["event_type"].startswith("study."):
        return panels.filter(external_id=about).first()
    return (
        panels.filter(records__external_id=about).first()
        or panels.filter(study__participants__submissions__external_id=about).first()
    )


def _adopt(panel: Panel) -> None:
    """Give the panel the waiting events that were nobody's when they came and are its own."""
    own = {
        panel.external_id,
        *panel.records.values_list("external_id", flat=True),
        *Submission.objects.filter(participant__study=panel.study_id).values_list("external_id", flat=True),
    } - {""}
    since = timezone.now() - timedelta(days=ORPHAN_DAYS)
    orphans = PanelEvent.objects.filter(
        platform=panel.platform, panel=None, applied_at=None, received_at__gte=since
    )
    found = [pk for pk, payload in orphans.values_list("pk", "payload") if payload["resource_id"] in own]
    for at in range(0, len(found), settings.ASSAY_BATCH_SIZE):
        PanelEvent.objects.filter(pk__in=found[at : at + settings.ASSAY_BATCH_SIZE]).update(panel=panel)


def _read(raw: bytes) -> dict[str, Any]:
    try:
        payload = read_object(raw)
    except BadJSON as wrong:
        raise NotAnEvent(str(wrong)) from None
    for name in ("event_type", "resource_id"):
        if not isinstance(payload.get(name), str) or not payload[name]:
            raise NotAnEvent(f"{name} is missing.")
    return payload


def _occurred(written: str, signed_at: str) -> datetime:
    """The event's time by the panel's clock; nothing is signed before it has happened.

    Only the time of signing is signed, and it is another one with every attempt to deliver.
    """
    signed = _moment(signed_at)
    occurred = _moment(written) if written else signed
    return occurred if occurred <= signed + SLACK else signed


def _moment(written: str) -> datetime:
    """A time in a header: seconds or milliseconds since 1970, or a date."""
    try:
        seconds = float(written)
    except ValueError:
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            raise NotAnEvent(f"The timestamp is {written!r}.") from None
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    try:
        return datetime.fromtimestamp(seconds / 1000 if seconds > SECONDS_END else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise NotAnEvent(f"The timestamp is {written!r}.") from None
