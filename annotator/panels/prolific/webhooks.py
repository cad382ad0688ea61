"""Prolific's webhooks: the deliveries that come, and what they say."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from annotator.panels.platforms.api import Delivery, ReportedEvent
from annotator.panels.platforms.errors import NotAnEvent, NotSigned
from annotator.panels.prolific import signature
from annotator.panels.prolific.statuses import study_status, submission_status
from evaluation.json_bodies import BadJSON, read_object

STUDY_STATUS, SUBMISSION_STATUS = "study.status.change", "submission.status.change"
# What Assay acts on.
KINDS = (SUBMISSION_STATUS, STUDY_STATUS)
# The time of signing has whole seconds.
SLACK = timedelta(minutes=1)
# Above this a number of seconds would be in the year 5138; it counts milliseconds.
SECONDS_END = 1e11


def read_delivery(raw: bytes, headers: Mapping[str, str], secret: str) -> Delivery:
    """A delivery that is signed with the secret. Raises NotSigned or NotAnEvent."""
    written = headers.get("X-Prolific-Request-Timestamp", "")
    if not signature.verify(raw, written, headers.get("X-Prolific-Request-Signature", ""), secret):
        raise NotSigned("The signature is not that of this body and the secret set here.")
    payload = _read(raw)
    signed = hashlib.sha256(written.encode() + raw).hexdigest()
    # The id is not signed: a copy may have another one.
    event_id = headers.get("X-Event-ID", "").strip()
    return Delivery(
        event_id=event_id if 0 < len(event_id) <= 120 else signed,
        signature_hash=signed,
        kind=payload["event_type"],
        occurred_at=_occurred(headers.get("X-Timestamp", ""), written),
        signed_at=_moment(written),
        payload=payload,
    )


def read_event(payload: Mapping[str, Any]) -> ReportedEvent:
    """The payload in our words. A submission's event does not name its study."""
    kind, about, word = payload["event_type"], payload["resource_id"], str(payload.get("status") or "")
    if kind.startswith("study."):
        status = study_status(word) if kind == STUDY_STATUS else ""
        return ReportedEvent(study_id=about, status=status, word=word)
    return ReportedEvent(
        submission_id=about,
        participant_id=str(payload.get("participant_id") or ""),
        status=submission_status(word) if kind == SUBMISSION_STATUS else "",
        word=word,
    )


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
