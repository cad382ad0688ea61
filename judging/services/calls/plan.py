"""The plan of a judge's calls for an item: replicates, orders and steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import QuerySet

from evaluation import design
from evaluation.models import Item, Study, System
from evaluation.models.item import count_responses
from evaluation.protocols import Protocol
from evaluation.protocols.base import Spec, Stimulus
from judging.asking import asking_of
from judging.asking.base import Asking
from judging.backends import BACKENDS
from judging.backends.base import Derived
from judging.models import Judge, Orders, SelfPreference
from judging.prompting.settings import Settings
from judging.services.calls.judged_items import repeated_queries
from judging.services.judges import judge_settings

# Orders that a sample is asked in, where it is asked both ways.
ORDERS_OF_BOTH = 2


def presented_order(orders: str, n: int, start: int | None, replicate: int) -> str:
    """The order in which a replicate is shown n responses: rotated from the item's own start, both ways, or
    canonical."""
    canonical = [f"r{number}" for number in range(1, n + 1)]
    if orders == Orders.BOTH and replicate % 2:
        canonical.reverse()
    if orders in (Orders.FIXED, Orders.BOTH):
        return ",".join(canonical)
    return design.presented_order(n, (start or 0) + replicate)


def replicates(judge: Judge) -> int:
    """Judgments per item: order x sample."""
    return judge.samples * (ORDERS_OF_BOTH if judge.orders == Orders.BOTH else 1)


def sampling_seed(study: Study, replicate: int, unread: int = 0) -> int:
    """The seed sent with a request: the same for every item, another for every sample and for asking once more."""
    return (study.seed * 1_000_003 + replicate * 101 + unread) % 2**31


def own_systems(judge: Judge) -> frozenset[str]:
    """Keys of the systems whose responses this judge does not judge, lest it prefer its own."""
    if judge.self_preference == SelfPreference.NONE:
        return frozenset()
    own = {judge.own_system} - {""}
    if judge.self_preference == SelfPreference.FAMILY:
        systems = System.objects.filter(study=judge.study_id)
        families = set(systems.filter(key__in=own).values_list("family", flat=True)) | {judge.own_family}
        own |= set(systems.filter(family__in=families - {""}).values_list("key", flat=True))
    return frozenset(own)


class PlannedCall(NamedTuple):
    """One call of an item, as it is about to be created."""

    replicate: int
    step: str
    order: str
    # Asked once the others of its judgment are final.
    is_later: bool


@dataclass(frozen=True)
class CallPlan:
    """The plan of one judge's calls for an item; the same for a run and for the estimate before it."""

    protocol: Protocol
    spec: Spec
    settings: Settings
    # None of a heuristic.
    asking: Asking | None
    orders: str
    replicates: int
    own: frozenset[str]
    # Keys of the queries of which every sample is asked, and of the others one; None: every sample of all.
    repeated: frozenset[str] | None = None
    # False of one that is shown no responses: what it is derived from was, in orders of its own.
    shown: bool = True

    @classmethod
    def of(cls, judge: Judge, spec: Spec) -> "CallPlan":
        settings = judge_settings(judge)
        share = settings.repeated_share
        return cls(
            judge.study.protocol_object,
            spec,
            settings,
            asking_of(judge.backend) if judge.asks_model else None,
            judge.orders,
            replicates(judge),
            own_systems(judge),
            repeated_queries(judge.study, share) if share < 1 and judge.samples > 1 else None,
            not isinstance(BACKENDS[judge.backend], Derived),
        )

    def replicates_of(self, query: str, n_responses: int) -> int:
        """Judgments of an item with so many responses, on the query with this key; a single one has one order."""
        orders = ORDERS_OF_BOTH if self.orders == Orders.BOTH else 1
        samples = self.replicates // orders if self.repeated is None or query in self.repeated else 1
        return samples * (orders if n_responses > 1 else 1)

    def mean_replicates(self, items: "QuerySet[Item]") -> float:
        """Judgments per item, over these items; those of one sample where there are none."""
        if self.repeated is None and self.orders != Orders.BOTH:
            return float(self.replicates)
        rows = items.values_list("query__key", "lengths")
        found = [self.replicates_of(key, count_responses(lengths)) for key, lengths in rows]
        return sum(found) / len(found) if found else float(self.replicates_of("", ORDERS_OF_BOTH))

    def excludes(self, stimulus: Stimulus) -> bool:
        return not self.own.isdisjoint(response["system"] for response in stimulus["responses"])

    def steps(self, stimulus: Stimulus) -> tuple[str, ...]:
        if self.asking is None:
            return ("",)
        return self.asking.steps(self.protocol, self.spec, stimulus, self.settings)

    @property
    def last_step(self) -> str:
        """The step that follows the others of its judgment; '' where all are asked at once."""
        return self.asking.last_step(self.settings) if self.asking else ""

    def calls(self, stimulus: Stimulus, start: int | None) -> Iterator[PlannedCall]:
        steps, last = self.steps(stimulus), self.last_step
        n = len(stimulus["responses"])
        for replicate in range(self.replicates_of(stimulus["query"]["key"], n)):
            order = presented_order(self.orders, n, start, replicate) if self.shown else ""
            for step in steps:
                is_later = bool(step) and step == last and len(steps) > 1
                yield PlannedCall(replicate, step, order, is_later)
