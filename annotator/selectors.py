"""Reads of the crowd: who comes, what they have before them, and how far they are."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.models import (
    ArmFront,
    Assignment,
    AssignmentState,
    DraftRound,
    Panel,
    PanelAct,
    PanelStatus,
    Participant,
    ParticipantOutcome,
    Slot,
    SlotState,
    Submission,
)
from annotator.platforms import Visit
from annotator.platforms.prolific import statuses
from evaluation import design
from evaluation.models import ArmPer, Exclusion, Item, OncePer, Role, Study
from evaluation.prepared import Prepared, Sample
from evaluation.selectors import excluded, main_judgments

# How a way ends on which work was done, and mostly paid.
HANDED_IN = (
    ParticipantOutcome.COMPLETED,
    ParticipantOutcome.FAILED_QUALIFICATION,
    ParticipantOutcome.FAILED_ATTENTION,
)
# Stands for a row's id in a query that is compiled ahead; no sequence gets there.
SAMPLE_ID = 2**62 + 1
# Of slots. A partial index is used where its condition is seen to hold, so each state is asked for by itself.
OPEN = Q(state=SlotState.OPEN)


def submitted(participant: str, role: str) -> Coalesce:
    """How many items of a role the participant in that column has submitted, as a subquery.

    A subquery and not a join: rows can still be locked, and the spec's JSON is not grouped by. Main items and only
    they have a place, so those can be counted without looking at the items.
    """
    done = Assignment.objects.filter(participant=OuterRef(participant), state=AssignmentState.SUBMITTED)
    if role == Role.MAIN:
        return _counted(done.filter(slot__isnull=False))
    return _counted(done.filter(slot=None, item__role=role))


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
    return (
        participants.select_related("study__panel", "revision").annotate(**_counts("pk")).filter(token=token)
    )


PARTICIPANT: Prepared[Participant] = Prepared(
    _participant, token=Sample.of(Participant, "token", "a token that nobody has")
)


def get_participant(token: str) -> Participant:
    """The participant of that token with study, revision and counts (judged, checked, skipped), or DoesNotExist."""
    participant = PARTICIPANT.first(token=token)
    if participant is None:
        raise Participant.DoesNotExist
    return participant


def columns_of(relation: str, *names: str) -> list[str]:
    return [f"{relation}__{name}" for name in names]


PERSON = columns_of(
    "participant", *("study", "revision", "rater", "arm", "token", "step", "outcome", "quota")
)
# What an item's page shows, and what giving it back or going on reads. A page has seventy columns more, and reading one
# costs the driver more than PostgreSQL; whoever needs another gets it by a statement of its own.
SHOWN = (
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
        .only(*SHOWN)
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


def may_resume(participant: Participant, visit: Visit) -> bool:
    """Whether somebody whose way ended by a return or a time-out goes on with this visit: it is a new one, and what
    they did before is kept, or there is nothing of it. By a personal link, which ended it by being revoked, always:
    it is not revoked any more."""
    if participant.outcome not in (ParticipantOutcome.RETURNED, ParticipantOutcome.TIMED_OUT):
        return False
    if participant.platform != "personal":
        if not visit.session_id or knows_session(participant, visit):
            return False
        panel = Panel.objects.filter(study=participant.study_id).first()
        if panel is None or (panel.returned == Panel.Returned.DISCARD and has_judged(participant)):
            return False
    return not Exclusion.objects.filter(rater=participant.rater_id, undone_at=None).exists()


def came_afterwards(participant: Participant, visit: Visit) -> bool:
    """Whether their way ended in another visit than this one: then nothing that they did belongs to it."""
    if participant.outcome == "" or not visit.session_id:
        return False
    ended_in = Submission.objects.filter(participant=participant, outcome=participant.outcome)
    return not ended_in.filter(external_id=visit.session_id).exists()


def ends_likewise(participant: Participant) -> bool:
    """Whether a further visit of somebody whose way has ended ends as theirs did, with its code.

    Work is handed in once. Who completed can do so on a further visit if the panel says that every one in which they
    did is over without pay, because they went there too late, no bonus stands in its place, and some of their work is
    kept.
    """
    if participant.outcome not in HANDED_IN:
        return True
    if participant.outcome != ParticipantOutcome.COMPLETED:
        return False
    completed = Submission.objects.filter(participant=participant, outcome=participant.outcome)
    unpaid = Q(panel_record__status__in=[PanelStatus.RETURNED, PanelStatus.TIMED_OUT])
    if not completed.exists() or completed.exclude(unpaid).exists():
        return False
    bonuses = PanelAct.objects.filter(record__submission__in=completed, kind=PanelAct.Kind.BONUS)
    if bonuses.exclude(state__in=[PanelAct.State.CANCELLED, PanelAct.State.REFUSED]).exists():
        return False
    # Where work is discarded, that may be all of it without the person being left out.
    theirs = main_judgments(participant.study).filter(rater=participant.rater_id)
    return theirs.exclude(excluded(participant.study)).exists()


def has_judged(participant: Participant) -> bool:
    """Whether they have submitted anything that could be in the figures."""
    done = Assignment.objects.filter(participant=participant, state=AssignmentState.SUBMITTED)
    return done.filter(item__role=Role.MAIN).exists()


def panels_to_sync() -> QuerySet[Panel]:
    """Studies that are drafted on a panel and not over there: not completed, or with submissions that are undecided."""
    undecided = Q(records__status__in=[PanelStatus.RESERVED, PanelStatus.ACTIVE, PanelStatus.AWAITING_REVIEW])
    drafted = Panel.objects.exclude(drafted_at=None)
    return drafted.filter(~Q(status=statuses.COMPLETED) | undecided).distinct()


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


def has_qualified(participant: Participant) -> bool:
    """Whether one of their attempts at the study's qualification reached the pass mark; each counts for itself."""
    rule = participant.revision.spec["steps"].get("qualification")
    if not rule:
        return False
    passed = Assignment.objects.filter(participant=participant, item__role=Role.QUALIFICATION, passed=True)
    per_attempt = passed.order_by().values("attempt").annotate(n=Count("pk"))
    return per_attempt.filter(n__gte=rule["pass_mark"]).exists()


