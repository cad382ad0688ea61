"""The slots left in each arm, and the people whom they take."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotator.models import AssignmentState, ClaimCursor, Participant, Slot, SlotState
from annotator.selectors.slots import available_slots
from evaluation.models import ArmPer, OncePer, Study


@dataclass(frozen=True)
class ArmPlaces:
    arm: int
    available: int
    promised: int

    @property
    def free(self) -> int:
        return self.available - self.promised


@dataclass(frozen=True)
class _Person:
    """A participant in play: what they have been promised and not taken yet, if they are live."""

    pk: int
    arm: int | None
    left: int
    is_live: bool


def arm_places(study: Study, now: datetime) -> list[ArmPlaces]:
    """Per arm: places to be had, and how many of them participants who are at it have been promised.

    What is in play is counted already; leases that run are few, and so is what people in play have filled. Both are
    asked for by what is known of them: PostgreSQL knows too little of either to see that a slot in a million is meant.
    """
    people = _people_in_play(Participant.objects.filter(study=study, in_play=True), study, now)
    leases = Slot.objects.filter(
        study=study, state=SlotState.RESERVED, arm=OuterRef("arm"), leased_until__gte=now
    )
    rows = ClaimCursor.objects.filter(arm__study=study).order_by("arm").annotate(leased=_number(leases))
    cursors = list(rows.values_list("arm", "in_play", "leased"))
    filled = Slot.objects.filter(
        state=SlotState.FILLED, holder__participant__in=[person.pk for person in people]
    )
    taken = Counter(filled.values_list("arm", flat=True))
    promised = _promised(people)
    return [ArmPlaces(arm, n - leased - taken[arm], promised[arm]) for arm, n, leased in cursors]


def count_in_play(arm: Any) -> Coalesce:
    """The number of the arm's slots in play, as a subquery that looks at all of them; `arm` is an id or a column."""
    filled = Q(state=SlotState.FILLED, holder__participant__in_play=True)
    return _number(Slot.objects.filter(Q(state__in=[SlotState.OPEN, SlotState.RESERVED]) | filled, arm=arm))


def _number(slots: QuerySet[Slot]) -> Coalesce:
    return Coalesce(Subquery(slots.order_by().values("arm").annotate(n=Count("pk")).values("n")), 0)


def live_since(study: Study, now: datetime) -> datetime:
    """Live is who has no outcome and consented or reserved after this moment: who left is not waited for."""
    return now - timedelta(minutes=study.lease_minutes)


def promised_places(study: Study, now: datetime) -> Counter[int | None]:
    """Arm to the items that its live participants have still to do; None for those who have no arm of their own."""
    going = Participant.objects.filter(study=study, outcome="", in_play=True)
    return _promised(_people_in_play(going, study, now))


def _promised(people: Iterable[_Person]) -> Counter[int | None]:
    promised: Counter[int | None] = Counter()
    for person in people:
        if person.is_live:
            promised[person.arm] += person.left
    return promised


def _people_in_play(people: QuerySet[Participant], study: Study, now: datetime) -> list[_Person]:
    since = live_since(study, now)
    taken = Q(
        assignments__state__in=[AssignmentState.SUBMITTED, AssignmentState.RESERVED],
        assignments__visit_number=F("visit_number"),
    )
    rows = people.annotate(
        done=Count("assignments", filter=taken & Q(assignments__slot__isnull=False)),
        active=Count("assignments", filter=Q(assignments__reserved_at__gte=since)),
    ).values_list("pk", "arm", "quota", "done", "active", "consented_at", "outcome")
    return [
        _Person(
            pk,
            arm,
            max(0, quota - done),
            outcome == "" and bool(active or (consented and consented >= since)),
        )
        for pk, arm, quota, done, active, consented, outcome in rows
    ]


def people_needed(study: Study, now: datetime) -> int:
    """The number of people whom the open places need, beyond what those at work have been promised; where one person
    is paid for several visits, the number of visits.

    Nobody meets the same query (or item) twice, so there must be as many people as one of them has open places. So
    many are enough: dealt round by query, nobody gets one of them twice.
    """
    if not study.is_frozen:
        return 0
    key = "query" if study.once_per == OncePer.QUERY else "item"
    per_arm = study.arm_per == ArmPer.PARTICIPANT
    by = ("arm", key) if per_arm else (key,)
    of_one = available_slots(study, now).order_by().values(*by).annotate(n=Count("pk"))
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
