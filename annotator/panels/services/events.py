"""A panel's webhooks: stored before anything is done about them, applied in the order in which things happened.

They come at least once and in any order, some for studies that are not here, and some before the participant is. So an
event is kept by its id, what is older than what is known changes nothing, and all of it can be played again.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from annotator.models import Panel, PanelEvent, PanelStatus, Submission
from annotator.panels.platforms import get_api
from annotator.panels.platforms.api import ReportedEvent
from annotator.panels.selectors import studies_there
from annotator.panels.services.erased.digests import is_erased
from annotator.panels.services.recruiting import note_study_status
from annotator.panels.services.submission_records import ReportedState, note_status

logger = logging.getLogger(__name__)

# An event that was nobody's for so long is of a study that is not here.
ORPHAN_DAYS = 30
# Every attempt to deliver is signed again; what was signed longer ago is sent again by somebody else.
FRESH = timedelta(minutes=5)


class EventDeferred(Exception):
    """Why an event can't be applied, in words."""


def receive(platform: str, raw: bytes, headers: Mapping[str, str]) -> PanelEvent | None:
    """Store a delivery once, whatever it is about. Raises NoSecret, NotSigned or NotAnEvent; then nothing is stored.
    Nor is anything where it is a copy of one that was made before: then the answer is None.

    `raw` is the body byte by byte as it came: that is what was signed.
    """
    api = get_api(platform)
    delivery = api.read_delivery(raw, headers)
    known = PanelEvent.objects.filter(platform=platform, signed=delivery.signature_hash)
    is_copy = known.exclude(event_id=delivery.event_id).exists()
    if is_copy or delivery.signed_at < timezone.now() - FRESH:
        logger.warning(
            "A webhook signed at %s was sent again by somebody, and is ignored.", delivery.signed_at
        )
        return None
    event, _ = PanelEvent.objects.get_or_create(
        platform=platform,
        event_id=delivery.event_id,
        defaults={
            "signed": delivery.signature_hash,
            "kind": delivery.kind[:60],
            "occurred_at": delivery.occurred_at,
            "payload": delivery.payload,
            "panel": _find_panel(platform, api.read_event(delivery.payload)),
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
    for event in events.select_related("panel__study").order_by("occurred_at", "pk"):
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
    if event.pk is not None:
        _note(event, applied_at=timezone.now(), problem="")
    return True


def _note(event: PanelEvent, **fields: Any) -> None:
    if event.pk is not None:  # else it came after its study's ids were deleted
        PanelEvent.objects.filter(pk=event.pk).update(panel=event.panel, **fields)


def _apply(event: PanelEvent) -> None:
    reported = get_api(event.platform).read_event(event.payload)
    if reported.submission_id and is_erased(event.platform, reported.submission_id):
        event.delete()
        return
    event.panel = event.panel or _find_panel(event.platform, reported)
    if event.panel is None:
        raise EventDeferred(f"No study here belongs to {reported.submission_id or reported.study_id}.")
    if event.panel.study.ids_deleted_at is not None:
        event.delete()
        return
    if not reported.status:
        return
    if reported.submission_id:
        note_status(event.panel, _seen(reported, event.occurred_at))
    else:
        note_study_status(event.panel, reported.study_id, reported.status, event.occurred_at)


def _seen(reported: ReportedEvent, at: datetime) -> ReportedState:
    if reported.status == PanelStatus.UNKNOWN:
        raise EventDeferred(f"A submission's status {reported.word!r} is not known here.")
    return ReportedState(
        external_id=reported.submission_id,
        study_id=reported.study_id,
        participant_id=reported.participant_id,
        status=reported.status,
        at=at,
    )


def _find_panel(platform: str, reported: ReportedEvent) -> Panel | None:
    """The study that an event is about. A submission's event may not name its study: it is known by the submission,
    from the panel's list or from the address that the participant came by."""
    panels = Panel.objects.filter(platform=platform)
    if reported.study_id:
        study = reported.study_id
        return panels.filter(Q(external_id=study) | Q(linked_studies__external_id=study)).first()
    return (
        panels.filter(records__external_id=reported.submission_id).first()
        or panels.filter(study__participants__submissions__external_id=reported.submission_id).first()
    )


def _adopt(panel: Panel) -> None:
    """Give the panel the waiting events that were nobody's when they came and are its own."""
    own = {
        *studies_there(panel),
        *panel.records.values_list("external_id", flat=True),
        *Submission.objects.filter(participant__study=panel.study_id).values_list("external_id", flat=True),
    } - {""}
    since = timezone.now() - timedelta(days=ORPHAN_DAYS)
    orphans = PanelEvent.objects.filter(
        platform=panel.platform, panel=None, applied_at=None, received_at__gte=since
    )
    read = get_api(panel.platform).read_event
    about = ((pk, read(payload)) for pk, payload in orphans.values_list("pk", "payload"))
    found = [pk for pk, reported in about if own & {reported.study_id, reported.submission_id}]
    for at in range(0, len(found), settings.ASSAY_BATCH_SIZE):
        PanelEvent.objects.filter(pk__in=found[at : at + settings.ASSAY_BATCH_SIZE]).update(panel=panel)
