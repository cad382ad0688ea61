"""Later steps made again: a new run that takes up what another made up to a step, with all edits since."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from evaluation.counting import counted
from evaluation.refusals import Refused
from judging.generation.pipelines import PIPELINES
from judging.models import ACTIVE, GenerationUnit, Product, Run
from judging.services.generation.pipeline_runs import PipelineSettings, start_pipeline, stuck_units

AT_ONCE = 500


def make_later_steps(run: Run, step: str, *, user: Any = None) -> Run:
    """A new run with the products of another up to a step as they are now, which goes on from there; Refused where it
    can't. The other run stays as it is. A call whose prompt is unchanged costs nothing again.
    """
    generating = run.generating
    pipeline = PIPELINES[generating.pipeline]
    keys = [each.key for each in pipeline.steps]
    if step not in keys:
        raise Refused(f"{pipeline.label} has no step {step!r}; it has: {', '.join(keys)}.")
    place = keys.index(step)
    earlier, later = keys[: place + 1], pipeline.steps[place + 1 :]
    problems = []
    if not later:
        problems.append(f"No step comes after {step}.")
    if run.state in ACTIVE:
        problems.append("The run is still at work: pause it, or let it end.")
    if pipeline.version != generating.version:
        problems.append("The pipeline's prompts have changed since the run began: start a new one.")
    if stuck := stuck_units(run).filter(step__in=earlier).count():
        problems.append(f"{counted(stuck, 'unit')} up to this step could not be made: retry or pass over.")
    if (open_ := run.units.filter(step__in=earlier, outcome="").count()) or generating.stage < place:
        problems.append(
            f"This step is not complete: {counted(open_, 'unit is', 'units are')} still to be made."
        )
    for role in {each.role for each in later if each.role}:
        if not generating.casts.get(role, {}).get("models"):
            problems.append(f"The run names no model for {role}: start a new one.")
    if problems:
        raise Refused(*problems)
    settings = PipelineSettings(
        pipeline=pipeline, options=generating.options, casts=generating.casts, sources=generating.sources,
        seed=generating.seed, max_queries=generating.max_queries,
    )  # fmt: skip
    with transaction.atomic():
        new = start_pipeline(
            run.study, settings, user=user, budget=run.budget, in_flight=run.in_flight, by_batch=run.by_batch
        )
        _copy_units(run, new, earlier)
        new.generating.stage = place + 1
        new.generating.save(update_fields=["stage"])
    return new


def _copy_units(run: Run, new: Run, steps: Sequence[str]) -> None:
    pks = list(run.units.filter(step__in=steps).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(pks), AT_ONCE):
        some = pks[start : start + AT_ONCE]
        copies = GenerationUnit.objects.in_bulk(some)
        products = list(Product.objects.filter(unit__in=some).order_by("unit", "number"))
        for unit in copies.values():
            unit.pk, unit.run = None, new
        GenerationUnit.objects.bulk_create([copies[pk] for pk in some])
        for product in products:
            product.pk, product.unit = None, copies[product.unit_id]
        Product.objects.bulk_create(products)
