"""The panel's record of a submission, from a webhook or a sync alike, and its effect on the visit here."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from annotator.models import (
    Assignment,
    LinkedStudy,
    Panel,
    PanelRecord,
    PanelStatus,
    Participant,
    ParticipantOutcome,
    Submission,
)
from annotator.panels.selectors import studies_there
from annotator.panels.services.erased.digests import is_erased
from annotator.selectors.visits import has_judged
from annotator.services.slots.replacements import replace_excluded
from annotator.services.work.leave import give_back
from annotator.services.work.progress import finish
from annotator.services.work.submit import lock_participant
from evaluation.services.exclusions import AlreadyExcluded, exclude

# What ends a visit here too.
ENDINGS = {
    PanelStatus.RETURNED: ParticipantOutcome.RETURNED,
    PanelStatus.TIMED_OUT: ParticipantOutcome.TIMED_OUT,
}
REASONS = {
    PanelStatus.RETURNED: "The participant returned the study on the panel.",
    PanelStatus.TIMED_OUT: "The participant ran out of time on the panel.",
}
# Of two states at the same time the one further on in a submission's life holds, whichever is told first.
LIFE = [PanelStatus.UNKNOWN, *(status for status in PanelStatus if status != PanelStatus.UNKNOWN)]


@dataclass(frozen=True)
class ReportedState:
    """The panel's word about one submission, and as of when."""

    external_id: str
    participant_id: str
    status: str
    at: datetime
    # The panel's id of its study; empty where that is not said.
    study_id: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None
    code: str = ""
    return_asked_at: datetime | None = None
    # Whether it tells if a return is asked for. Only the submission itself does, which can also take that back.
    tells_requests: bool = False


def note_status(panel: Panel, seen: ReportedState) -> PanelRecord | None:
    """Keep what the panel says, unless something newer is known, and do what it calls for here, once. None, and nothing
    is kept, of a submission whose participant was erased, and of a study that was unlinked meanwhile.

    A return or a time-out frees the participant's place at once and ends their way. Who had finished keeps their
    outcome. What was submitted in that visit follows the panel's policy; only the work of somebody who finished and
    then timed out is never discarded without a person's decision.
    """
    studies = studies_there(panel)
    if seen.study_id and studies and seen.study_id not in studies:
        return None
    with transaction.atomic():
        submission = _lock_visit(panel, seen)
        # After the lock: they may have been erased while this waited for it.
        if submission is None and is_erased(panel.platform, seen.external_id):
            return None
        record = _keep(panel, seen, submission)
        if record.status not in ENDINGS:
            _set_applied(record, "")
            return record
        if submission is None or record.applied == record.status:
            return record
        _end_visit(submission, ENDINGS[PanelStatus(record.status)])
        discards = _discards(panel, submission, record.status)
        if not discards:
            _set_applied(record, record.status)
    if discards:
        # Not in the same transaction: who enters locks the study before the participant. What is cut short here is
        # done by the next event or sync, because nothing says yet that it was applied.
        with transaction.atomic():
            _discard(submission, REASONS[PanelStatus(record.status)])
            _set_applied(record, record.status)
    return record


def _lock_visit(panel: Panel, seen: ReportedState) -> Submission | None:
    """The visit linked to it, or ours of that id; its participant locked as submitting does it.

    Of several, that of the panel's own participant. One that came under another person's or study's id waits until
    somebody links it.
    """
    known = PanelRecord.objects.filter(panel=panel, external_id=seen.external_id)
    record = known.select_related("panel", "linked_study").first()
    person = seen.participant_id or (record.participant_id if record is not None else "")
    study = seen.study_id or (record.study_there if record is not None else "")
    studies = [study] if study else studies_there(panel)
    linked = Q(panel_record__panel=panel, panel_record__external_id=seen.external_id)
    same = Q(panel_record=None, external_id=seen.external_id)
    visits = Submission.objects.filter(linked | same, participant__study=panel.study_id)
    fitting = {
        (_is_linked(visit), visit.participant.external_id == person, -visit.pk): visit
        for visit in visits.select_related("participant", "panel_record")
        if _is_linked(visit) or is_same_visit(studies, person, visit)
    }
    if not fitting:
        return None
    found = fitting[max(fitting)]
    participant = lock_participant(found.participant.token)
    submission = Submission.objects.get(pk=found.pk)
    submission.participant = participant
    return submission


