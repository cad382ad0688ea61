"""The generation's part of a replication bundle: the runs that a study was made of, with prompts, replies and products.

A study of products is another one than that of their runs: `study.jsonl` names the products of each item, and these
files have them with the calls that they came from. `generation.bundle_check` holds them against each other.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from django.conf import settings

from evaluation.canonical import canonical_hash
from evaluation.extension import BundleFile
from evaluation.models import Import, Query, Study
from evaluation.services.studies.origin import standing_source
from judging.backends.base import StopRun
from judging.generation.pipeline import SourceQuery
from judging.generation.pipelines import PIPELINES
from judging.models import Call, Endpoint, GenerationUnit, Product, Run, WorkKind
from judging.services.generation.made_studies import ProductSource
from judging.services.generation.states import casts_of, endpoints_of, source_query
from judging.services.generation.workload import GenerationWorkload

RUNS, QUERIES, CALLS = "generation/runs.jsonl", "generation/queries.jsonl", "generation/calls.jsonl"
OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def generation_files(study: Study) -> list[BundleFile]:
    """Nothing of a study for which nothing was generated here."""
    if not generation_runs(study):
        return []
    return [
        BundleFile(
            RUNS,
            "a line per run of a pipeline that items were made of: its options, models and seed",
            lambda: _runs(study),
        ),
        BundleFile(
            QUERIES,
            "the queries of these runs, as their prompts were made of them",
            lambda: _queries(study),
        ),
        BundleFile(
            CALLS,
            "a line per thing generated: its prompt with its sha256, the parameters sent with it, the reply as it "
            "came, and the products",
            lambda: _calls(study),
        ),
    ]


def generation_endpoints(study: Study) -> list[Endpoint]:
    return [each for run in generation_runs(study) for each in endpoints_of(run.generating.casts).values()]


def generation_runs(study: Study) -> list[Run]:
    """The study's own runs of pipelines, those that its items were made of, and those that these took from."""
    found = set(Run.objects.filter(study=study, work=WorkKind.GENERATION).values_list("pk", flat=True))
    # The products of a study that came in from elsewhere are not here, whatever their numbers.
    if Import.objects.filter(created_study=study, format=ProductSource.format).exists():
        products = list(_products_of_items(study))
        for start in range(0, len(products), settings.ASSAY_BATCH_SIZE):
            some = Product.objects.filter(pk__in=products[start : start + settings.ASSAY_BATCH_SIZE])
            some = some.filter(unit__run__study__slug=standing_source(study))
            found |= set(some.values_list("unit__run", flat=True).distinct())
    runs: dict[int, Run] = {}
    while found:
        rows = Run.objects.filter(pk__in=found, generating__isnull=False).select_related(
            "generating", "study"
        )
        runs |= {run.pk: run for run in rows}
        found = {pk for run in rows for pk in run.generating.sources.values()} - runs.keys()
    return [runs[pk] for pk in sorted(runs)]


def _products_of_items(study: Study) -> Iterable[int]:
    found: dict[int, None] = {}
    for origin in study.items.exclude(origin={}).values_list("origin", flat=True).iterator():
        found |= dict.fromkeys(pk for pk in origin.get("products", ()) if isinstance(pk, int))
    return found


def _runs(study: Study) -> Iterator[bytes]:
    for run in generation_runs(study):
        generating = run.generating
        casts = casts_of(generating.casts, endpoints_of(generating.casts))
        record = {
            "run": run.pk,
            "study": run.study.slug,
            "pipeline": generating.pipeline,
            "version": generating.version,
            "seed": generating.seed,
            "options": generating.options,
            "max_queries": generating.max_queries,
            "sources": generating.sources,
            "roles": {
                role: {
                    "models": [each.model for each in cast.models],
                    "temperature": cast.temperature,
                    "top_p": cast.top_p,
                    "max_tokens": cast.max_tokens,
                }
                for role, cast in casts.items()
            },
            "state": run.state,
            "asked": run.asked,
            "unanswered": run.unanswered,
        }
        yield orjson.dumps(record, option=OPTIONS)


def _units(study: Study, run: Run) -> Any:
    """Those of the queries that the study has: another study's others are nobody's business here."""
    units = GenerationUnit.objects.filter(run=run)
    if run.study_id != study.pk:
        units = units.filter(query__key__in=study.queries.values("key"))
    return units.select_related("query").order_by("pk")


def _queries(study: Study) -> Iterator[bytes]:
    seen: set[int] = set()
    for run in generation_runs(study):
        pks = set(_units(study, run).order_by().values_list("query", flat=True)) - seen
        seen |= pks
        for query in Query.objects.filter(pk__in=pks).select_related("study").order_by("pk").iterator():
            yield orjson.dumps({"study": query.study.slug, **_facts(source_query(query))}, option=OPTIONS)


# What prompts are made of, as a file has it.
FACTS = (
    "key", "text", "category", "source", "split", "information_need", "turns", "references", "documents", "document",
)  # fmt: skip


def _facts(query: SourceQuery) -> dict[str, Any]:
    return {name: getattr(query, name) for name in FACTS}


def _calls(study: Study) -> Iterator[bytes]:
    for run in generation_runs(study):
        workload, last = GenerationWorkload(run), 0
        while units := list(_units(study, run).filter(pk__gt=last)[: settings.ASSAY_BATCH_SIZE]):
            last = units[-1].pk
            yield from _lines(workload, units)


def _lines(workload: GenerationWorkload, units: Sequence[GenerationUnit]) -> Iterator[bytes]:
    calls = {call.unit_id: call for call in Call.objects.filter(unit__in=units)}
    products: dict[int, list[Product]] = {}
    for product in Product.objects.filter(unit__in=units).order_by("unit", "number"):
        products.setdefault(product.unit_id, []).append(product)
    for unit in units:
        call = calls.get(unit.pk)
        record = {
            "run": workload.run.pk,
            "study": workload.run.study.slug,
            "query": unit.query.key,
            "step": unit.step,
            "unit": unit.key,
            "about": unit.about,
            "model": unit.model.get("model", ""),
            "outcome": unit.outcome,
            "passed_over": unit.passed_over,
            **_asked(workload, unit, call),
            **({} if call is None else _answered(call)),
            "products": [_made(each) for each in products.get(unit.pk, ())],
        }
        yield orjson.dumps(record, option=OPTIONS)


def _asked(workload: GenerationWorkload, unit: GenerationUnit, call: Call | None) -> dict[str, Any]:
    """The messages, with their hash, and the parameters; None of what asked nobody, of what came from a file, and where
    the prompts have changed since."""
    nothing = {"messages": None, "prompt_sha256": None, "parameters": None}
    if call is None or not unit.model or workload.run.generating.pipeline not in PIPELINES:
        return nothing
    try:
        request = workload.request(call, workload.subjects([call])[unit.pk])
    except StopRun:
        return nothing
    messages = [dict(message) for message in request.messages]
    return {
        "messages": messages,
        "prompt_sha256": canonical_hash(messages),
        "parameters": dict(request.parameters),
    }


def _answered(call: Call) -> dict[str, Any]:
    kept = {name: call.reply.get(name) for name in ("finish_reason", "refusal")}
    return {
        "attempts": call.attempts,
        "cached": call.cached,
        "raw": call.raw,
        "reply": {name: value for name, value in kept.items() if value},
        "error": call.error,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
    }


def _made(product: Product) -> dict[str, Any]:
    content = product.content if product.edited is None else product.edited
    return {
        "product": product.pk,
        "content": product.content,
        "edited": product.edited,
        "dropped": product.dropped_at is not None,
        "sha256": canonical_hash(content),
    }
