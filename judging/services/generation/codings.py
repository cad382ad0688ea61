"""Codes that steps of pipelines gave to a study's queries and texts: types of queries, categories of questions."""

from collections.abc import Iterator, Sequence

from django.db.models import Count, F, Max, QuerySet, Sum

from evaluation.canonical import canonical_hash
from evaluation.extension import CodedText, Coding
from evaluation.models import Study
from evaluation.refusals import Refused
from judging.generation.pipeline import PipelineStep
from judging.generation.pipelines import PIPELINES
from judging.models import Product, Run, RunState
from judging.services.generation.products import products_of


def codings_of(study: Study) -> Iterator[Coding]:
    """Of each step that gives codes, those of its latest complete run; a run over all queries comes before one over
    some of them."""
    complete = Run.objects.filter(study=study, state=RunState.COMPLETE, generating__isnull=False)
    order = F("generating__max_queries").desc(nulls_first=True)
    seen = set()
    for run in complete.select_related("generating").order_by(order, "-pk"):
        name = run.generating.pipeline
        if name in seen or name not in PIPELINES:
            continue
        steps = [step for step in PIPELINES[name].steps if lists_of(step)]
        found = [coding_of(run, step.key) for step in steps if _coded(run, step.key).exists()]
        if found:
            seen.add(name)
            yield from found


def coding_of(run: Run, step_key: str) -> Coding:
    """The codes that a step of the run gave, as edited, without dropped products. Refused where it gives none."""
    pipeline = PIPELINES[run.generating.pipeline]
    steps = {each.key: each for each in pipeline.steps}
    if step_key not in steps:
        raise Refused(f"{run.generating} has no step {step_key!r}; it has: {', '.join(steps)}.")
    step, lists = steps[step_key], lists_of(steps[step_key])
    if not lists:
        raise Refused(f"The step {step_key!r} of {run.generating} gives no codes.")
    products = _coded(run, step_key)
    # Whatever a researcher may do with a product changes one of these.
    numbers = products.order_by().aggregate(
        n=Count("pk"), edited=Count("edited_at"), edit=Max("edited_at"), sum=Sum("pk")
    )
    return Coding(
        key=f"{pipeline.key}/{step_key}",
        title=pipeline.label,
        by=_coder(run, step, numbers["edited"]),
        lists=lists,
        stamp=canonical_hash([run.pk, *map(str, numbers.values())]),
        rows=lambda: list(_rows(products, list(lists))),
    )


def lists_of(step: PipelineStep) -> dict[str, list[str]]:
    """The codes to choose from, by the field of the step's products that has the chosen ones; empty for most steps."""
    shapes = {name: shape.get("items", shape) for name, shape in step.shapes.items()}
    return {name: list(shape["enum"]) for name, shape in shapes.items() if "enum" in shape}


def _coded(run: Run, step_key: str) -> QuerySet[Product]:
    return products_of(run).filter(unit__step=step_key, dropped_at=None)


def _coder(run: Run, step: PipelineStep, edited: int) -> str:
    generating = run.generating
    models = [each["model"] for each in generating.casts.get(step.role, {}).get("models", ())]
    by = " and ".join(models) or "whoever made the imported file"
    some = f"; {edited:,} edited by hand" if edited else ""
    return f"{by}, pipeline {generating.pipeline}, version {generating.version} of its prompts{some}"


def _rows(products: QuerySet[Product], lists: Sequence[str]) -> Iterator[CodedText]:
    for product in products:
        content = product.edited or product.content
        codes = {name: _codes_in(content.get(name)) for name in lists}
        yield CodedText(product.unit.query.key, content.get("system", ""), codes)


def _codes_in(given: str | Sequence[str] | None) -> list[str]:
    """One code, or several."""
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)
