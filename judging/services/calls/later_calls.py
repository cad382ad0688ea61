"""Calls that follow the others of their judgment: kept back, and released once those are final.

They are there from the beginning, so that a run's counts are right and it is not complete without them; no claim takes
one before the transaction that makes the last of the others final has opened it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.models import Outcome
from judging.models import Call, CallState
from judging.services.calls.call_attempts import CallAttempt, worst

Place = tuple[int | None, int]


class LaterCalls:
    """A run's calls of the step that follows the others of its judgment; without such a step there are none."""

    def __init__(self, run_id: int, step: str) -> None:
        self.run_id = run_id
        self.step = step

    def earlier(self, calls: Collection[Call]) -> Mapping[int, dict[int, dict[str, Any]]]:
        """Answers of the other steps, {item: {replicate: {step: data}}}, of the calls among these that follow them."""
        found: dict[int, dict[int, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
        items = {call.item_id for call in calls if self.step and call.step == self.step}
        if items:
            said = self._others(Call.objects.filter(item__in=items)).filter(outcome=Outcome.OK)
            for item, replicate, step, data in said.values_list("item", "replicate", "step", "data"):
                found[item][replicate][step] = data
        return found

    def release(self, final: Sequence[CallAttempt], rows: Mapping[int, Call], now: datetime) -> None:
        """Open each call whose others became final just now; one of which some are not ok is not asked.

        It shares the worst outcome of the others then, so that it is retried with them or not at all. `rows` are all
        calls of the same items, under lock, and are changed as they are in the database.
        """
        if not self.step:
            return
        places = {_place(each.call) for each in final}
        by_place: dict[Place, list[Call]] = defaultdict(list)
        for row in rows.values():
            if _place(row) in places:
                by_place[_place(row)].append(row)
        for calls in by_place.values():
            for call in calls:
                if call.state == CallState.LATER:
                    self._release(call, [each for each in calls if each.pk != call.pk], now)

    def _release(self, call: Call, others: Iterable[Call], now: datetime) -> None:
        others = list(others)
        if any(each.state != CallState.FINAL for each in others):
            return
        bad = [each for each in others if each.outcome != Outcome.OK]
        if not bad:
            call.state = CallState.OPEN
        else:
            said = ", ".join(f"{each.step} is {Outcome(each.outcome).label}" for each in bad)
            call.state, call.outcome = CallState.FINAL, worst([each.outcome for each in bad])
            call.error, call.finished_at = f"Not asked, as it follows the other questions: {said}."[:500], now
        call.save(update_fields=["state", "outcome", "error", "finished_at"])

    def hold_back(self) -> None:
        """Keep back those calls that were opened again together with others that they follow."""
        if not self.step:
            return
        unfinished = self._others(Call.objects.filter(item=OuterRef("item"), replicate=OuterRef("replicate")))
        again = Call.objects.filter(run=self.run_id, step=self.step, state=CallState.OPEN)
        again.filter(Exists(unfinished.exclude(state=CallState.FINAL))).update(state=CallState.LATER)

    def _others(self, calls: "QuerySet[Call]") -> "QuerySet[Call]":
        return calls.filter(run=self.run_id).exclude(step=self.step)


def _place(call: Call) -> Place:
    return call.item_id, call.replicate
