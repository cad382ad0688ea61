"""Acts of a researcher on products: dropped, restored, edited; and queries sent on without what could not be made."""

import json
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from evaluation.counting import counted
from evaluation.models import Outcome
from evaluation.refusals import FieldsRefused, WrongState
from evaluation.services.history import log_action
from evaluation.storable import storable_json
from judging.generation.pipeline import content_problems
from judging.generation.pipelines import PIPELINES
from judging.models import Product, Run, RunState
from judging.services.calls.workload import workload_of
from judging.services.generation.pipeline_runs import stuck_units
from judging.services.generation.workload import GenerationWorkload
from judging.services.runs.lifecycle import move_run

# The products that one can ask for.
KEPT, DROPPED, EDITED = "kept", "dropped", "edited"


def products_of(run: Run) -> QuerySet[Product]:
    """A run's products in the order of its units, dropped ones too."""
    return Product.objects.filter(unit__run=run).select_related("unit__query").order_by("unit", "number")


def find_products(
    run: Run, *, step: str = "", query: str = "", which: str = "", words: str = ""
) -> QuerySet[Product]:
    """A run's products, of one step or of the query with this key; kept, dropped or edited ones; with these words in
    them or in their query."""
    products = products_of(run)
    if step:
        products = products.filter(unit__step=step)
    if query:
        products = products.filter(unit__query__key=query)
    if which == KEPT:
        products = products.filter(dropped_at=None)
    elif which == DROPPED:
        products = products.exclude(dropped_at=None)
    elif which == EDITED:
        products = products.exclude(edited_at=None)
    if words:
        found = Q(unit__query__text__icontains=words) | Q(unit__query__key__icontains=words)
        # Databases differ in how JSON spells what is not ASCII.
        for spelled in {json.dumps(words, ensure_ascii=plain)[1:-1] for plain in (True, False)}:
            found |= Q(content__icontains=spelled) | Q(edited__icontains=spelled)
        products = products.filter(found)
    return products


def drop_products(run: Run, products: Iterable[int], *, by: Any = None) -> int:
    """Leave products out of all that is made of them; return how many were in."""
    found = Product.objects.filter(unit__run=run, pk__in=list(products), dropped_at=None)
    with transaction.atomic():
        n = found.update(dropped_at=timezone.now(), dropped_by=by)
        if n:
            log_action(
                study=run.study, by=by, message=f"Dropped {counted(n, 'product')} of {run}.", about=[run]
            )
    return n


def restore_products(run: Run, products: Iterable[int], *, by: Any = None) -> int:
    """Take dropped products back in; return how many were out."""
    found = Product.objects.filter(unit__run=run, pk__in=list(products), dropped_at__isnull=False)
    with transaction.atomic():
        n = found.update(dropped_at=None, dropped_by=None)
        if n:
            log_action(
                study=run.study, by=by, message=f"Restored {counted(n, 'product')} of {run}.", about=[run]
            )
    return n


def edit_product(product: Product, content: Any, *, by: Any = None) -> str:
    """Put an edited content beside the one that was made; the made one again where they are the same. Returns the
    sentence of the history.

    FieldsRefused names the places in the content that its step refuses.
    """
    run = product.unit.run
    step = PIPELINES[run.generating.pipeline].step(product.unit.step)
    wrong: dict[str, list[str]] = {}
    for problem in content_problems(step, content):
        wrong.setdefault(problem.path, []).append(problem.sentence)
    if wrong:
        raise FieldsRefused(wrong)
    content = storable_json(content)
    if content == product.content:
        said = f"Took back the original of product {product.pk} of {run}."
        product.edited, product.edited_at, product.edited_by = None, None, None
    else:
        said = f"Edited product {product.pk} of {run}."
        product.edited, product.edited_at, product.edited_by = content, timezone.now(), by
    with transaction.atomic():
        product.save(update_fields=["edited", "edited_at", "edited_by"])
        log_action(study=run.study, by=by, message=said, about=[run])
    return said


def pass_over(run: Run) -> int:
    """Have the queries go on without the units that could not be made; return how many units these are."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state != RunState.COMPLETE:
            raise WrongState("Only a complete run can go on without what could not be made.")
        units = stuck_units(run)
        steps = set(units.values_list("step", flat=True))
        passed = units.update(passed_over=True)
        if passed:
            workload = workload_of(locked)
            assert isinstance(workload, GenerationWorkload)
            workload.go_back(steps)
            move_run(run, (RunState.COMPLETE,), RunState.PENDING, reason="")
    return passed


def product_record(product: Product) -> dict[str, Any]:
    """A product as files have it: its number, where it stands, its content, and what made it."""
    unit = product.unit
    found = {
        "product": product.pk, "query": unit.query.key, "step": unit.step, "unit": unit.key,
        "number": product.number, "content": product.content, "edited": product.edited,
        "dropped": product.dropped_at is not None, "about": unit.about, "provenance": product.provenance,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value not in (None, False, {}, "")}


def made_counts(run: Run) -> dict[str, dict[str, int]]:
    """By step: units made, units that could not be, products, and how many of these were dropped and edited."""
    by_outcome = run.units.order_by().values("step", "outcome", "passed_over")
    counts: dict[str, dict[str, int]] = {}
    for row in by_outcome.annotate(n=Count("pk"), first=Min("pk")).order_by("first"):
        of_step = counts.setdefault(row["step"], dict.fromkeys(COUNTED, 0))
        of_step[_counted_as(row["outcome"], row["passed_over"])] += row["n"]
    by_step = Product.objects.filter(unit__run=run).order_by().values("unit__step")
    numbers = {"products": Count("pk"), "dropped": Count("dropped_at"), "edited": Count("edited_at")}
    for step, *found in by_step.annotate(**numbers).values_list("unit__step", *numbers):
        counts[step].update(zip(numbers, found, strict=True))
    return counts


def _counted_as(outcome: str, passed_over: bool) -> str:
    if not outcome or outcome == Outcome.OK:
        return "made" if outcome else "open"
    return "passed_over" if passed_over else "failed"


COUNTED = ("made", "open", "failed", "passed_over", "products", "dropped", "edited")
