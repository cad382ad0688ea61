"""Shares of the codes that a step gave, by system: what kinds of questions each system asks (AGENT-CQ, Table 4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from evaluation.refusals import Refused
from judging.generation.pipelines import PIPELINES
from judging.models import Run
from judging.services.generation.products import products_of


@dataclass(frozen=True)
class CodeShares:
    """Of one code of a list (`field`), the share of each system's products that have it; intervals are over queries.

    Where several codes may hold, a product counts for each of its own, and shares add up to more than one.
    """

    field: str
    code: str
    by_system: Mapping[str, Estimate]


def code_shares(run: Run, step: str) -> list[CodeShares]:
    """Every code of the step's lists, as edited, of products that were not dropped. Refused where it gives no codes."""
    lists = _code_lists(run, step)
    rows = [
        (product.unit.query.key, product.edited or product.content)
        for product in products_of(run).filter(unit__step=step, dropped_at=None)
    ]
    if not rows:
        raise Refused(f"Run {run.pk} has no products of {step} yet.")
    queries = np.unique([key for key, _ in rows], return_inverse=True)[1]
    system = np.array([content.get("system", "") for _, content in rows], dtype=object)
    resample = ResampleSpec(seed=run.pk)
    of_system = {key: system == key for key in sorted(set(system.tolist()))}
    found = []
    for field, codes in lists.items():
        given = [_codes_in(content.get(field)) for _, content in rows]
        for code in codes:
            has = np.array([code in each for each in given], dtype=np.float64)
            shares = {key: _share(has[mine], queries[mine], resample) for key, mine in of_system.items()}
            found.append(CodeShares(field, code, shares))
    return found


def _code_lists(run: Run, step: str) -> dict[str, list[str]]:
    steps = {each.key: each for each in PIPELINES[run.generating.pipeline].steps}
    if step not in steps:
        raise Refused(f"{run.generating} has no step {step!r}; it has: {', '.join(steps)}.")
    shapes = {name: shape.get("items", shape) for name, shape in steps[step].shapes.items()}
    found = {name: list(shape["enum"]) for name, shape in shapes.items() if "enum" in shape}
    if not found:
        raise Refused(f"The step {step!r} of {run.generating} gives no codes.")
    return found


def _codes_in(given: str | Sequence[str] | None) -> frozenset[str]:
    """One code, or several."""
    if given is None:
        return frozenset()
    return frozenset([given] if isinstance(given, str) else given)


def _share(has: np.ndarray, query: np.ndarray, resample: ResampleSpec) -> Estimate:
    empty = "The system has no such product."
    return mean_estimate(has, query, unit="products", resample=resample, empty=empty, share=True)


def share_lines(run: Run, step: str) -> Iterator[str]:
    """The shares as a Markdown table, in percent; products of no system, such as the types of queries, are all one."""
    found = code_shares(run, step)
    systems = list(found[0].by_system)
    yield f"| {step} | code | {' | '.join(name or 'all' for name in systems)} |"
    yield f"| --- | --- | {' | '.join(['---:'] * len(systems))} |"
    for each in found:
        yield f"| {each.field} | {each.code} | {' | '.join(_cell(each.by_system[key]) for key in systems)} |"
    yield f"| | products | {' | '.join(f'{found[0].by_system[key].n:,}' for key in systems)} |"


def _cell(share: Estimate) -> str:
    if share.value is None:
        return share.undefined
    if share.low is None or share.high is None:
        return f"{100 * share.value:.1f}"
    return f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"
