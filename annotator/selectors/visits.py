"""Visits: whose they are, and what may become of them."""

from django.db.models import Count, QuerySet

from annotator.models import Assignment, AssignmentState, Participant, ParticipantOutcome, Submission
from annotator.recruiters import recruiters
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
    return KNOWN.first(study=study.pk, platform=visit.platform, person=visit.external_id)


def knows_session(participant: Participant, visit: Visit) -> bool:
    return Submission.objects.filter(participant=participant, external_id=visit.session_id).exists()


def may_resume(participant: Participant, visit: Visit) -> bool:
    """True where somebody whose way ended by a return or a time-out goes on with this visit, as a recruiter says."""
    if participant.outcome not in (ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT):
        return False
    if not recruiters().allows_reentry(participant, visit):
        return False
    return not Exclusion.objects.filter(rater=participant.rater_id, undone_at=None).exists()


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


def has_judged(participant: Participant) -> bool:
    """True if they have submitted anything that could be in the figures."""
    done = Assignment.objects.filter(participant=participant, state=AssignmentState.SUBMITTED)
    return done.filter(item__role=Role.MAIN).exists()


def has_qualified(participant: Participant) -> bool:
    """True if one of their attempts at the study's qualification reached the pass mark; each counts for itself."""
    rule = participant.revision.spec["steps"].get("qualification")
    if not rule:
        return False
    passed = Assignment.objects.filter(participant=participant, item__role=Role.QUALIFICATION, passed=True)
    per_attempt = passed.order_by().values("attempt").annotate(n=Count("pk"))
    return per_attempt.filter(n__gte=rule["pass_mark"]).exists()
