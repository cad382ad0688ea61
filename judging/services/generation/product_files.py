"""Products in files: a run written as JSON lines, and read into any study that has its queries.

The first line tells the pipeline and its settings, each further line a product (see `products.product_record`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.counting import counted
from evaluation.dumps.problems import Problems
from evaluation.models import Outcome, Query, Study
from evaluation.refusals import Refused
from evaluation.services.history import log_action, server_account
from evaluation.services.studies.rehearsals import refuse_in_rehearsal
from evaluation.storable import storable_json
from judging.backends.options import OptionsRefused, clean_options
from judging.generation.pipeline import Pipeline, PipelineStep, content_problems
from judging.generation.pipelines import PIPELINES
from judging.models import Endpoint, GenerationUnit, PipelineRun, Product, Run, RunState, WorkKind
from judging.services.generation.products import product_record, products_of
from judging.services.generation.states import endpoints_of

VERSION = 1
# The fields of a product's line.
NEEDED = ("query", "step", "content")
MAX_KEY = 120
# What every database's integers hold.
MAX_SEED = 2**63 - 1


def product_lines(run: Run) -> Iterator[str]:
    """A run's settings and products, dropped ones too, a line each."""
    generating = run.generating
    endpoints = endpoints_of(generating.casts)
    casts = {
        role: {
            **cast,
            "models": [
                {"model": each["model"], "endpoint": endpoints[each["endpoint"]].name}
                for each in cast["models"]
                if each["endpoint"] in endpoints
            ],
        }
        for role, cast in generating.casts.items()
    }
    yield _line(
        {
            "assay_products": VERSION, "study": run.study.slug, "pipeline": generating.pipeline,
            "version": generating.version, "seed": generating.seed, "options": generating.options, "casts": casts,
        }
    )  # fmt: skip
    for product in products_of(run).iterator(chunk_size=500):
        yield _line(product_record(product))


def _line(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True)
class ReadProducts:
    """The rows that a file of products comes to, which nobody saved."""

    run: Run
    generating: PipelineRun
    units: list[GenerationUnit]
    products: list[Product]

    def save(self, file_name: str = "") -> Run:
        """Save a complete run with all of them; the history says who did, and from which file."""
        with transaction.atomic():
            self.run.save(force_insert=True)
            self.generating.save(force_insert=True)
            GenerationUnit.objects.bulk_create(self.units, batch_size=500)
            _number(self.products)
            Product.objects.bulk_create(self.products, batch_size=500)
            source = f" from {file_name}" if file_name else ""
            said = f"Imported {counted(len(self.products), 'product')}{source} as {self.run}."
            by = self.run.created_by or server_account()
            log_action(study=self.run.study, by=by, message=said, about=[self.run])
        return self.run


def import_products(
    study: Study, lines: Iterable[str | bytes], *, user: Any = None, file_name: str = ""
) -> Run:
    """A complete run with the products of a file; all of them, or Refused and nothing. `user` is the member who asks,
    None whoever runs the server."""
    return read_products(study, lines, user=user).save(file_name)


def read_products(study: Study, lines: Iterable[str | bytes], *, user: Any = None) -> ReadProducts:
    """The products of a file; Refused names what is wrong, line by line."""
    refuse_in_rehearsal(study, "nothing is generated for it.")
    records = _parsed(lines)
    _, header = next(records, (0, {}))
    pipeline = _pipeline(header)
    settings = _settings(study, pipeline, header)
    queries = {query.key: query for query in study.queries.all()}
    units: dict[tuple[str, str, str], GenerationUnit] = {}
    products: list[Product] = []
    problems = Problems()
    now = timezone.now()
    run = Run(
        study=study, work=WorkKind.GENERATION, state=RunState.COMPLETE, last_subject=None, created_by=user
    )
    run.started_at = run.finished_at = now
    for number, record in records:
        wrong = _problems(record, pipeline, queries)
        problems.add(f"line {number}", wrong)
        if wrong:
            continue
        place = (str(record["query"]), str(record["step"]), str(record.get("unit", "")))
        unit = units.setdefault(place, _unit(run, queries[place[0]], record))
        products.append(_product(unit, record, user, now))
    if not products and not problems.total:
        raise Refused("The file has no products.")
    problems.raise_if_any()
    generating = PipelineRun(
        run=run, pipeline=pipeline.key, version=pipeline.version, stage=len(pipeline.steps) - 1, **settings
    )  # fmt: skip
    return ReadProducts(run, generating, list(units.values()), products)


