"""The cost of judging one item by each judge of a study, for its plan."""

from collections.abc import Iterator
from decimal import Decimal

from evaluation.models import Study
from evaluation.refusals import Refused
from judging.models import Judge
from judging.services.estimates.run_estimate import estimate


def item_costs(study: Study) -> Iterator[tuple[str, Decimal]]:
    """Name and cost of one item, of each judge's latest version that asks a model and that could run now."""
    latest: dict[str, Judge] = {}
    for judge in Judge.objects.filter(study=study).order_by("name", "version"):
        latest[judge.name] = judge
    for judge in latest.values():
        if not judge.asks_model:
            continue
        try:
            told = estimate(study, judge, uses_cache=False)
        except Refused:
            continue
        if told.items:
            yield str(judge), told.cost / told.items
