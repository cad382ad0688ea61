"""Visits: whose they are, and what may become of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, Sum

from annotator.models import Assignment, AssignmentState, Participant, ParticipantOutcome, Submission
from annotator.recruiters import recruiters
from annotator.selectors.slots import next_release
from annotator.visit import Visit
from evaluation.database.compiled_queries import CompiledSelect, field_of
from evaluation.models import Exclusion, Role, Study
from evaluation.selectors import excluded_q, main_judgments

# How a way ends on which work was done, and mostly paid.
HANDED_IN = (
    ParticipantOutcome.COMPLETED,
    ParticipantOutcome.FAILED_QUALIFICATION,
    ParticipantOutcome.FAILED_ATTENTION,
)


def _known(study: int, platform: str, person: str) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study, platform=platform, external_id=person)


KNOWN = CompiledSelect(
    _known,
    study=field_of(Study, "id"),
    platform=field_of(Participant, "platform"),
    person=field_of(Participant, "external_id"),
)


def find_participant(study: Study, visit: Visit) -> Participant | None:
    """The participant whom this visit belongs to, if they have been here before."""
    if not visit.is_known:
        return None
    found = KNOWN.first(study=study.pk, platform=visit.platform, person=visit.external_id)
    if found is not None:
        found.study = study
    return found


def knows_session(participant: Participant, visit: Visit) -> bool:
    return Submission.objects.filter(participant=participant, external_id=visit.session_id).exists()


def may_resume(participant: Participant, visit: Visit) -> bool:
    """True where somebody whose way ended by a return or a time-out goes on with this visit, as a recruiter says."""
    if participant.outcome not in (ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT):
        return False
    if not recruiters().allows_reentry(participant, visit):
        return False
    return not Exclusion.objects.filter(rater=participant.rater_id, undone_at=None).exists()


def may_come_again(participant: Participant) -> bool:
    """True of somebody who completed a visit and is paid for a further one, which begins once the study is live."""
    if participant.outcome != ParticipantOutcome.COMPLETED:
        return False
    if participant.visit_number >= participant.study.visits:
        return False
    # Work that was handed in too late is handed in again first; it is of the visit that they had.
    if recruiters().is_completion_unpaid(participant):
        return False
    return not Exclusion.objects.filter(rater=participant.rater_id, undone_at=None).exists()


def begins_visit(participant: Participant, visit: Visit) -> bool:
    """True where this arrival begins the participant's next visit: one that the panel names and nobody has seen yet.

    Where a panel names none, the participant's own page begins it.
    """
    if not visit.session_id or visit.platform == "personal" or not may_come_again(participant):
        return False
    return not knows_session(participant, visit)


def has_items_left(participant: Participant, now: datetime) -> bool:
    """True if there is an item that the participant has not met and may get at once: a visit that began with a wait for
    what others hold could end without any work."""
    release = next_release(participant, now)
    return release is not None and release <= now


def is_named_by_panel(participant: Participant) -> bool:
    """True of somebody whose visits the panel names, so that the next one is taken there."""
    if participant.platform == "personal":
        return False
    return Submission.objects.filter(participant=participant).exclude(external_id="").exists()


class Stay(NamedTuple):
    """A completed visit, from its beginning to its end."""

    began: datetime
    ended: datetime

    @property
    def duration(self) -> timedelta:
        return self.ended - self.began


def completed_visits(people: QuerySet[Participant]) -> Mapping[tuple[int, int], Stay]:
    """The beginning and end of each completed visit of these participants, by participant and number.

    Of somebody with one visit from their consent on, of others by what the panel's submissions have of each.
    """
    once = people.filter(visit_number=1, outcome=ParticipantOutcome.COMPLETED)
    found = {
        (pk, 1): Stay(began, ended)
        for pk, began, ended in once.values_list("pk", "consented_at", "ended_at")
        if began and ended
    }
    found.update(
        _visits_of_several(Submission.objects.filter(participant__in=people.filter(visit_number__gt=1)))
    )
    return found


def _visits_of_several(submissions: QuerySet[Submission]) -> Iterator[tuple[tuple[int, int], Stay]]:
    began: dict[tuple[int, int], datetime] = {}
    ended: dict[tuple[int, int], list[datetime]] = defaultdict(list)
    rows = submissions.order_by("entered_at").values_list(
        "participant", "visit_number", "entered_at", "ended_at", "outcome"
    )
    for participant, number, entered_at, ended_at, outcome in rows:
        began.setdefault((participant, number), entered_at)
        if outcome == ParticipantOutcome.COMPLETED and ended_at is not None:
            ended[participant, number].append(ended_at)
    for key, ends in ended.items():
        yield key, Stay(began[key], min(ends))


def count_completed_visits(people: QuerySet[Participant]) -> int:
    """The number of visits that these people completed: all that they began, without those that did not come to it."""
    counted = people.aggregate(
        begun=Sum("visit_number"),
        incomplete=Count("pk", filter=~Q(outcome=ParticipantOutcome.COMPLETED)),
    )
    return int(counted["begun"] or 0) - int(counted["incomplete"])


def is_late_visit(participant: Participant, visit: Visit) -> bool:
    """True of a visit after the one in which their way ended: nothing that they did belongs to it."""
    if participant.outcome == "" or not visit.session_id:
        return False
    ended_in = Submission.objects.filter(participant=participant, outcome=participant.outcome)
    return not ended_in.filter(external_id=visit.session_id).exists()


def gets_same_code(participant: Participant) -> bool:
    """True where a further visit of somebody whose way has ended ends as theirs did, with its code.

    Work is submitted once. Who completed can do so on a further visit if every one in which they did is over without
    pay, and some of their work is kept.
    """
    if participant.outcome not in HANDED_IN:
        return True
    if participant.outcome != ParticipantOutcome.COMPLETED:
        return False
    if not recruiters().is_completion_unpaid(participant):
        return False
    # Where work is discarded, that may be all of it without the person being left out.
    theirs = main_judgments(participant.study).filter(rater=participant.rater_id)
    return theirs.exclude(excluded_q(participant.study)).exists()


def has_judged(participant: Participant, visit_number: int) -> bool:
    """True if they have submitted anything in that visit that could be in the figures."""
    done = Assignment.objects.filter(
        participant=participant, visit_number=visit_number, state=AssignmentState.SUBMITTED
    )
    return done.filter(item__role=Role.MAIN).exists()


def has_qualified(participant: Participant) -> bool:
    """True if one of their attempts at the study's qualification reached the pass mark; each counts for itself."""
    rule = participant.revision.spec["steps"].get("qualification")
    if not rule:
        return False
    passed = Assignment.objects.filter(participant=participant, item__role=Role.QUALIFICATION, passed=True)
    per_attempt = passed.order_by().values("attempt").annotate(n=Count("pk"))
    return per_attempt.filter(n__gte=rule["pass_mark"]).exists()
