"""Prolific's answers, typed: studies, submissions, bonuses, filters. An answer that is no such thing is an error."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from annotator.panels.platforms.api import BonusBatch, PanelStudy, PanelSubmission
from annotator.panels.platforms.errors import PanelError
from annotator.panels.prolific.filters import KnownFilter, as_stored
from annotator.panels.prolific.statuses import study_status, submission_status


@dataclass(frozen=True)
class Subscription:
    """To a kind of event. `confirmation` is what the panel wants back before it sends any."""

    id: str
    kind: str
    target: str
    enabled: bool
    confirmation: str = ""


def odd(what: str) -> PanelError:
    return PanelError(200, f"Prolific's answer can't be read: {what}.", sent=True)


def results(answer: Any) -> list[Any]:
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        raise odd("there is no list of results")
    return list(answer["results"])


def count(answer: Any) -> int | None:
    meta = answer.get("meta")
    count = meta.get("count") if isinstance(meta, dict) else None
    return count if isinstance(count, int) else None


def text(answer: Any, *names: str, required: bool = False) -> str:
    """The first of these fields that is there."""
    if not isinstance(answer, dict):
        raise odd("an object was expected")
    for name in names:
        value = answer.get(name)
        if isinstance(value, str) and value:
            return value
    if required:
        raise odd(f"{names[0]} is missing")
    return ""


def whole(answer: Any, name: str) -> int:
    value = answer.get(name)
    return round(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def moment(answer: Any, name: str) -> datetime | None:
    written = text(answer, name)
    try:
        moment = datetime.fromisoformat(written) if written else None
    except ValueError:
        raise odd(f"{name} is {written!r}") from None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def read_study(answer: Any) -> PanelStudy:
    codes = answer.get("completion_codes") if isinstance(answer, dict) else None
    return PanelStudy(
        id=text(answer, "id", required=True),
        internal_name=text(answer, "internal_name"),
        status=study_status(text(answer, "status")),
        places=whole(answer, "total_available_places"),
        codes={text(each, "code"): text(each, "code_type") for each in codes or ()},
        eligibility=_eligibility(answer),
    )


def _eligibility(answer: Any) -> dict[str, Any]:
    """The filters as they are stored; nothing where the answer does not say them."""
    filters = _listed(answer, "filters", dict)
    if filters is None:
        return {}
    return {"filters": as_stored(filters), "devices": _listed(answer, "device_compatibility", str) or []}


def _listed(answer: Any, name: str, kind: type[Any]) -> list[Any] | None:
    found = answer.get(name)
    return [each for each in found if isinstance(each, kind)] if isinstance(found, list) else None


def read_submission(answer: Any, study: str) -> PanelSubmission:
    # A list names its fields otherwise than one submission by itself does.
    bonuses = answer.get("bonus_payments") if isinstance(answer, dict) else None
    return PanelSubmission(
        id=text(answer, "id", required=True),
        study_id=text(answer, "study_id") or study,
        participant_id=text(answer, "participant_id", "participant"),
        status=submission_status(text(answer, "status")),
        started_at=moment(answer, "started_at"),
        completed_at=moment(answer, "completed_at"),
        code=text(answer, "study_code", "entered_code"),
        return_requested_at=moment(answer, "return_requested"),
        bonuses=tuple(cents(each) for each in bonuses or ()),
    )


def read_batch(answer: Any) -> BonusBatch:
    return BonusBatch(text(answer, "id", required=True), cents(answer.get("amount")))


def cents(value: Any) -> Decimal:
    """An amount, which answers give in the hundredth part of the currency."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Decimal(round(value) if is_number else 0) / 100


def read_subscription(answer: Any, confirmation: str) -> Subscription:
    return Subscription(
        id=text(answer, "id", required=True),
        kind=text(answer, "event_type"),
        target=text(answer, "target_url"),
        enabled=answer.get("is_enabled") is not False,
        confirmation=confirmation,
    )


def read_filter(answer: Any) -> KnownFilter:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    return KnownFilter(
        id=text(answer, "filter_id"),
        title=text(answer, "title"),
        choices={str(label): str(key) for key, label in (choices or {}).items()},
        lowest=_limit(answer, "min"),
        highest=_limit(answer, "max"),
    )


def _limit(answer: Any, name: str) -> int | None:
    value = answer.get(name)
    return round(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
