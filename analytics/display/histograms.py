"""Histograms: counts of values by bin, of one set of values or of several on the same scales."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from analytics.display.captioned import Captioned
from analytics.display.layout import SMALL_LETTER
from analytics.display.numbers import NBSP
from analytics.display.pictures import WIDTHS, Box, Line, LineKind, Picture
from analytics.display.plots import Form, PlotScale, in_unit, nice_scale, whole_scale
from analytics.display.tables import Where

HEIGHT = 170  # of the tallest bar, at most
TOP, HINTS = 10, 22
BETWEEN = 1.0  # from one bar to the next
FARTHEST = 0.5  # from the bars to the reference, of their width
BELOW = 44  # the ticks and what they measure
PANEL, NAME, APART = 64, 22, 10  # of several: the height of one, its name above it, and the room below it


@dataclass(frozen=True)
class Bar:
    """`n` values from `low` up to, but not including, `high`."""

    low: float
    high: float
    n: int
    # Where it leads, and the address, as of a cell of a table.
    where: Where | None = field(default=None, compare=False)
    href: str = field(default="", compare=False)


@dataclass(frozen=True)
class Histogram(Captioned):
    """Bars on the scale `across`, as high as `up` says. `form` writes a value, `hints` name the two directions.

    `axis` is what is measured, in `unit`, and `counted` names the things counted, one and several. The outermost bars
    include all values beyond them.
    """

    axis: str
    counted: tuple[str, str]
    bars: tuple[Bar, ...]
    across: PlotScale
    up: PlotScale
    form: Form
    unit: str = ""
    reference: float | None = None
    hints: tuple[str, str] = ("", "")

    @property
    def label(self) -> str:
        """Everything that it shows, as it is spoken."""
        return f"{self.what}. {self.readings}."

    @property
    def every_bar(self) -> tuple[Bar, ...]:
        return self.bars

    def leading(self, href: Callable[[Where | None], str]) -> Self:
        """The same with the addresses to which its bars lead."""
        return replace(self, bars=tuple(replace(bar, href=href(bar.where)) for bar in self.bars))

    @property
    def readings(self) -> str:
        """Every bar that is not empty."""
        return "; ".join(self._reading(bar) for bar in self.bars if bar.n)

    def picture(self, form: str) -> Picture:
        """Its layout for a width."""
        found = Picture(form, WIDTHS[form])
        start, end = self.ends(found.width)
        top = float(TOP + (HINTS if any(self.hints) else 0))
        bottom = top + HEIGHT
        found.height = int(bottom + BELOW)
        self.draw_counts(found, start, end, top, bottom, self.up.ticks)
        self.draw_axis(found, start, end, bottom)
        if self.reference is not None:
            x = round(self.across.position(self.reference, start, end), 1)
            found.lines.append(Line(x, top, x, bottom, LineKind.REFERENCE))
        left, right = self.hints
        if left or right:
            found.write(start, top - 10, f"\N{LEFTWARDS ARROW} {left}", until=(start + end) / 2)
            found.write(end, top - 10, f"{right} \N{RIGHTWARDS ARROW}", anchor="end", since=(start + end) / 2)
        return found

    def draw_counts(
        self, found: Picture, start: float, end: float, top: float, bottom: float, ticks: Sequence[float]
    ) -> None:
        """The bars, and behind them the lines of the counts at these ticks."""
        for tick in ticks:
            y = round(self.up.position(tick, bottom, top), 1)
            found.lines.append(Line(start, y, end, y))
            found.write(start - 6, y + 4, _count(tick), anchor="end")
        found.boxes += [self._box(bar, start, end, top, bottom) for bar in self.bars if bar.n]

    def draw_axis(self, found: Picture, start: float, end: float, bottom: float) -> None:
        """The ticks of the values, and what they measure."""
        for tick in self._shown_ticks(end - start):
            x = self.across.position(tick, start, end)
            found.write(x, bottom + 17, self.form(tick), anchor="middle")
        found.write((start + end) / 2, bottom + 37, in_unit(self.axis, self.unit), anchor="middle")

    def ends(self, width: int) -> tuple[float, float]:
        """Where the scale begins and ends, with room for the counts beside it and for its first and last label."""
        first, last = (len(self.form(self.across.ticks[at])) * SMALL_LETTER / 2 + 4 for at in (0, -1))
        counts = 12.0 + SMALL_LETTER * max(len(_count(tick)) for tick in self.up.ticks)
        return max(counts, first), width - max(24.0, last)

    def _shown_ticks(self, width: float) -> tuple[float, ...]:
        """As many of the scale's ticks as there is room for their labels."""
        ticks = self.across.ticks
        widest = max(len(self.form(tick)) for tick in ticks) * SMALL_LETTER + 8
        each = width / max(len(ticks) - 1, 1)
        return ticks[:: max(1, math.ceil(widest / each))]

    def _reading(self, bar: Bar) -> str:
        unit = f"{NBSP}{self.unit}" if self.unit else ""
        low, high = self.form(bar.low), self.form(bar.high)
        where = f"{low} to {high}{unit}"
        if len(self.bars) > 1 and bar is self.bars[0]:
            where = f"below {high}{unit}"
        elif len(self.bars) > 1 and bar is self.bars[-1]:
            where = f"{low}{unit} or more"
        return f"{where}: {bar.n:,} {self.counted[bar.n != 1]}"

    def _box(self, bar: Bar, start: float, end: float, top: float, bottom: float) -> Box:
        low, high = (self.across.position(each, start, end) for each in (bar.low, bar.high))
        y = self.up.position(bar.n, bottom, top)
        width = max(high - low - BETWEEN, 1.0)
        title = self._reading(bar)
        return Box(
            round(low + BETWEEN / 2, 1),
            round(y, 1),
            round(width, 1),
            round(bottom - y, 1),
            title,
            href=bar.href,
        )


