"""Shares of the codes that a step gave, by system, as the command prints them."""

from collections.abc import Iterator

import numpy as np

from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.texts.code_shares import code_shares
from evaluation.refusals import Refused
from judging.models import Run
from judging.services.generation.codings import coding_of


def share_lines(run: Run, step: str) -> Iterator[str]:
    """The shares as a Markdown table, in percent; products of no system, such as the types of queries, are all one.

    Refused where the step gives no codes, or has given none yet.
    """
    coding = coding_of(run, step)
    rows = list(coding.rows())
    if not rows:
        raise Refused(f"Run {run.pk} has no products of {step} yet.")
    query = np.unique([row.query for row in rows], return_inverse=True)[1]
    systems, system = np.unique(np.array([row.system for row in rows], dtype=object), return_inverse=True)
    yield f"| {step} | code | {' | '.join(name or 'all' for name in systems)} |"
    yield f"| --- | --- | {' | '.join(['---:'] * len(systems))} |"
    for name, codes in coding.lists.items():
        given = [row.codes[name] for row in rows]
        found = code_shares(
            given, codes, system, query,
            systems=len(systems), resample=ResampleSpec(seed=run.pk), unit="products",
        )  # fmt: skip
        for each in found:
            yield f"| {name} | {each.code} | {' | '.join(map(_cell, each.shares))} |"
    numbers = np.bincount(system, minlength=len(systems))
    yield f"| | products | {' | '.join(f'{n:,}' for n in numbers)} |"


def _cell(share: Estimate) -> str:
    if share.value is None:
        return share.undefined
    if share.low is None or share.high is None:
        return f"{100 * share.value:.1f}"
    return f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"
