"""Kappas of many pairs of raters as what they are read for, their distribution: quantiles and a histogram."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np

from analytics.display.blocks import Block
from analytics.display.histograms import Bar, Histograms, histograms
from analytics.display.numbers import decimal, to_places
from analytics.display.tables import DASH, Builder, Table, TableCell, Where, columns, head, words
from analytics.statistics.core.estimates import Estimate

# The name of a row, in one cell or more, and the kappas of its pairs, each with what the two judged.
Row: TypeAlias = tuple[tuple[str, ...], Sequence[tuple[Estimate, Where | None]]]
COHENS_KAPPA = "Cohen's \N{GREEK SMALL LETTER KAPPA}"
# The pairs of more raters than this are too many to be read one by one.
MOST_IN_ROWS = 10
# Bins of the histogram are a tenth wide.
BINS = 10
QUANTILES = {"Lowest": 0.0, "Lower quartile": 0.25, "Median": 0.5, "Upper quartile": 0.75, "Highest": 1.0}


class TwoRaters(Protocol):
    """A pair of raters, by pseudonym."""

    @property
    def rater_1(self) -> str: ...

    @property
    def rater_2(self) -> str: ...


def are_many(pairs: Iterable[TwoRaters]) -> bool:
    return len({name for pair in pairs for name in (pair.rater_1, pair.rater_2)}) > MOST_IN_ROWS


def distribution(
    heading: str, pairs: Table, labels: Sequence[str], rows: Sequence[Row], *, tag: str, folded: bool
) -> Block:
    """Quantiles of each row's kappas, below `labels`, and a histogram of the first of each name; the `pairs` one by one
    are in the report's files."""
    every = [kappa for _, kappas in rows for kappa, _ in kappas]
    shared, units = [each.n for each in every], " or ".join(dict.fromkeys(each.unit for each in every))
    build = Builder(
        f"Distribution of {COHENS_KAPPA} over pairs of raters; n is the number of pairs.",
        columns([*labels, *QUANTILES, "n"], names=len(labels)),
        foot=f"Two raters share {min(shared):,} to {max(shared):,} {units}: kappas of few differ by chance alone.",
    )
    for (first, *others), kappas in rows:
        values = [value for value, _ in _defined(kappas)]
        cells = (
            [decimal(float(each)) for each in np.quantile(values, list(QUANTILES.values()))] if values else []
        )
        undefined = len(kappas) - len(values)
        build.add(
            head(first),
            *map(words, others),
            *(TableCell(each) for each in cells or [DASH] * len(QUANTILES)),
            TableCell(f"{len(values):,}", f"{undefined:,} undefined" if undefined else ""),
        )
    return Block(
        heading,
        tables=(build.build(), replace(pairs, in_files=True)),
        plot=_plot(rows),
        tag=tag,
        folded=folded,
    )


def _defined(kappas: Iterable[tuple[Estimate, Where | None]]) -> list[tuple[float, Where | None]]:
    return [(kappa.value, where) for kappa, where in kappas if kappa.value is not None]


def _plot(rows: Sequence[Row]) -> Histograms | None:
    """One histogram for each name; None where no kappa is defined."""
    found: dict[str, list[tuple[float, Where | None]]] = {}
    for (first, *_), kappas in rows:
        found.setdefault(first, _defined(kappas))
    named = {name: values for name, values in found.items() if values}
    if not named:
        return None
    every = [value for values in named.values() for value, _ in values]
    # One more than the last bin begins with: a kappa on a border is in the bin that begins there.
    low, high = math.floor(min(every) * BINS), math.floor(max(every) * BINS) + 1
    edges = [at / BINS for at in range(min(low, high - 2), high + 1)]
    weights = rows[0][0][1:]
    said = f", {weights[0].lower()}" if weights else ""
    return histograms(
        [(name, [_bar(values, *each) for each in pairwise(edges)]) for name, values in named.items()],
        what=f"Distribution of kappa{said}",
        axis=f"{COHENS_KAPPA}{said}",
        counted=("pair", "pairs"),
        caption=f"Number of pairs of raters by {COHENS_KAPPA}{said}.",
        form=to_places(1),
    )


def _bar(values: Iterable[tuple[float, Where | None]], low: float, high: float) -> Bar:
    """The kappas from `low` up to `high`; that of a single pair leads to what the two judged."""
    within = [where for value, where in values if low <= value < high]
    return Bar(low, high, len(within), where=within[0] if len(within) == 1 else None)