@dataclass(frozen=True)
class Histograms(Captioned):
    """Histograms on the same scales below each other, each with its name."""

    panels: tuple[tuple[str, Histogram], ...]

    @property
    def label(self) -> str:
        """Everything that it shows, as it is spoken."""
        return f"{self.what}. {' '.join(f'{name}: {each.readings}.' for name, each in self.panels)}"

    @property
    def every_bar(self) -> tuple[Bar, ...]:
        return tuple(bar for _, each in self.panels for bar in each.bars)

    def leading(self, href: Callable[[Where | None], str]) -> Self:
        """The same with the addresses to which its bars lead."""
        return replace(self, panels=tuple((name, each.leading(href)) for name, each in self.panels))

    def picture(self, form: str) -> Picture:
        """Its layout for a width."""
        found = Picture(form, WIDTHS[form])
        _, last = self.panels[-1]
        start, end = last.ends(found.width)
        top, bottom = 0.0, 0.0
        for name, each in self.panels:
            found.write(start, top + NAME - 6, name, quiet=False)
            bottom = top + NAME + PANEL
            # The counts between have no room for their labels.
            each.draw_counts(found, start, end, top + NAME, bottom, (each.up.ticks[0], each.up.ticks[-1]))
            top = bottom + APART
        last.draw_axis(found, start, end, bottom)
        found.height = int(bottom + BELOW)
        return found


def histograms(
    panels: Sequence[tuple[str, Sequence[Bar]]],
    *,
    what: str,
    axis: str,
    counted: tuple[str, str],
    caption: str,
    form: Form,
) -> Histograms:
    """A histogram of each named sequence of bars, which have the same edges, on scales that cover them all."""
    up = whole_scale(max(bar.n for _, bars in panels for bar in bars))
    drawn = (
        (name, histogram(bars, what=name, axis=axis, counted=counted, caption="", form=form))
        for name, bars in panels
    )
    return Histograms(what, caption, tuple((name, replace(each, up=up)) for name, each in drawn))


def histogram(
    bars: Sequence[Bar],
    *,
    what: str,
    axis: str,
    counted: tuple[str, str],
    caption: str,
    form: Form,
    unit: str = "",
    reference: float | None = None,
    hints: tuple[str, str] = ("", ""),
) -> Histogram:
    """The histogram of `bars`, which follow each other, on scales that cover them.

    The scale covers the reference, too; one so far away that it would leave no room for the bars is not shown, and
    neither are the hints, which are of its two sides.
    """
    low, high = bars[0].low, bars[-1].high
    if reference is not None and max(low - reference, reference - high) > FARTHEST * (high - low):
        reference, hints = None, ("", "")
    if reference is not None:
        low, high = min(low, reference), max(high, reference)
    ticks = nice_scale((low, high), within=(low, high)).ticks
    if all(bar.low % 1 == 0 for bar in bars):
        ticks = tuple(tick for tick in ticks if tick % 1 == 0)
    across, up = PlotScale(low, high, ticks), whole_scale(max(bar.n for bar in bars))
    return Histogram(what, caption, axis, counted, tuple(bars), across, up, form, unit, reference, hints)


def _count(tick: float) -> str:
    return f"{tick:,.0f}"
