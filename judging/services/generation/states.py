"""The states of queries in a pipeline's run: what is known of each, and what was made of it so far."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evaluation.dumps.exports.settled_sets import settled_sets
from evaluation.models import Context, ItemResponse, Outcome, Query, Response
from evaluation.protocols.entries.sets import Entry
from evaluation.refusals import Refused
from judging.generation.pipeline import Cast, GivenResponse, KeptProduct, PlacedModel, QueryState, SourceQuery
from judging.models import Endpoint, PipelineRun, Product

# Queries that are looked at together. Each such batch takes a dozen statements; a query may have a hundred units.
QUERIES_AT_ONCE = 100


class StateReader:
    """Reads the states of a run's queries."""

    def __init__(self, generating: PipelineRun) -> None:
        self.generating = generating
        self.endpoints = endpoints_of(generating.casts)
        self.casts = casts_of(generating.casts, self.endpoints)

    def states(self, queries: Iterable[Query]) -> list[QueryState]:
        """The states of these queries, in their order."""
        rows = list(queries)
        pks = [query.pk for query in rows]
        made = self._products([self.generating.run_id], pks)
        taken = {
            pipeline: self._products([run], pks) for pipeline, run in sorted(self.generating.sources.items())
        }
        known = known_of(pks)
        return [
            QueryState(
                query=source_query(query, known[query.pk], settled=self._settled.get(query.pk, ())),
                seed=self.generating.seed,
                options=self.generating.options,
                casts=self.casts,
                made=made[query.pk],
                sources={pipeline: products[query.pk] for pipeline, products in taken.items()},
            )
            for query in rows
        ]

    def all_states(self) -> Iterator[QueryState]:
        """The states of every query that the run has units of, a few at a time."""
        units = self.generating.run.units.order_by()
        yield from self.in_batches(sorted(set(units.values_list("query", flat=True))))

    def in_batches(self, pks: Collection[int]) -> Iterator[QueryState]:
        ordered = list(pks)
        for start in range(0, len(ordered), QUERIES_AT_ONCE):
            here = ordered[start : start + QUERIES_AT_ONCE]
            yield from self.states(Query.objects.filter(pk__in=here).order_by("pk"))

    @cached_property
    def _settled(self) -> Mapping[int, Sequence[Entry]]:
        """By query, the entries that a calibration came to."""
        try:
            found = settled_sets(self.generating.run.study)
        except Refused:
            return {}
        return {each.item.query_id: each.entries for each in found.sets}

    def _products(self, runs: Collection[int], queries: Collection[int]) -> Mapping[int, list[KeptProduct]]:
        found: dict[int, list[KeptProduct]] = defaultdict(list)
        rows = Product.objects.filter(
            unit__run__in=runs, unit__query__in=queries, unit__outcome=Outcome.OK, dropped_at=None
        )
        # Their columns alone: a run has many products, and each is read again for every step that follows.
        columns = ("unit__query", "unit__step", "unit__key", "unit__about", "number", "content", "edited",
                   "provenance__model", "pk")  # fmt: skip
        for query, step, key, about, number, content, edited, model, pk in rows.order_by(
            "unit", "number"
        ).values_list(*columns):
            found[query].append(
                KeptProduct(
                    step=step,
                    key=key,
                    number=number,
                    content=content if edited is None else edited,
                    about=about,
                    model=model or "",
                    product=pk,
                )
            )
        return found


@dataclass
class KnownOfQuery:
    """Contexts and responses that the study has of a query."""

    contexts: dict[str, Any] = field(default_factory=dict)
    context_sources: dict[str, str] = field(default_factory=dict)
    question_sources: dict[str, str] = field(default_factory=dict)
    responses: list[GivenResponse] = field(default_factory=list)


def known_of(queries: Collection[int]) -> Mapping[int, KnownOfQuery]:
    found: dict[int, KnownOfQuery] = defaultdict(KnownOfQuery)
    contexts = Context.objects.filter(query__in=queries).order_by("pk")
    for query, key, follow_ups, source in contexts.values_list("query", "key", "follow_ups", "source"):
        found[query].contexts[key] = follow_ups
        found[query].context_sources[key] = source
    answered: dict[int, list[str]] = defaultdict(list)
    shown = ItemResponse.objects.filter(item__query__in=queries).exclude(item__clarifying_question="")
    columns = ("item__query", "response", "item__clarifying_question", "item__clarifying_source")
    for query, response, question, source in shown.order_by("item").values_list(*columns):
        answered[response].append(question)
        found[query].question_sources.setdefault(question, source)
    responses = Response.objects.filter(query__in=queries).order_by("pk")
    for pk, query, system, key, text, context in responses.values_list(
        "pk", "query", "system__key", "key", "text", "context__key"
    ):
        found[query].responses.append(
            GivenResponse(system, key, text, context or "", tuple(dict.fromkeys(answered[pk])))
        )
    return found


def source_query(
    query: Query, known: KnownOfQuery | None = None, settled: Sequence[Entry] = ()
) -> SourceQuery:
    known = known or KnownOfQuery()
    return SourceQuery(
        key=query.key,
        text=query.text,
        category=query.category,
        source=query.source,
        split=query.split,
        information_need=query.information_need,
        turns=query.turns,
        references=query.references,
        documents=query.documents,
        document=query.document,
        contexts=known.contexts,
        context_sources=known.context_sources,
        question_sources=known.question_sources,
        responses=tuple(known.responses),
        settled=settled,
    )


def endpoints_of(casts: Mapping[str, Any]) -> dict[int, Endpoint]:
    """The endpoints that a run's casts name and that are there still, by their ids, in the order of the casts."""
    pks = dict.fromkeys(model["endpoint"] for cast in casts.values() for model in cast["models"])
    rows = Endpoint.objects.select_related("trusted_by").in_bulk(list(pks))
    return {pk: rows[pk] for pk in pks if pk in rows}


def casts_of(casts: Mapping[str, Any], endpoints: Mapping[int, Endpoint]) -> dict[str, Cast]:
    """The casts as pipelines know them: endpoints by their names."""
    return {
        role: Cast(
            models=tuple(
                PlacedModel(each["model"], endpoints[each["endpoint"]].name)
                for each in cast["models"]
                if each["endpoint"] in endpoints
            ),
            temperature=cast["temperature"],
            max_tokens=cast["max_tokens"],
            # Runs that began before there was one have none.
            top_p=cast.get("top_p"),
        )
        for role, cast in casts.items()
    }
