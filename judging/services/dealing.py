"""Which items a run judges, and the calls that are made ahead for them, in short batches."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from evaluation import design
from evaluation.models import Item, Outcome, Role, Study, System
from evaluation.protocols import Protocol
from evaluation.protocols.base import Spec, Stimulus
from evaluation.services import JudgmentInput, record_judgments
from judging import prompting
from judging.models import Call, CallState, Judge, Orders, Run, SelfPreference
from judging.services.bulk import insert_rows
from judging.services.judges import judge_settings

# An item's row, stimulus and first order.
Dealt = tuple[int, Stimulus | None, int | None]


def judged_items(study: Study) -> QuerySet[Item]:
    """What judges judge: main items that are frozen and not withdrawn, in the order of their rows."""
    return (
        Item.objects.filter(study=study, role=Role.MAIN, withdrawn_at=None)
        .exclude(stimulus_hash="")
        .order_by("pk")
    )


def drawn_items(study: Study, max_items: int) -> list[int]:
    """So many of the items, drawn by the study's seed; an item's place in the draw depends on its key alone."""

    def place(row: tuple[int, str]) -> bytes:
        return hashlib.sha256(f"{study.seed}\x1fdraw\x1f{row[1]}".encode()).digest()

    rows = sorted(judged_items(study).values_list("pk", "key"), key=place)
    return sorted(pk for pk, _ in rows[:max_items])


def presented_order(orders: str, n: int, start: int | None, replicate: int) -> str:
    """What a replicate is shown of n responses: in turn from the item's own start, forwards and then backwards, or
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
class Plan:
    """How one judge's calls for an item come about; the same for a run and for the estimate before it."""

    protocol: Protocol
    spec: Spec
    settings: prompting.Settings
    asks_model: bool
    orders: str
    replicates: int
    own: frozenset[str]

    @classmethod
    def of(cls, judge: Judge, spec: Spec) -> "Plan":
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


class Dealer:
    """Deals a run's calls, a batch of items at a time. Several workers may: each batch locks the run."""

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        self.study = run.study
        self.plan = Plan.of(run.judge, run.revision.spec)
        self.max_items = run.max_items
        self.rater_id = run.rater_id
        self.revision_id = run.revision_id
        self._drawn: list[int] | None = None
        blank = Call(run_id=run.pk)
        self._new = {
            field.attname: getattr(blank, field.attname)
            for field in Call._meta.concrete_fields
            if not field.primary_key
        }

    def deal(self) -> bool:
        """One batch; whether there may be more."""
        with transaction.atomic():
            run = Run.objects.select_for_update(no_key=True).get(pk=self.run_id)
            if run.dealt_to is None:
                return False
            batch = self._next(run.dealt_to)
            self._make_calls(batch)
            more = len(batch) == settings.ASSAY_BATCH_SIZE
            run.dealt_to = batch[-1][0] if more else None
            run.save(update_fields=["dealt_to"])
            return bool(more)

    def _next(self, after: int) -> list[Dealt]:
        items = judged_items(self.study).filter(pk__gt=after)
        size = settings.ASSAY_BATCH_SIZE
        if self.max_items is not None:
            # Items that were admitted meanwhile may have changed the draw: never more than asked for.
            dealt = Call.objects.filter(run=self.run_id).values("item").distinct().count()
            size = min(size, self.max_items - dealt)
            items = items.filter(pk__in=[pk for pk in self._draw() if pk > after][:size])
        return list(items.values_list("pk", "stimulus", "start_order")[: max(0, size)])

    def _draw(self) -> list[int]:
        if self._drawn is None:
            assert self.max_items is not None
            self._drawn = drawn_items(self.study, self.max_items)
        return self._drawn

    def _make_calls(self, items: Sequence[Dealt]) -> None:
        calls, excluded = [], []
        for pk, stimulus, start in items:
            assert stimulus is not None
            if self.plan.excludes(stimulus):
                excluded.append(pk)
                continue
            calls += [
                self._row(pk, replicate, step, order)
                for replicate, step, order in self.plan.calls(stimulus, start)
            ]
        calls += [
            self._row(pk) | {"state": CallState.FINAL, "outcome": Outcome.EXCLUDED_SELF} for pk in excluded
        ]
        insert_rows(Call, calls)
        record_judgments(
            study=self.study,
            batch=[
                JudgmentInput(
                    rater_id=self.rater_id,
                    item_id=pk,
                    revision_id=self.revision_id,
                    outcome=Outcome.EXCLUDED_SELF,
                )
                for pk in excluded
            ],
        )

    def _row(self, item: int, replicate: int = 0, step: str = "", order: str = "") -> dict[str, Any]:
        """A new call's row: what differs from call to call, and the model's defaults."""
        return self._new | {"item_id": item, "replicate": replicate, "step": step, "order": order}


def undealt(run: Run) -> int:
    """How many items still wait for their calls."""
    if run.dealt_to is None:
        return 0
    waiting = judged_items(run.study).filter(pk__gt=run.dealt_to).count()
    if run.max_items is None:
        return waiting
    dealt = Call.objects.filter(run=run).values("item").distinct().count()
    return max(0, min(waiting, run.max_items - dealt))


def sample_items(study: Study, max_items: int | None, size: int) -> tuple[int, list[Item]]:
    """How many items a run would judge, and up to `size` of them, drawn by the seed, with their stimuli."""
    total = judged_items(study).count()
    total = total if max_items is None else min(total, max_items)
    drawn = drawn_items(study, min(size, total))
    return total, list(Item.objects.filter(pk__in=drawn).order_by("pk"))
