"""Shares of codes among texts, by system.

Source: the AGENT-CQ paper, Table 4 (categories of clarifying questions by system), and ContextEval, Table 1 (types of
queries, of which one query may have several).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.statistics.core.estimates import Estimate, ParameterError
from analytics.statistics.core.resampling import ResampleSpec, mean_estimate
from analytics.statistics.core.tidy import Ints


@dataclass(frozen=True)
class CodeShares:
    """The share of each system's texts that have the code, in the order of the systems."""

    code: str
    shares: tuple[Estimate, ...]


def code_shares(
    given: Sequence[Collection[str]],
    codes: Sequence[str],
    system: Ints,
    query: Ints,
    *,
    systems: int,
    resample: ResampleSpec,
    unit: str = "texts",
) -> tuple[CodeShares, ...]:
    """Each of `codes` among the texts (n,), whose own are `given`; `system` and `query` (n,) are codes.

    A text counts for each of its codes, so that shares of one system may add up to more than one. Intervals are over
    queries. A system without texts has undefined shares. Raises ParameterError for lists of different lengths.
    """
    if not len(given) == len(system) == len(query):
        raise ParameterError("Codes, systems and queries must be of the same texts.")
    of_system = [np.flatnonzero(system == at) for at in range(systems)]
    found = []
    for code in codes:
        has = np.array([code in each for each in given], dtype=np.float64)
        shares = tuple(
            mean_estimate(
                has[mine],
                query[mine],
                unit=unit,
                resample=resample,
                empty=f"The system has no such {unit}.",
                share=True,
            )
            for mine in of_system
        )
        found.append(CodeShares(code, shares))
    return tuple(found)
