"""Dot plots of figures by group of raters."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from analytics.display.numbers import NBSP, decimal, percent
from analytics.display.plots import DotPlot, Mark, PlotRow, dot_plot
from analytics.display.tables import Where
from analytics.statistics.core.estimates import Estimate

PERCENT = "%"
# Labels of groups that are words of the language and not names.
SPOKEN = ("People", "Judges together", "Simulated raters")
FORMS = {"person": "filled dots", "judge": "open dots", "simulated": "diamonds"}
SEVERAL = {"person": "people", "judge": "judges", "simulated": "simulated raters"}


def short_percent(value: float) -> str:
    """A share as ticks and readings of plots have it: in percent, without a decimal that is zero."""
    return f"{percent(value).removesuffix('.0')}{NBSP}{PERCENT}"


class Plotted(Protocol):
    """A group of raters: its name, what it is of, and its judgments in the list of items."""

    @property
    def label(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def where(self) -> Where | None: ...


@dataclass(frozen=True)
class PlottedRaters:
    """Raters that are no group of the report, as a single judge of many is."""

    kind: str
    label: str
    where: Where | None = None


def mark_of(group: Plotted, estimate: Estimate) -> Mark:
    kind = "judge" if group.kind in ("judge", "judges", "jury") else group.kind
    of = group.where
    limits = estimate.low, estimate.high
    return Mark(kind, group.label, estimate.value, *limits, estimate.n, of and Where(of.pairs))


def legend(marks: Iterable[Mark]) -> str:
    """Legend of the forms of dots: "Filled dots: people; open dots: Cedar". Several of a form have their names beside
    their marks."""
    who: dict[str, list[str]] = {}
    for mark in marks:
        names = who.setdefault(mark.kind, [])
        name = mark.who.lower() if mark.who in SPOKEN else mark.who
        if name not in names:
            names.append(name)
    parts = [f"{FORMS[kind]}: {SEVERAL[kind] if len(names) > 1 else names[0]}" for kind, names in who.items()]
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def share_plot(
    rows: Iterable[tuple[str, Iterable[tuple[Plotted, Estimate]]]],
    *,
    what: str,
    caption: str,
    axis: str = "",
    reference: float | None = None,
    hints: tuple[str, str] = ("", ""),
    whole: bool = False,
) -> DotPlot | None:
    """A plot of shares; rows are (label, (group, estimate) pairs). None where nothing is defined.

    `whole` shows the scale from none to all, so that plots below each other have one scale.
    """
    made = _rows(rows)
    if not any(mark.value is not None for mark in _marks(made)):
        return None
    return dot_plot(
        made,
        what=what,
        caption=f"{caption} {legend(_marks(made))}, with 95 % intervals.",
        form=short_percent,
        axis=axis,
        unit=PERCENT,
        within=(0.0, 1.0),
        reference=reference,
        hints=hints,
        whole=whole,
    )


def score_plot(
    rows: Iterable[tuple[str, Iterable[tuple[Plotted, Estimate]]]],
    *,
    what: str,
    caption: str,
    axis: str = "",
    unit: str = "",
    form: Callable[[float], str] = decimal,
    hints: tuple[str, str] = ("", ""),
) -> DotPlot | None:
    """The same for figures without bounds, around zero."""
    made = _rows(rows)
    if not any(mark.value is not None for mark in _marks(made)):
        return None
    return dot_plot(
        made,
        what=what,
        caption=f"{caption} {legend(_marks(made))}, with 95 % intervals.",
        form=form,
        axis=axis,
        unit=unit,
        reference=0.0,
        hints=hints,
    )


def mean_plot(
    rows: Iterable[tuple[str, Iterable[tuple[Plotted, Estimate]]]],
    *,
    what: str,
    caption: str,
    within: tuple[float, float],
    axis: str = "",
    reference: float | None = None,
    whole: bool = False,
) -> DotPlot | None:
    """The same for means on a scale, whose ends are `within`; `whole` shows it from end to end."""
    made = _rows(rows)
    if not any(mark.value is not None for mark in _marks(made)):
        return None
    return dot_plot(
        made,
        what=what,
        caption=f"{caption} {legend(_marks(made))}, with 95 % intervals.",
        form=decimal,
        axis=axis,
        within=within,
        reference=reference,
        whole=whole,
    )


def _rows(rows: Iterable[tuple[str, Iterable[tuple[Plotted, Estimate]]]]) -> list[PlotRow]:
    return [PlotRow(label, tuple(mark_of(*each) for each in estimates)) for label, estimates in rows]


def _marks(rows: Iterable[PlotRow]) -> Iterator[Mark]:
    return (mark for row in rows for mark in row.marks)
