"""A pipeline's run as the engine of calls works on it: generation units are the subjects, products what comes of them.

A run goes through the pipeline's steps one after the other. A step's calls are created once every call of the step
before is final; a query of which a unit could not be made stays behind, and goes on once a retry has made it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from evaluation.design import derived_seed
from evaluation.models import Outcome, Query
from judging.backends.base import Reply, Request, StopRun
from judging.generation.pipeline import (
    Cast,
    Content,
    Pipeline,
    PipelineStep,
    PlacedModel,
    Planned,
    Prompt,
    UnitFacts,
    Unprepared,
)
from judging.generation.pipelines import PIPELINES
from judging.generation.prompts import build_request
from judging.generation.replies import read_products
from judging.models import Call, CallState, Endpoint, GenerationUnit, Product, Run, Spending, WorkKind
from judging.services.calls.bulk_rows import Row, insert_rows
from judging.services.calls.call_attempts import CallAttempt, ReplyContent
from judging.services.calls.workload import KindOfWork, NewCalls, SubjectField, Target
from judging.services.endpoints.access import endpoint_refusals, private_query_refusal
from judging.services.generation.queries import generated_queries
from judging.services.generation.states import QUERIES_AT_ONCE, StateReader, source_query

# Seeds that are sent fit what servers take.
SEEDS = 2**31


@dataclass(frozen=True)
class UnitSubject:
    """A unit as its request is made of it and its reply read."""

    unit: GenerationUnit
    step: PipelineStep
    asked: UnitFacts

    @cached_property
    def prompt(self) -> Prompt:
        return self.step.prompt(self.asked)


class GenerationWorkload:
    """The work of a pipeline's run (see `judging.services.calls.workload.Workload`)."""

    subject: SubjectField = "unit"
    backend: str = "chat"
    spending: str = Spending.GENERATION
    uses_cache: bool = True

    def __init__(self, run: Run) -> None:
        self.run = run
        self.generating = run.generating
        self.reader = StateReader(self.generating)
        endpoints = list(self.reader.endpoints.values())
        self.endpoint: Endpoint | None = endpoints[0] if endpoints else None
        chosen = dict.fromkeys(
            (model["endpoint"], model["model"])
            for cast in self.generating.casts.values()
            for model in cast["models"]
        )
        self.targets: Sequence[Target] = tuple(
            Target(self._place(pk), self.reader.endpoints[pk], model)
            for pk, model in chosen
            if pk in self.reader.endpoints
        )
        self.model = self.targets[0].model if self.targets else ""
        self._choices: dict[str, Collection[str] | None] = {}

    @cached_property
    def pipeline(self) -> Pipeline:
        if self.generating.pipeline not in PIPELINES:
            raise StopRun(f"There is no pipeline {self.generating.pipeline!r} any more.")
        pipeline = PIPELINES[self.generating.pipeline]
        if pipeline.version != self.generating.version:
            raise StopRun("The pipeline's prompts have changed since this run began: start a new one.")
        return pipeline

    def _place(self, endpoint: int) -> str:
        """The name that requests call an endpoint by."""
        if self.endpoint is None or endpoint == self.endpoint.pk:
            return ""
        return self.reader.endpoints[endpoint].name

    def prepare(self) -> None:
        """See that there is such a pipeline, and that it has what it needs."""
        try:
            self.pipeline.prepare(self.generating.options)
        except Unprepared as reason:
            raise StopRun(str(reason)) from None

    # --- creating -------------------------------------------------------------------------------------------------

    def create_calls(self, after: int) -> NewCalls:
        # Another worker may have begun the next step.
        self.generating.refresh_from_db(fields=["stage"])
        step = self.pipeline.steps[self.generating.stage]
        here = self._after(after)[:QUERIES_AT_ONCE]
        held_up = set(self._held_up().filter(query__in=here))
        queries = Query.objects.filter(pk__in=here).order_by("pk")
        rows = self._plan(step, [query for query in queries if query.pk not in held_up])
        return NewCalls(rows, here[-1] if len(here) == QUERIES_AT_ONCE else None)

    def _after(self, query: int) -> list[int]:
        """The run's queries after this one."""
        return self._queries[bisect_right(self._queries, query) :]

    @cached_property
    def _queries(self) -> list[int]:
        return generated_queries(self.generating)

    def _held_up(self) -> QuerySet[GenerationUnit, int]:
        """The queries that stay behind: a unit of theirs is still to be made, or could not be."""
        units = GenerationUnit.objects.filter(run=self.run.pk, passed_over=False).exclude(outcome=Outcome.OK)
        return units.order_by().values_list("query", flat=True)

    def _plan(self, step: PipelineStep, queries: Sequence[Query]) -> list[dict[str, Any]]:
        """Create the units of these queries, with the products of those that ask nobody; the rows of calls."""
        chosen = self._chosen(step)
        there = set(
            GenerationUnit.objects.filter(run=self.run.pk, step=step.key, query__in=queries).values_list(
                "query", "key"
            )
        )
        planned: list[tuple[GenerationUnit, Planned]] = []
        for query, state in zip(queries, self.reader.states(queries), strict=True):
            if chosen is not None and query.key not in chosen:
                continue
            try:
                planned += [
                    (self._unit(query, step, each), each)
                    for each in step.plan(state)
                    if (query.pk, each.key) not in there
                    and not (isinstance(chosen, Mapping) and each.key not in chosen[query.key])
                ]
            except Unprepared as reason:
                raise StopRun(str(reason)) from None
        GenerationUnit.objects.bulk_create([unit for unit, _ in planned])
        now = timezone.now()
        insert_rows(
            Product,
            [row for unit, each in planned for row in _product_rows(unit, each.products, {}, now)],
        )
        return [
            {"unit_id": unit.pk, "replicate": each.sample, "step": step.key}
            for unit, each in planned
            if each.model is not None
        ]

    def _unit(self, query: Query, step: PipelineStep, planned: Planned) -> GenerationUnit:
        return GenerationUnit(
            run=self.run, query=query, step=step.key, key=planned.key, about=dict(planned.about),
            model={} if planned.model is None else self._stored(planned.model),
            temperature=planned.temperature, max_tokens=planned.max_tokens,
            outcome=Outcome.OK if planned.model is None else "",
        )  # fmt: skip

    def _stored(self, model: PlacedModel) -> dict[str, Any]:
        by_name = {endpoint.name: pk for pk, endpoint in self.reader.endpoints.items()}
        return {"endpoint": by_name[model.place], "model": model.model}

    def _chosen(self, step: PipelineStep) -> Collection[str] | None:
        """The choice among all queries, made once a step: every batch of its queries gets its calls by the same one."""
        if type(step).chosen is PipelineStep.chosen:
            return None
        if step.key not in self._choices:
            self._choices = {step.key: step.chosen(self.reader.all_states())}
        return self._choices[step.key]

    def waiting_subjects(self, after: int) -> int:
        """Units still to come, as many as they may be at most."""
        settings = self.generating
        held_up = self._held_up().filter(query__gt=after).distinct().count()
        here, everybody = len(self._after(after)) - held_up, len(self._queries)
        return round(
            sum(
                step.most_of(everybody if later else here, settings.options, self.reader.casts)
                for later, step in enumerate(self.pipeline.steps[settings.stage :])
            )
        )

    def calls_per_subject(self) -> float:
        return 1.0

    # --- asking ---------------------------------------------------------------------------------------------------

    def calls_to(self, target: Target) -> Q | None:
        if len(self.targets) == 1:
            return None
        model = {"endpoint": target.endpoint.pk, "model": target.model}
        return Q(unit__in=GenerationUnit.objects.filter(run=self.run.pk, model=model))

    def subjects(self, calls: Collection[Call]) -> Mapping[int, UnitSubject]:
        units = GenerationUnit.objects.filter(pk__in={call.unit_id for call in calls})
        return {
            unit.pk: UnitSubject(
                unit,
                self.pipeline.step(unit.step),
                UnitFacts(source_query(unit.query), unit.key, unit.about, self.generating.options),
            )
            for unit in units.select_related("query")
        }

    def refusals(self, calls: Collection[Call]) -> list[str]:
        study = self.run.study
        units = GenerationUnit.objects.filter(pk__in=[call.unit_id for call in calls])
        if not self.reader.endpoints and self.generating.casts:
            return ["The endpoint of this run is not there any more."]
        refused = []
        for pk in self.reader.endpoints:
            endpoint = Endpoint.objects.select_related("trusted_by").get(pk=pk)
            here = units.filter(model__endpoint=pk, query__split=Query.Split.PRIVATE)
            private = private_query_refusal(endpoint, here.values("query").distinct().count())
            refused += [*endpoint_refusals(endpoint, study), *([private] if private else [])]
        return list(dict.fromkeys(refused))

    def request(self, call: Call, subject: UnitSubject) -> Request:
        unit = subject.unit
        if unit.model.get("endpoint") not in self.reader.endpoints:
            raise StopRun("The endpoint of this run is not there any more.")
        endpoint = self.reader.endpoints[unit.model["endpoint"]]
        cast: Cast = self.reader.casts[subject.step.role]
        seed = derived_seed(
            self.generating.seed, "sample", subject.asked.query.key, unit.step, unit.key, call.unread
        )
        return build_request(
            subject.prompt,
            PlacedModel(unit.model["model"], endpoint.name),
            place=self._place(endpoint.pk),
            temperature=cast.temperature if unit.temperature is None else unit.temperature,
            top_p=cast.top_p,
            max_tokens=unit.max_tokens or cast.max_tokens,
            seed=seed % SEEDS,
            capabilities=endpoint.capabilities,
        )

    def read(self, call: Call, subject: UnitSubject, reply: Reply) -> ReplyContent:
        return ReplyContent(None, product=read_products(subject.step, subject.asked, subject.prompt, reply))

    def answer(self, call: Call, subject: UnitSubject) -> CallAttempt:
        raise StopRun("A unit of this run asks a model, but the run has none.")

    # --- storing --------------------------------------------------------------------------------------------------

    def reopened(self) -> None:
        """Take the run back to the first step of which something is to be made again."""
        steps = set(
            self.run.units.filter(calls__in=self.run.calls.exclude(state=CallState.FINAL)).values_list(
                "step", flat=True
            )
        )
        self.go_back(steps)

    def go_back(self, steps: Collection[str]) -> None:
        """Take the run back to the first of these steps, so that queries which stayed behind go on from there."""
        places = [place for place, step in enumerate(self.pipeline.steps) if step.key in steps]
        if places:
            self.generating.stage = min(places)
            self.generating.save(update_fields=["stage"])

    def write_results(self, final: Sequence[CallAttempt], calls: Mapping[int, Call], now: datetime) -> None:
        by_outcome: dict[str, list[int]] = defaultdict(list)
        products: list[Row] = []
        for attempt in final:
            subject: UnitSubject = attempt.subject
            unit = subject.unit
            by_outcome[attempt.outcome].append(unit.pk)
            if attempt.outcome != Outcome.OK:
                continue
            products += _product_rows(unit, attempt.product, self._provenance(attempt, subject), now)
        for outcome, units in by_outcome.items():
            GenerationUnit.objects.filter(pk__in=units).update(outcome=outcome)
        insert_rows(Product, products)

    def _provenance(self, attempt: CallAttempt, subject: UnitSubject) -> dict[str, Any]:
        request = self.request(attempt.call, subject)
        return {
            "call": attempt.call.pk,
            "model": request.model,
            "endpoint": self.reader.endpoints[subject.unit.model["endpoint"]].name,
            "parameters": dict(request.parameters),
            **({"cached": True} if attempt.cached else {}),
        }

    def stored_outcomes(self, calls: QuerySet[Call]) -> Mapping[tuple[int, int], str]:
        rows = calls.exclude(unit__outcome="").values_list("unit", "replicate", "unit__outcome")
        return {(unit, replicate): outcome for unit, replicate, outcome in rows}

    def next_stage(self, run: Run) -> bool:
        self.generating.refresh_from_db(fields=["stage"])
        if self.generating.stage + 1 >= len(self.pipeline.steps):
            return False
        self.generating.stage += 1
        self.generating.save(update_fields=["stage"])
        return True

    def follow_state(self, run: Run) -> None:
        return


def _product_rows(
    unit: GenerationUnit, contents: Iterable[Content], provenance: Mapping[str, Any], now: datetime
) -> Iterator[Row]:
    made_at = connection.ops.adapt_datetimefield_value(now)
    for number, content in enumerate(contents, 1):
        yield {
            "unit_id": unit.pk, "number": number, "content": content, "provenance": provenance, "made_at": made_at,
        }  # fmt: skip


GENERATION = KindOfWork(WorkKind.GENERATION, GenerationWorkload)
