"""The description of a dot plot with intervals: what it shows, and no coordinate.

The page's SVG (`display.layout`) and the files for a paper (`display.plot_files`) are drawn from it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from analytics.display.captioned import Captioned
from analytics.display.numbers import NBSP
from analytics.display.tables import Where

TICK_STEPS = (1, 2, 2.5, 5, 10)
WANTED_TICKS = 4

Form = Callable[[float], str]


@dataclass(frozen=True)
class Mark:
    """One figure of one group: its kind decides its form. `value` is None where it is undefined."""

    kind: str  # person, judge or simulated
    who: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    # Where it leads, and the address, as of a cell of a table.
    where: Where | None = field(default=None, compare=False)
    href: str = field(default="", compare=False)

    def reading(self, form: Form) -> str:
        """Its value in words, with its limits: "People 40 % (29 % to 51 %)"."""
        if self.value is None:
            return f"{self.who} undefined"
        limits = "" if self.low is None or self.high is None else f" ({form(self.low)} to {form(self.high)})"
        return f"{self.who} {form(self.value)}{limits}"


@dataclass(frozen=True)
class PlotRow:
    label: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class PlotScale:
    """A linear scale with round ticks at and between its ends."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def position(self, value: float, start: float, end: float) -> float:
        """Where a value lies between two coordinates; values beyond the scale lie at its ends."""
        inside = min(max(value, self.low), self.high)
        return start + (inside - self.low) / (self.high - self.low) * (end - start)


@dataclass(frozen=True)
class DotPlot(Captioned):
    """A figure: rows of marks on one scale. `form` writes a value, `hints` name the two directions.

    `named` writes beside each mark whose it is, for marks that their form does not tell apart. `axis` is what the scale
    measures, in `unit`, which the ticks leave out.
    """

    axis: str
    rows: tuple[PlotRow, ...]
    scale: PlotScale
    form: Form
    reference: float | None = None
    hints: tuple[str, str] = ("", "")
    unit: str = ""
    named: bool = False

    @property
    def axis_title(self) -> str:
        """The measured quantity with its unit: "Share of picks, %"."""
        return in_unit(self.axis, self.unit)

    def tick(self, value: float) -> str:
        """A value as it stands at its tick, without the unit."""
        return self.form(value).removesuffix(f"{NBSP}{self.unit}")

    @property
    def label(self) -> str:
        """Everything that it shows, as it is spoken."""
        rows = (
            f"{row.label}: {', '.join(mark.reading(self.form) for mark in row.marks)}" for row in self.rows
        )
        return f"{self.what}. {'; '.join(rows)}."


def in_unit(quantity: str, unit: str) -> str:
    """The quantity of a scale, with its unit if it has one."""
    return f"{quantity}, {unit}" if unit else quantity


def nice_scale(values: Sequence[float], *, within: tuple[float, float] | None = None) -> PlotScale:
    """A scale with round ticks that covers the values, but no more than `within`."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    step = _step((high - low) / WANTED_TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(k * step, 10) for k in range(first, last + 1)]
    if within is not None:
        ticks = [tick for tick in ticks if within[0] - 1e-9 <= tick <= within[1] + 1e-9]
    return PlotScale(ticks[0], ticks[-1], tuple(ticks))


def whole_scale(most: int) -> PlotScale:
    """A scale of counts from 0, with ticks at whole numbers."""
    rough = max(most / WANTED_TICKS, 1.0)
    magnitude = 10 ** math.floor(math.log10(rough))
    step = next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= rough)
    ticks = tuple(float(tick) for tick in range(0, most + step, step))
    return PlotScale(0.0, ticks[-1], ticks)


def _step(rough: float) -> float:
    """The smallest round step that is not below the rough one."""
    magnitude: float = 10 ** math.floor(math.log10(rough))
    return next(step * magnitude for step in TICK_STEPS if step * magnitude >= rough - 1e-12)


def dot_plot(
    rows: Sequence[PlotRow],
    *,
    what: str,
    caption: str,
    form: Form,
    axis: str = "",
    unit: str = "",
    within: tuple[float, float] | None = None,
    reference: float | None = None,
    hints: tuple[str, str] = ("", ""),
    whole: bool = False,
) -> DotPlot:
    """The plot of `rows`, on a scale that covers them and the reference but no more than `within`.

    `whole` shows all of what lies `within`, so that plots below each other have one scale. Marks are named where
    several raters have the same form. Without an `axis` of its own the scale is called what the plot is.
    """
    shown = [*_extent(rows), *([] if reference is None else [reference])]
    scale = nice_scale([*shown, *(within if whole and within else ())], within=within)
    return DotPlot(
        what, caption, axis or what, tuple(rows), scale, form, reference, hints, unit, named=_alike(rows)
    )


def _alike(rows: Sequence[PlotRow]) -> bool:
    """True if marks of one form are of several raters; a row that is called by its rater names it already."""
    raters = {(mark.kind, mark.who) for row in rows for mark in row.marks if mark.who != row.label}
    return len(raters) > len({kind for kind, _ in raters})


def _extent(rows: Sequence[PlotRow]) -> list[float]:
    marks = [mark for row in rows for mark in row.marks]
    return [value for mark in marks for value in (mark.value, mark.low, mark.high) if value is not None]