def last_skipped(participant: Participant) -> Assignment | None:
    """The skip that the participant can take back: their latest, if they have submitted nothing since."""
    if participant.outcome:
        return None
    ended = Assignment.objects.select_related("item", "slot").filter(
        participant=participant, state__in=[AssignmentState.SKIPPED, AssignmentState.SUBMITTED]
    )
    last = ended.order_by("-ended_at").first()
    return last if last is not None and last.state == AssignmentState.SKIPPED else None


def available(study: Study | int, now: datetime) -> QuerySet[Slot]:
    """Places that can be claimed: open, or reserved with a lease that ran out."""
    return Slot.objects.filter(OPEN | lapsed(now), study=study)


def lapsed(now: datetime) -> Q:
    return Q(state=SlotState.RESERVED, leased_until__lt=now)


def has_places(study: Study) -> bool:
    """Whether anything is available; looks where claiming looks."""
    now = timezone.now()
    slots = Slot.objects.filter(study=study, arm=OuterRef("arm"))
    is_open = slots.filter(OPEN, rank__gte=OuterRef("first_open"))
    has_lapsed = slots.filter(lapsed(now), leased_until__gte=OuterRef("leases_from"))
    fronts = ArmFront.objects.filter(Exists(is_open) | Exists(has_lapsed), arm__study=study)
    return fronts.exists() or available(study, now).exists()


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


