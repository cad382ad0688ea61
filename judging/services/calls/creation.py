"""A run's calls, created ahead of the work on them in short batches of items."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction

from evaluation.models import Outcome
from evaluation.protocols.base import Stimulus
from evaluation.services import JudgmentInput, record_judgments
from judging.models import Call, CallState, Run
from judging.services.calls.bulk_rows import insert_rows
from judging.services.calls.judged_items import drawn_items, judged_items
from judging.services.calls.plan import CallPlan

# An item's row, stimulus and first order.
ItemRow = tuple[int, Stimulus | None, int | None]


class CallCreator:
    """Creates a run's calls, a batch of items at a time. Several workers may: each batch locks the run."""

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        self.study = run.study
        self.plan = CallPlan.of(run.judge, run.revision.spec)
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

    def create_batch(self) -> bool:
        """Create the calls of one batch of items; True if there may be more."""
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

    def _next(self, after: int) -> list[ItemRow]:
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

    def _make_calls(self, items: Sequence[ItemRow]) -> None:
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


def items_without_calls(run: Run) -> int:
    """Count the items that still wait for their calls."""
    if run.dealt_to is None:
        return 0
    waiting = judged_items(run.study).filter(pk__gt=run.dealt_to).count()
    if run.max_items is None:
        return waiting
    dealt = Call.objects.filter(run=run).values("item").distinct().count()
    return max(0, min(waiting, run.max_items - dealt))