def _parsed(lines: Iterable[str | bytes]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            text = line if isinstance(line, str) else line.decode("utf-8-sig" if number == 1 else "utf-8")
            yield number, storable_json(json.loads(text))
        except UnicodeDecodeError:
            raise Refused(f"line {number}: this is no text in UTF-8.") from None
        except (ValueError, RecursionError) as wrong:
            raise Refused(f"line {number}: not JSON: {wrong}") from None


def _pipeline(header: Any) -> Pipeline:
    if not isinstance(header, dict) or header.get("assay_products") != VERSION:
        raise Refused('line 1: this is no file of products: it has no "assay_products": 1.')
    key = header.get("pipeline")
    if not isinstance(key, str) or key not in PIPELINES:
        raise Refused(f"line 1: there is no pipeline {key!r}; there are: {', '.join(sorted(PIPELINES))}.")
    return PIPELINES[key]


def _problems(record: Any, pipeline: Pipeline, queries: dict[str, Query]) -> list[str]:
    if not isinstance(record, dict):
        return ["a product is a JSON object"]
    if missing := [name for name in NEEDED if name not in record]:
        return [f"{missing[0]!r} is missing"]
    steps: dict[str, PipelineStep] = {step.key: step for step in pipeline.steps}
    found = []
    query, step = str(record["query"]), str(record["step"])
    if query not in queries:
        found.append(f"the study has no query {query!r}")
    if step not in steps:
        found.append(f"{pipeline.key} has no step {step!r}; it has {', '.join(steps)}")
        return found
    for name in ("content", "edited"):
        if record.get(name) is not None:
            found += [f"{name}: {problem}" for problem in content_problems(steps[step], record[name])]
    if len(str(record.get("unit", ""))) > MAX_KEY:
        found.append(f"the unit's key is longer than {MAX_KEY} characters")
    return found


def _unit(run: Run, query: Query, record: dict[str, Any]) -> GenerationUnit:
    about = record.get("about")
    return GenerationUnit(
        run=run, query=query, step=str(record["step"]), key=str(record.get("unit", "")),
        about=about if isinstance(about, dict) else {}, outcome=Outcome.OK,
    )  # fmt: skip


def _product(unit: GenerationUnit, record: dict[str, Any], user: Any, now: Any) -> Product:
    """Its own number is given later; who edited and dropped it elsewhere is not known here."""
    made_by = record.get("provenance")
    edited, dropped = record.get("edited"), bool(record.get("dropped"))
    return Product(
        unit=unit, number=0, content=record["content"], provenance=made_by if isinstance(made_by, dict) else {},
        edited=edited, edited_at=None if edited is None else now, edited_by=None if edited is None else user,
        dropped_at=now if dropped else None, dropped_by=user if dropped else None, made_at=now,
    )  # fmt: skip


def _number(products: list[Product]) -> None:
    """Number each unit's products in their order."""
    counts: dict[int, int] = {}
    for product in products:
        product.unit_id = product.unit.pk
        counts[product.unit_id] = product.number = counts.get(product.unit_id, 0) + 1


def _settings(study: Study, pipeline: Pipeline, header: Mapping[str, Any]) -> dict[str, Any]:
    """The seed, options and casts that the first line tells; Refused names what is of another form."""
    seed, options, casts = (header.get(name) for name in ("seed", "options", "casts"))
    wrong = []
    if seed is not None and (type(seed) is not int or abs(seed) > MAX_SEED):
        wrong.append("line 1: the seed is no whole number that fits")
    if options is not None and not isinstance(options, dict):
        wrong.append("line 1: the options are no object")
    if casts is not None and not _are_casts(casts):
        wrong.append("line 1: the casts are not of the form {role: {models, temperature, top_p, max_tokens}}")
    if wrong:
        raise Refused(*wrong)
    return {
        "seed": seed or study.seed,
        "options": _options(pipeline, options or {}),
        "casts": _casts(pipeline, casts or {}),
    }


def _are_casts(given: Any) -> bool:
    return isinstance(given, dict) and all(
        isinstance(cast, dict)
        and isinstance(cast.get("models", []), list)
        and all(isinstance(each, dict) for each in cast.get("models", []))
        and isinstance(cast.get("temperature"), int | float | None)
        and isinstance(cast.get("top_p"), int | float | None)
        and type(cast.get("max_tokens", 1)) is int
        for cast in given.values()
    )


def _options(pipeline: Pipeline, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the pipeline still has, with its defaults for others."""
    known = {option.key for option in pipeline.options}
    try:
        return clean_options(
            pipeline.options, {name: value for name, value in given.items() if name in known}
        )
    except OptionsRefused as refused:
        raise Refused(*(f"line 1: {each}" for found in refused.by_key.values() for each in found)) from None


def _casts(pipeline: Pipeline, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every role's cast; models at endpoints that are not here are left out."""
    endpoints = dict(Endpoint.objects.values_list("name", "pk"))
    found = {}
    for role in pipeline.roles:
        cast = given.get(role.key, {})
        models = [
            {"endpoint": endpoints[str(each.get("endpoint"))], "model": str(each["model"])}
            for each in cast.get("models", [])
            if str(each.get("endpoint")) in endpoints and each.get("model")
        ]
        found[role.key] = {
            "models": models,
            "temperature": cast.get("temperature", role.temperature),
            "top_p": cast.get("top_p", role.top_p),
            "max_tokens": cast.get("max_tokens") or role.max_tokens,
        }
    return found