def promised_places(study: Study, now: datetime) -> dict[int | None, int]:
    """Arm to the items that its live participants have still to do; None for those who have no arm of their own.

    Live is who has no outcome and consented or reserved within the lease: who left is not waited for.
    """
    since = now - timedelta(minutes=study.lease_minutes)
    live = (
        Participant.objects.filter(study=study, outcome="")
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
    promised: dict[int | None, int] = {}
    for arm, quota, done in live.values_list("arm", "quota", "done"):
        promised[arm] = promised.get(arm, 0) + max(0, quota - done)
    return promised


# Of an arm with at least so many items per item that one participant does, there are enough for everybody.
PLENTY = 20


def items_to_do(study: Study, arm: int | None = None) -> int:
    """How many items one participant is asked to judge: the study's number, or as many as there are where there are
    fewer, since nobody meets a query (or an item) twice. In that arm, or in the one with most; in all, where each item
    has an arm drawn for it."""
    wanted = study.items_per_participant
    items = Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
    items = items if arm is None else items.filter(arm=arm)
    key = "query" if study.once_per == OncePer.QUERY else "pk"
    enough = wanted * PLENTY
    rows = list(items.order_by("pk").values_list("arm", key)[:enough])
    if len(rows) == enough:
        return wanted
    if study.arm_per == ArmPer.ITEM:
        rows = [(None, each) for _, each in rows]
    there = Counter(each for each, _ in set(rows))
    return min(wanted, max(there.values(), default=wanted))


def with_checks(items: int, spec: Mapping[str, Any]) -> int:
    """What a participant who judges so many items counts: the attention checks among them are not told apart."""
    rule = spec["steps"].get("attention")
    return items + (design.n_checks(items, rule.get("checks", 1)) if rule else 0)


def people_needed(study: Study, now: datetime) -> int:
    """How many more people the open places want, beyond what those at work have been promised.

    Nobody meets the same query (or item) twice, so there must be as many people as one of them has open places. So
    many are enough: dealt round by query, nobody gets one of them twice.
    """
    if not study.is_frozen:
        return 0
    key = "query" if study.once_per == OncePer.QUERY else "item"
    per_arm = study.arm_per == ArmPer.PARTICIPANT
    by = ("arm", key) if per_arm else (key,)
    of_one = available(study, now).order_by().values(*by).annotate(n=Count("pk"))
    # Of a query (or item), and in all; by arm, or together where everybody meets them all.
    most: Counter[int | None] = Counter()
    places: Counter[int | None] = Counter()
    for row in of_one:
        arm = row.get("arm")
        most[arm] = max(most[arm], row["n"])
        places[arm] += row["n"]
    promised = promised_places(study, now)
    per_person = study.items_per_participant
    needed = 0
    for arm, n in places.items():
        if (free := n - promised.get(arm, 0)) > 0:
            at_work = ceil(promised.get(arm, 0) / per_person)
            needed += max(ceil(free / per_person), most[arm] - at_work)
    return needed


def next_release(participant: Participant, now: datetime) -> datetime | None:
    """When the first place that others hold, and this participant could take, becomes free; None if there is none."""
    seen = seen_keys(participant)
    held = Slot.objects.filter(study=participant.study_id).exclude(
        **{f"{once_field(participant.revision.spec)}__in": seen}
    )
    if participant.arm_id is not None:
        held = held.filter(arm=participant.arm_id)
    if held.filter(OPEN).exists():
        return now
    leases = held.filter(state=SlotState.RESERVED).order_by("leased_until")
    first = leases.values_list("leased_until", flat=True).first()
    return None if first is None else max(first, now)


def once_field(spec: dict[str, Any]) -> str:
    """The slot's column that the study's once-per rule counts."""
    return "query_id" if spec["once_per"] == "query" else "item_id"


def seen_keys(participant: Participant | int) -> QuerySet[Assignment, int | None]:
    """The queries (or items) that the participant has met, as a subquery."""
    met = Assignment.objects.filter(participant=participant, once__isnull=False, slot__isnull=False)
    return met.values_list("once", flat=True)


def rounds_as_trace(assignment: Assignment) -> list[dict[str, Any]]:
    """What a participant and a model made of the entries in turn, as a judgment's trace keeps it."""
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
