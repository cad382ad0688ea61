"""Queries that a study would be made of unevenly, since calls for them failed: what was lost, and what they lack."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Max

from evaluation.models import Outcome
from judging.generation.pipeline import Making, Pipeline, QueryState
from judging.generation.pipelines import PIPELINES
from judging.models import GenerationUnit, Run
from judging.services.generation.queries import generated_queries
from judging.services.generation.states import StateReader

# What is done about such queries where a study is made.
LEAVE_OUT, KEEP = "leave_out", "keep"
UNEVEN: Mapping[str, str] = {
    LEAVE_OUT: "leave these queries out",
    KEEP: "keep them, with what they have",
}
# A sentence names no more than so many systems, and a text no more queries.
MOST_NAMED = 8
MOST_QUERIES = 20


@dataclass(frozen=True)
class LostCall:
    """A call for a query that brought no product."""

    # The run that is not the one the study is made of, but one whose products that took up; None: its own.
    source: int | None
    step: str
    model: str
    outcome: str
    reason: str

    def __str__(self) -> str:
        where = f"{self.step} of run {self.source}" if self.source else self.step
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        return f"{where}, {self.model}, {self.outcome}{reason}"


@dataclass(frozen=True, kw_only=True)
class UnevenQuery:
    """A query that lost calls, and what its items lack for that."""

    pk: int
    key: str
    text: str
    # Systems, with their arm where the study has several.
    lacks: Sequence[str]
    has_items: bool
    # Each kind once, with how many calls were lost in the same way.
    lost: Mapping[LostCall, int]

    @property
    def lacking(self) -> str:
        if not self.has_items:
            return "is in no item"
        if not self.lacks:
            return "lacks no system, and was made of less"
        return f"lacks {named(self.lacks)}"

    @property
    def reasons(self) -> list[str]:
        return [f"{n} times {each}" if n > 1 else str(each) for each, n in self.lost.items()]

    def __str__(self) -> str:
        return f"{self.key} {self.lacking} ({'; '.join(self.reasons)})."


def uneven_queries(run: Run, making: Making, reader: StateReader) -> list[UnevenQuery]:
    """The queries of a complete run for which calls were lost, in the run or in those that it takes from."""
    lost = _lost_calls(run)
    among = set(generated_queries(run.generating))
    pipeline = PIPELINES[run.generating.pipeline]
    pks = sorted(lost.keys() & among)
    states = reader.in_batches(pks)
    return [_uneven(pipeline, making, pk, state, lost[pk]) for pk, state in zip(pks, states, strict=True)]


def _uneven(
    pipeline: Pipeline, making: Making, pk: int, state: QueryState, lost: Mapping[LostCall, int]
) -> UnevenQuery:
    # What this one leaves out is no count of the study's.
    records = list(pipeline.records(replace(making, left_out=Counter()), [state]))
    arms = pipeline.arms_of(making, state)
    found = {(each["arm"], response["system"]) for each in records for response in each["responses"]}
    systems = [each["key"] for each in pipeline.systems(making)]
    return UnevenQuery(
        pk=pk,
        key=state.query.key,
        text=state.query.text,
        lacks=[
            f"{system} in {arm}" if len(arms) > 1 else system
            for arm in arms
            for system in systems
            if (arm, system) not in found
        ],
        has_items=bool(records),
        lost=lost,
    )


def _lost_calls(run: Run) -> Mapping[int, Counter[LostCall]]:
    """By query, the units that could not be made, those that were passed over too."""
    found: dict[int, Counter[LostCall]] = {}
    units = GenerationUnit.objects.filter(run__in=[run.pk, *run.generating.sources.values()])
    units = units.exclude(outcome__in=["", Outcome.OK]).order_by("pk")
    # The units of a run that goes on from another one's products have no calls.
    with_reason = units.annotate(reason=Max("calls__error"))
    for source, query, step, model, outcome, reason in with_reason.values_list(
        "run", "query", "step", "model", "outcome", "reason"
    ):
        lost = LostCall(None if source == run.pk else source, step, model["model"], outcome, reason or "")
        found.setdefault(query, Counter())[lost] += 1
    return found


def told(uneven: Sequence[UnevenQuery]) -> list[str]:
    """The queries, a sentence each, as many as fit."""
    sentences = [str(each) for each in uneven[:MOST_QUERIES]]
    if len(uneven) > MOST_QUERIES:
        sentences.append(f"And {len(uneven) - MOST_QUERIES:,} more.")
    return sentences


def named(keys: Sequence[str]) -> str:
    """The first few of these keys, and how many more there are."""
    more = f" and {len(keys) - MOST_NAMED:,} more" if len(keys) > MOST_NAMED else ""
    return ", ".join(keys[:MOST_NAMED]) + more


def sources_of(uneven: Iterable[UnevenQuery]) -> list[int]:
    """The earlier runs in which calls were lost."""
    return sorted({lost.source for each in uneven for lost in each.lost if lost.source})
