"""Reads of the crowd: who comes, what they have before them, and how far they are."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.models import Assignment, AssignmentState, Participant, Slot, SlotState, Submission
from annotator.platforms import Visit
from evaluation.models import Role, Study
from evaluation.prepared import Prepared, Sample

# Stands for a row's id in a query that is compiled ahead; no sequence gets there.
SAMPLE_ID = 2**62 + 1


def submitted(participant: str, role: str) -> Coalesce:
    """How many items of a role the participant in that column has submitted, as a subquery.

    A subquery and not a join: rows can still be locked, and the spec's JSON is not grouped by.
    """
    done = Assignment.objects.filter(
        participant=OuterRef(participant), state=AssignmentState.SUBMITTED, item__role=role
    )
    return _counted(done)


def _counted(assignments: QuerySet[Assignment]) -> Coalesce:
    counted = assignments.order_by().values("participant").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def _counts(participant: str) -> dict[str, Coalesce]:
    """What a participant's pages count, for the participant in that column."""
    skips = Assignment.objects.filter(participant=OuterRef(participant), state=AssignmentState.SKIPPED)
    return {
        "judged": submitted(participant, Role.MAIN),
        "checked": submitted(participant, Role.ATTENTION),
        "skipped": _counted(skips),
    }


def _participant(token: str) -> Any:
    # Untyped, because the counts are declared on the model, where `annotate` is taken to redefine them.
    participants: Any = Participant.objects
    return participants.select_related("study", "revision").annotate(**_counts("pk")).filter(token=token)


PARTICIPANT: Prepared[Participant] = Prepared(
    _participant, token=Sample.of(Participant, "token", "a token that nobody has")
)


def get_participant(token: str) -> Participant:
    """The participant of that token with study, revision and counts (judged, checked, skipped), or DoesNotExist."""
    participant = PARTICIPANT.first(token=token)
    if participant is None:
        raise Participant.DoesNotExist
    return participant


def _present(token: str) -> QuerySet[Assignment]:
    return (
        Assignment.objects.select_related("item", "slot", "participant__study", "participant__revision")
        .annotate(**_counts("participant"))
        .filter(participant__token=token, state=AssignmentState.RESERVED)
    )


PRESENT: Prepared[Any] = Prepared(_present, token=Sample.of(Participant, "token", "a token that nobody has"))


def get_present(token: str) -> tuple[Participant, Assignment | None]:
    """The participant of that token as `get_participant` does it, and what they have before them: mostly one read."""
    assignment = PRESENT.first(token=token)
    if assignment is None:
        return get_participant(token), None
    participant: Participant = assignment.participant
    for name in ("judged", "checked", "skipped"):
        setattr(participant, name, getattr(assignment, name))
    return participant, assignment


def find_participant(study: Study, visit: Visit) -> Participant | None:
    """Who this visit belongs to, if they have been here before."""
    if not visit.is_known:
        return None
    return Participant.objects.filter(
        study=study, platform=visit.platform, external_id=visit.external_id
    ).first()


def knows_session(participant: Participant, visit: Visit) -> bool:
    return Submission.objects.filter(participant=participant, external_id=visit.session_id).exists()


def _current(participant: int) -> QuerySet[Assignment]:
    return Assignment.objects.select_related("item", "slot").filter(
        participant=participant, state=AssignmentState.RESERVED
    )


CURRENT = Prepared(_current, participant=Sample.of(Participant, "id", SAMPLE_ID))


def current_assignment(participant: Participant) -> Assignment | None:
    """What the participant has before them."""
    return CURRENT.first(participant=participant.pk)


def last_submitted(participant: Participant, role: str) -> Assignment | None:
    """The latest finished assignment of a role, with its judgment: what training gives feedback on."""
    return (
        Assignment.objects.select_related("item", "judgment")
        .filter(participant=participant, state=AssignmentState.SUBMITTED, item__role=role)
        .order_by("-ended_at")
        .first()
    )


def available(study: Study | int, now: datetime) -> QuerySet[Slot]:
    """Places that can be claimed: open, or reserved with a lease that ran out."""
    # The first condition repeats the partial index's, which the planner needs to see.
    return Slot.objects.filter(study=study, state__in=[SlotState.OPEN, SlotState.RESERVED]).filter(
        Q(state=SlotState.OPEN) | Q(leased_until__lt=now)
    )


def has_places(study: Study) -> bool:
    return available(study, timezone.now()).exists()


@dataclass(frozen=True)
class ArmPlaces:
    arm: int
    available: int
    promised: int

    @property
    def free(self) -> int:
        return self.available - self.promised


def arm_places(study: Study, now: datetime) -> list[ArmPlaces]:
    """Per arm: places to be had, and how many of them participants who are at it have been promised."""
    counts = dict(available(study, now).order_by().values_list("arm").annotate(n=Count("pk")))
    promised = promised_places(study, now)
    return [ArmPlaces(arm, n, promised.get(arm, 0)) for arm, n in sorted(counts.items())]


def promised_places(study: Study, now: datetime) -> dict[int, int]:
    """Arm to the items that its live participants have still to do.

    Live is who has no outcome and consented or reserved within the lease: who left is not waited for.
    """
    since = now - timedelta(minutes=study.lease_minutes)
    live = (
        Participant.objects.filter(study=study, outcome="", arm__isnull=False)
        .annotate(
            done=Count(
                "assignments",
                filter=Q(assignments__slot__isnull=False)
                & Q(assignments__state__in=[AssignmentState.SUBMITTED, AssignmentState.RESERVED]),
            ),
            active=Count("assignments", filter=Q(assignments__reserved_at__gte=since)),
        )
        .filter(Q(consented_at__gte=since) | Q(active__gt=0))
    )
    promised: dict[int, int] = {}
    for arm, quota, done in live.values_list("arm", "quota", "done"):
        promised[arm] = promised.get(arm, 0) + max(0, quota - done)
    return promised


def next_release(participant: Participant, now: datetime) -> datetime | None:
    """When the first place that others hold, and this participant could take, becomes free; None if there is none."""
    seen = seen_keys(participant)
    held = Slot.objects.filter(study=participant.study_id, arm=participant.arm_id).exclude(
        **{f"{once_field(participant.revision.spec)}__in": seen}
    )
    if held.filter(Q(state=SlotState.OPEN) | Q(state=SlotState.RESERVED, leased_until__lt=now)).exists():
        return now
    return (
        held.filter(state=SlotState.RESERVED)
        .order_by("leased_until")
        .values_list("leased_until", flat=True)
        .first()
    )


def once_field(spec: dict[str, Any]) -> str:
    """The slot's column that the study's once-per rule counts."""
    return "query_id" if spec["once_per"] == "query" else "item_id"


def seen_keys(participant: Participant | int) -> QuerySet[Assignment, int | None]:
    """The queries (or items) that the participant has met, as a subquery."""
    met = Assignment.objects.filter(participant=participant, once__isnull=False, slot__isnull=False)
    return met.values_list("once", flat=True)
