"""Visits of a participant who is erased: what must be settled before, and the amounts and days that are kept."""

from collections.abc import Iterator
from decimal import Decimal

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotator.models import (
    ErasedVisit,
    KnownMismatch,
    PanelAct,
    PanelEvent,
    PanelRecord,
    Participant,
    PersonalLink,
)
from annotator.panels.platforms import get_platform
from annotator.panels.services.erased.digests import KEY, digest_of
from annotator.panels.services.retention.unsettled import unread_visits
from annotator.panels.states import PAID, UNDECIDED, UNSETTLED_ACTS, Kind, State
from annotator.selectors.visits import completed_visits
from evaluation.services.installation_keys import key_problem

ZERO = Decimal("0.00")


def unsettled_visits(participant: Participant) -> Iterator[str]:
    """A sentence for each submission that the platform has not decided on, and each payment that has no known end; and
    one where nothing can be kept by which the visits would be recognised."""
    records = _records_of(participant)
    label = get_platform(participant.platform).label
    for record in records.filter(status__in=UNDECIDED).order_by("pk"):
        yield (
            f"Submission {record.external_id} is {record.get_status_display()} on {label}. It must be approved, "
            "rejected or returned first."
        )
    for act in PanelAct.objects.filter(record__in=records, state__in=UNSETTLED_ACTS).select_related("record"):
        yield f"The {act.get_kind_display()} of submission {act.record.external_id} is {act.get_state_display()}."
    for visit in unread_visits(participant.study).filter(participant=participant).order_by("pk"):
        yield f"{label} has not said yet what became of submission {visit.external_id}. Refresh from it first."
    if records.exists() and (problem := key_problem(KEY)):
        yield problem


def names_there(participant: Participant) -> Iterator[str]:
    """The platform's ids of their submissions, as its own records have them, and of the person."""
    for names in _records_of(participant).values_list("external_id", "participant_id"):
        yield from filter(None, names)


def erase_visits(participant: Participant) -> None:
    """Keep amount and day of what was paid; delete the platform's records and events, acts, acknowledged mismatches,
    and the personal link that the participant came by."""
    study = participant.study
    records = list(_records_of(participant).order_by("pk"))
    names = {participant.external_id, *participant.submissions.values_list("external_id", flat=True)}
    names = (names | set(names_there(participant))) - {""}
    for record in records:
        _keep_pay(participant, record)
    if not records:
        for stay in completed_visits(Participant.objects.filter(pk=participant.pk)).values():
            ErasedVisit.objects.create(study=study, pay=study.pay or ZERO, day=stay.ended.date())
    PanelAct.objects.filter(record__in=records).delete()
    PanelRecord.objects.filter(pk__in=[each.pk for each in records]).delete()
    _delete_events(participant, names)
    for mismatch in KnownMismatch.objects.filter(panel__study=study):
        about = mismatch.key.split(":")
        if names & set(about) or any(
            f"#{pk}" in about for pk in participant.submissions.values_list("pk", flat=True)
        ):
            mismatch.delete()
    if participant.platform == "personal":
        PersonalLink.objects.filter(study=study, label=participant.external_id).delete()


def _records_of(participant: Participant) -> QuerySet[PanelRecord]:
    """The panel's records of their visits, whether linked or known by an id alone."""
    theirs = Q(submission__participant=participant)
    visits = participant.submissions.exclude(external_id="").values("external_id")
    theirs |= Q(external_id__in=visits, panel__platform=participant.platform, submission=None)
    if participant.external_id:
        theirs |= Q(
            participant_id=participant.external_id, panel__platform=participant.platform, submission=None
        )
    return PanelRecord.objects.filter(theirs, panel__study=participant.study_id)


def _keep_pay(participant: Participant, record: PanelRecord) -> None:
    done = PanelAct.objects.filter(record=record, state=State.DONE)
    paid = record.status in PAID or done.filter(kind=Kind.APPROVE).exists()
    bonuses = done.filter(kind=Kind.BONUS).values_list("amount", flat=True)
    moment = record.completed_at or record.started_at or record.status_at
    ErasedVisit.objects.create(
        study=participant.study,
        digest=digest_of(record.panel.platform, record.external_id),
        status=record.status,
        pay=(participant.study.pay or ZERO) if paid else ZERO,
        bonuses=sum((each or ZERO for each in bonuses), ZERO),
        day=moment.date(),
    )


def _delete_events(participant: Participant, names: set[str]) -> None:
    """Of this study's panel, and those that are nobody's yet."""
    theirs = Q()
    for name in names:
        theirs |= Q(written__contains=f'"{name}"')
    if not theirs:
        return
    events = PanelEvent.objects.annotate(written=Cast("payload", TextField()))
    own = Q(panel__study=participant.study_id) | Q(panel=None, platform=participant.platform)
    events.filter(own, theirs).delete()