def _is_linked(visit: Submission) -> bool:
    return hasattr(visit, "panel_record")


def _keep(panel: Panel, seen: ReportedState, submission: Submission | None) -> PanelRecord:
    PanelRecord.objects.get_or_create(
        panel=panel,
        external_id=seen.external_id,
        defaults={
            "participant_id": seen.participant_id,
            "status": seen.status,
            "status_at": seen.at,
        },
    )
    record = PanelRecord.objects.select_for_update(no_key=True).get(panel=panel, external_id=seen.external_id)
    if _is_news(record, seen):
        record.status, record.status_at = seen.status, seen.at
    if seen.study_id:
        linked = LinkedStudy.objects.filter(panel=panel, external_id=seen.study_id)
        record.linked_study = linked.first() if seen.study_id != panel.external_id else None
    record.participant_id = record.participant_id or seen.participant_id
    record.submission = record.submission or submission
    record.started_at = seen.started_at or record.started_at
    record.completed_at = seen.completed_at or record.completed_at
    record.code = seen.code or record.code
    if seen.tells_requests:
        record.return_asked_at = seen.return_asked_at
    record.save()
    return record


def _is_news(record: PanelRecord, seen: ReportedState) -> bool:
    """A word that is not known here takes nothing back that is."""
    if seen.status == PanelStatus.UNKNOWN:
        return False
    rank = LIFE.index(PanelStatus(seen.status)), LIFE.index(PanelStatus(record.status))
    return (seen.at, rank[0]) > (record.status_at, rank[1])


def _set_applied(record: PanelRecord, applied: str) -> None:
    record.applied = applied
    record.save(update_fields=["applied"])


def _end_visit(submission: Submission, outcome: ParticipantOutcome) -> None:
    """End the participant's way if this is the visit that they are on; of an earlier one only the visit."""
    participant = submission.participant
    if participant.outcome == "" and _later(submission) is None:
        give_back(participant)
        finish(participant, outcome)
        submission.refresh_from_db(fields=["outcome", "ended_at"])
    elif submission.outcome == "":
        submission.outcome, submission.ended_at = outcome, _last_moment(submission)
        submission.save(update_fields=["outcome", "ended_at"])


def _later(submission: Submission) -> Submission | None:
    """The visit that the same participant made next."""
    visits = Submission.objects.filter(
        participant=submission.participant_id, entered_at__gt=submission.entered_at
    )
    return visits.order_by("entered_at").first()


def _last_moment(submission: Submission) -> datetime:
    later = _later(submission)
    return later.entered_at if later is not None else submission.entered_at


def _discards(panel: Panel, submission: Submission, status: str) -> bool:
    # The policy of now: whoever synced may have read the panel a while ago.
    if not Panel.objects.filter(pk=panel.pk, returned=Panel.Returned.DISCARD).exists():
        return False
    return status == PanelStatus.RETURNED or submission.outcome == ParticipantOutcome.TIMED_OUT


def _discard(submission: Submission, reason: str) -> None:
    """Leave out what was submitted in this visit, and have it judged again. Who has judged nothing stays as they are:
    nothing is to be left out, and they may take the study again."""
    participant: Participant = submission.participant
    if not has_judged(participant, submission.visit_number):
        return
    study = participant.study
    if participant.submissions.count() == 1:
        with suppress(AlreadyExcluded):
            exclude(study=study, rater=participant.rater, reason=reason)
    else:
        later = _later(submission)
        done = Assignment.objects.filter(
            participant=participant, judgment__isnull=False, ended_at__gte=submission.entered_at
        )
        if later is not None:
            done = done.filter(ended_at__lt=later.entered_at)
        for assignment in done.select_related("judgment"):
            with suppress(AlreadyExcluded):
                exclude(study=study, judgment=assignment.judgment, reason=reason)
    replace_excluded(study)


def is_same_visit(studies: Collection[str], person: str, submission: Submission) -> bool:
    """True of a visit that has the submission's other ids, too, besides its own, by one of the studies there; an id
    that is missing fits.

    The address that a participant opens is theirs to change.
    """
    came_as, came_for = submission.participant.external_id, submission.external_study_id
    return came_as in ("", person or came_as) and (came_for in ("", *studies) or not any(studies))
