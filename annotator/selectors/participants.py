"""The item before a participant, and how far they are."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotator.models import Assignment, AssignmentState, DraftRound, Participant
from evaluation.database.compiled_queries import CompiledSelect, field_of
from evaluation.models import Role


def count_submitted(participant: str, role: str) -> Coalesce:
    """The number of items of a role that the participant in that column has submitted in their present visit, as a
    subquery.

    A subquery and not a join: rows can still be locked, and the spec's JSON is not grouped by. Main items and only
    they have a place, so those can be counted without looking at the items.
    """
    number = OuterRef("visit_number" if participant == "pk" else f"{participant}__visit_number")
    done = Assignment.objects.filter(
        participant=OuterRef(participant), visit_number=number, state=AssignmentState.SUBMITTED
    )
    if role == Role.MAIN:
        return _counted(done.filter(slot__isnull=False))
    return _counted(done.filter(slot=None, item__role=role))


def _counted(assignments: QuerySet[Assignment]) -> Coalesce:
    counted = assignments.order_by().values("participant").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def _counts(participant: str) -> dict[str, Coalesce]:
    """The counts of a participant's pages, for the participant in that column."""
    skips = Assignment.objects.filter(participant=OuterRef(participant), state=AssignmentState.SKIPPED)
    return {
        "judged": count_submitted(participant, Role.MAIN),
        "checked": count_submitted(participant, Role.ATTENTION),
        "skipped": _counted(skips),
    }


def _participant(token: str) -> Any:
    # Untyped, because the counts are declared on the model, where `annotate` is taken to redefine them.
    participants: Any = Participant.objects
    return (
        participants.select_related("study__panel", "revision").annotate(**_counts("pk")).filter(token=token)
    )


PARTICIPANT: CompiledSelect[Participant] = CompiledSelect(_participant, token=field_of(Participant, "token"))


def get_participant(token: str) -> Participant:
    """The participant of that token with study, revision and counts (judged, checked, skipped), or DoesNotExist."""
    participant = PARTICIPANT.first(token=token)
    if participant is None:
        raise Participant.DoesNotExist
    return participant


def columns_of(relation: str, *names: str) -> list[str]:
    return [f"{relation}__{name}" for name in names]


PERSON = columns_of(
    "participant",
    *("study", "revision", "rater", "arm", "token", "step", "outcome", "quota", "visit_number", "in_play"),
)

# The columns of an item's page, and of giving it back or going on. There are seventy more, and reading one costs the
# driver more than PostgreSQL; whoever needs another gets it by a statement of its own.
PAGE_COLUMNS = (
    *("participant", "item", "slot", "attempt", "order", "state", "reserved_at", "draft"),
    *(*PERSON, "participant__platform", "participant__external_id", "participant__revision__spec"),
    *columns_of("participant__study", "slug", "protocol", "status", "contact", "lease_minutes", "going_back"),
    *columns_of("participant__study__panel", "platform", "settings"),
    *("item__role", "item__stimulus", "slot__leased_until"),
)


def _present(token: str) -> QuerySet[Assignment]:
    return (
        Assignment.objects.select_related(
            "item", "slot", "participant__study__panel", "participant__revision"
        )
        .only(*PAGE_COLUMNS)
        .annotate(**_counts("participant"))
        .filter(participant__token=token, state=AssignmentState.RESERVED)
    )


PRESENT: CompiledSelect[Any] = CompiledSelect(_present, token=field_of(Participant, "token"))


def get_present(token: str) -> tuple[Participant, Assignment | None]:
    """The participant of that token as `get_participant` does it, and what they have before them: mostly one read."""
    assignment = PRESENT.first(token=token)
    if assignment is None:
        return get_participant(token), None
    participant: Participant = assignment.participant
    for name in ("judged", "checked", "skipped"):
        setattr(participant, name, getattr(assignment, name))
    return participant, assignment


def last_submitted(participant: Participant, role: str) -> Assignment | None:
    """The latest finished assignment of a role, with its judgment: what training gives feedback on."""
    return (
        Assignment.objects.select_related("item", "judgment")
        .filter(participant=participant, state=AssignmentState.SUBMITTED, item__role=role)
        .order_by("-ended_at")
        .first()
    )


def last_skipped(participant: Participant) -> Assignment | None:
    """The skip that the participant can take back: their latest, if they have submitted nothing since."""
    if participant.outcome:
        return None
    ended = Assignment.objects.select_related("item", "slot").filter(
        participant=participant,
        visit_number=participant.visit_number,
        state__in=[AssignmentState.SKIPPED, AssignmentState.SUBMITTED],
    )
    last = ended.order_by("-ended_at").first()
    return last if last is not None and last.state == AssignmentState.SKIPPED else None


def rounds_as_trace(assignment: Assignment) -> list[dict[str, Any]]:
    """The turns in which a participant and a model worked on the entries, as a judgment's trace keeps them."""
    return [
        {
            "number": each.number,
            "instruction": each.instruction,
            "model": each.model,
            "state": each.state,
            "before": each.before,
            "after": each.after,
            "problem": each.problem,
        }
        for each in DraftRound.objects.filter(assignment=assignment).order_by("number")
    ]
