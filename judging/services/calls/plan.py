"""The plan of a judge's calls for an item: replicates, orders and steps."""

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation import design
from evaluation.models import System
from evaluation.protocols import Protocol
from evaluation.protocols.base import Spec, Stimulus
from judging import prompting
from judging.models import Judge, Orders, SelfPreference
from judging.services.judges import judge_settings


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
    return judge.samples * (2 if judge.orders == Orders.BOTH else 1)


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


@dataclass(frozen=True)
class CallPlan:
    """The plan of one judge's calls for an item; the same for a run and for the estimate before it."""

    protocol: Protocol
    spec: Spec
    settings: prompting.Settings
    asks_model: bool
    orders: str
    replicates: int
    own: frozenset[str]

    @classmethod
    def of(cls, judge: Judge, spec: Spec) -> "CallPlan":
        return cls(
            judge.study.protocol_object,
            spec,
            judge_settings(judge),
            judge.asks_model,
            judge.orders,
            replicates(judge),
            own_systems(judge),
        )

    def excludes(self, stimulus: Stimulus) -> bool:
        return not self.own.isdisjoint(response["system"] for response in stimulus["responses"])

    def steps(self, stimulus: Stimulus) -> tuple[str, ...]:
        if not self.asks_model:
            return ("",)
        return prompting.steps(self.protocol, self.spec, stimulus, self.settings)

    def calls(self, stimulus: Stimulus, start: int | None) -> Iterator[tuple[int, str, str]]:
        """(replicate, step, order) of each call of an item."""
        steps = self.steps(stimulus)
        for replicate in range(self.replicates):
            order = presented_order(self.orders, len(stimulus["responses"]), start, replicate)
            for step in steps:
                yield replicate, step, order
