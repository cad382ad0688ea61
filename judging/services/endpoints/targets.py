"""The models that a judge's calls go to: its own, or those behind the study's systems."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from judging.backends import BACKENDS
from judging.backends.base import ModelBackend
from judging.backends.perplexity.measure import models_by_system
from judging.models import Endpoint, Judge, ModelPrice
from judging.services.calls.workload import Target
from judging.services.endpoints.prices import prices_of


def asks_by_system(judge: Judge) -> bool:
    """True if it asks the models behind the study's systems, and none of its own."""
    backend = BACKENDS[judge.backend]
    return isinstance(backend, ModelBackend) and backend.by_system


def targets_of(judge: Judge) -> tuple[Target, ...]:
    """Each model that the judge asks, once; a model at an endpoint that is not there (any more) is left out."""
    if judge.endpoint is None:
        return ()
    if not asks_by_system(judge):
        return (Target("", judge.endpoint, judge.model),)
    models = dict.fromkeys(models_by_system(judge.options.get("models", [])).values())
    named = Endpoint.objects.select_related("trusted_by").filter(name__in={each.endpoint for each in models})
    endpoints = {"": judge.endpoint} | {endpoint.name: endpoint for endpoint in named}
    # One instance for one endpoint, since what is found out of its models is kept on it.
    if judge.endpoint.name in endpoints:
        endpoints[judge.endpoint.name] = judge.endpoint
    return tuple(
        Target(each.endpoint, endpoints[each.endpoint], each.model)
        for each in models
        if each.endpoint in endpoints
    )


def mapping_problems(judge: Judge) -> list[str]:
    """Problems of the systems and endpoints that the judge's map names, as sentences."""
    if not asks_by_system(judge):
        return []
    models = models_by_system(judge.options.get("models", []))
    if not models:
        return ["Name the model of at least one system: system = model, a line each."]
    known = set(judge.study.systems.values_list("key", flat=True))
    problems = [f"The study has no system {system!r}." for system in models if system not in known]
    found = {target.place for target in targets_of(judge)}
    missing = sorted({each.endpoint for each in models.values()} - found)
    return problems + [f"There is no endpoint {name!r}." for name in missing]


def capabilities_of(judge: Judge, targets: Sequence[Target]) -> Mapping[str, Any]:
    """The features of the judge's models: by model, or as the judge's map of systems writes them."""
    if not asks_by_system(judge):
        return judge.endpoint.capabilities if judge.endpoint else {}
    return {str(each): each.endpoint.capabilities.get(each.model, {}) for each in targets}


def target_prices(judge: Judge, targets: Sequence[Target]) -> dict[str, list[str]]:
    """Prices of several models, as a run keeps them; {} where the run's own hold for all of them."""
    if not asks_by_system(judge):
        return {}
    rows = ModelPrice.objects.filter(endpoint__in={each.endpoint.pk for each in targets})
    of_models = {(row.endpoint_id, row.model): (row.price_prompt, row.price_completion) for row in rows}
    own = (judge.price_prompt, judge.price_completion)
    found = {}
    for each in targets:
        priced = of_models.get((each.endpoint.pk, each.model), prices_of(judge))
        prices = [theirs if mine is None else mine for mine, theirs in zip(own, priced, strict=True)]
        found[each.key] = [f"{Decimal(price):f}" for price in prices]
    return found
