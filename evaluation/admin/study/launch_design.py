"""The design that a launch will make of a draft: slots per arm and order, participants needed, total pay."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

from evaluation.models import Arm, ArmPer, Item, ItemResponse, OncePer, Role, Study
from evaluation.selectors import queries_of_people


@dataclass(frozen=True)
class ArmDesign:
    """One arm's share. `orders` is (presented order, places), empty where items have no pair."""

    label: str
    shows_context: bool
    items: int
    others: tuple[tuple[str, int], ...]
    slots: int
    orders: tuple[tuple[str, int], ...]
    per_participant: int
    # The fewest people, and the visits that are paid: as many, unless one person comes several times.
    participants: int
    visits: int


@dataclass(frozen=True)
class LaunchDesign:
    """The whole. `redundancy` is the judgments wanted per item, `queries` the number of those with items and `sampled`
    that of those that people judge, where it is a random part."""

    arms: tuple[ArmDesign, ...]
    redundancy: int
    queries: int
    sampled: int | None
    # People and visits where an arm is drawn for each item, and everybody judges items of them all; otherwise the arms'
    # in all.
    across_arms: tuple[int, int] | None = None
    # How often one person can come.
    visits_each: int = 1

    @property
    def plain(self) -> bool:
        """True of one arm that shows no context."""
        return len(self.arms) == 1 and not self.arms[0].shows_context

    @property
    def items(self) -> int:
        return sum(arm.items for arm in self.arms)

    @property
    def slots(self) -> int:
        return sum(arm.slots for arm in self.arms)

    @property
    def participants(self) -> int:
        return sum(arm.participants for arm in self.arms) if self.across_arms is None else self.across_arms[0]

    @property
    def visits(self) -> int:
        return sum(arm.visits for arm in self.arms) if self.across_arms is None else self.across_arms[1]

    def pay(self, study: Study) -> Decimal | None:
        return None if study.pay is None else study.pay * self.visits


def study_design(study: Study) -> LaunchDesign:
    """Compute the design from the rows in a fixed number of queries; for a live study, as if it were dealt anew."""
    rows = list(
        study.items.filter(withdrawn_at=None)
        .order_by()
        .values_list("pk", "arm_id", "role", "query_id")
        .iterator()
    )
    systems = _systems(study)
    theirs = queries_of_people(study)
    queries = len({row[3] for row in rows if row[2] == Role.MAIN})
    sampled = None if theirs is None else len(theirs)
    arms = []
    for arm in study.arms.all():
        mine = [row for row in rows if row[1] == arm.pk]
        arms.append(_arm_design(study, arm, mine, systems, theirs))
    if study.arm_per == ArmPer.PARTICIPANT:
        return LaunchDesign(tuple(arms), study.redundancy, queries, sampled, visits_each=study.visits)
    met = Counter(row[3] for row in rows if row[2] == Role.MAIN and (theirs is None or row[3] in theirs))
    _, *across = _people(study, met)
    return LaunchDesign(tuple(arms), study.redundancy, queries, sampled, (across[0], across[1]), study.visits)


def _systems(study: Study) -> dict[int, str]:
    """Item to its systems, which with the arm are the stratum of its orders."""
    found: dict[int, list[int]] = defaultdict(list)
    links = ItemResponse.objects.filter(item__study=study, item__role=Role.MAIN).order_by()
    for item, system in links.values_list("item_id", "response__system_id").iterator():
        found[item].append(system)
    return {item: ",".join(map(str, sorted(each))) for item, each in found.items()}


def _arm_design(
    study: Study, arm: Arm, rows: list[Any], systems: dict[int, str], theirs: frozenset[int] | None
) -> ArmDesign:
    items = [(pk, query) for pk, _, role, query in rows if role == Role.MAIN]
    main = [(pk, query) for pk, query in items if theirs is None or query in theirs]
    others = Counter(role for _, _, role, _ in rows if role != Role.MAIN)
    slots = len(main) * study.redundancy
    # Who meets a query (or an item) once needs as many others for its further places.
    group = Counter(query if study.once_per == OncePer.QUERY else pk for pk, query in main)
    per_participant, participants, visits = _people(study, group)
    return ArmDesign(
        label=arm.label,
        shows_context=arm.context_at_judging,
        items=len(items),
        others=tuple((str(Role(role).label), n) for role, n in sorted(others.items())),
        slots=slots,
        orders=_orders(study.redundancy, Counter(systems.get(pk, "") for pk, _ in main)),
        per_participant=per_participant,
        participants=participants,
        visits=visits,
    )


def _people(study: Study, group: Counter[int]) -> tuple[int, int, int]:
    """The items that one participant can judge in a visit, and the participants and visits needed, given the items per
    query (or item)."""
    each = min(study.items_per_participant, len(group))
    in_all = min(study.items_per_participant * study.visits, len(group))
    slots, most = group.total() * study.redundancy, max(group.values(), default=0) * study.redundancy
    if not each:
        return each, most, most
    people = max(ceil(slots / in_all), most)
    return each, people, max(ceil(slots / each), people)


def _orders(redundancy: int, strata: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Slots per order of a pair: even within each item, or else within each stratum."""
    first = second = 0
    for systems, n in strata.items():
        if systems.count(",") != 1:
            return ()
        starts = ceil(n / 2)
        first += n * (redundancy // 2) + (redundancy % 2) * starts
        second += n * (redundancy // 2) + (redundancy % 2) * (n - starts)
    return (("r1 first", first), ("r2 first", second)) if strata else ()


def frozen_items(study: Study) -> tuple[int, int]:
    """The number of the study's frozen items, and of all its items."""
    items = Item.objects.filter(study=study)
    return items.exclude(stimulus_hash="").count(), items.count()
