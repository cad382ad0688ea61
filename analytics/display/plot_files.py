"""A plot as a file for a paper: SVG, PDF, or PNG at 300 dots per inch, from the description that the page draws.

The same plot gives the same bytes: no date, no random identifier. SVG holds its letters as outlines, PDF embeds its
fonts (Type 42), so neither needs a font where it is read. What the bundled DejaVu Sans lacks is looked for among
the fonts of the machine; what none of them has becomes a box.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from analytics.display.blocks import Plot
from analytics.display.characters import cut_end, cut_middle, one_line
from analytics.display.picture_files import picture_figure
from analytics.display.plots import DotPlot, Mark, PlotRow
from analytics.display.sheets import ACCENT, INK, LINE, QUIET, SIZE, SMALL, WIDTH, font_families

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_FORMATS = ("svg", "pdf", "png")
# Left out of each format, so that bytes do not depend on the day.
DATES = {"svg": "Date", "pdf": "CreationDate"}
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "assay",
    "pdf.fonttype": 42,
    "text.usetex": False,
}
DPI = 300

# In points: what stands in the width of a text column.
MARGIN = 10.0
EDGE = 2.0  # the least between a text and the edge of the sheet
AXIS = 13.0  # from the ticks' labels to what they measure
PITCH = 12.0  # between the marks of one row
ROW_GAP = 20.0  # from the last mark of a row to the first of the next
LABEL_RISE = 12.0  # from a label above its line to the first mark
WIDEST_LABEL = 0.36  # of the width; longer labels stand above their line
WIDEST_NAME = 0.32

# By kind of rater: marker, its size, face and edge, and the interval's colour and dashes.
FORMS: dict[str, tuple[str, float, str, str, str, str]] = {
    "person": ("o", 5.5, ACCENT, ACCENT, ACCENT, "solid"),
    "judge": ("o", 5.5, "white", QUIET, QUIET, "solid"),
    "simulated": ("D", 5.0, "white", QUIET, QUIET, "dashed"),
}
# Settings of matplotlib belong to the process.
_LOCK = Lock()


def plot_files(plot: Plot) -> dict[str, bytes]:
    """The plot's file in every format."""
    from matplotlib import rc_context

    with _LOCK, rc_context(SETTINGS):
        figure = _Drawing(plot).figure if isinstance(plot, DotPlot) else picture_figure(plot.picture("wide"))
        return {format: _saved(figure, format, plot) for format in PLOT_FORMATS}


def _saved(figure: "Figure", format: str, plot: Plot) -> bytes:
    out = io.BytesIO()
    metadata: dict[str, str | None] = {"Title": one_line(plot.what)}
    if format in DATES:
        metadata[DATES[format]] = None
    figure.savefig(out, format=format, dpi=DPI, metadata=metadata)
    return out.getvalue()


class _Drawing:
    """One plot on one sheet, whose coordinates are points from its upper left corner."""

    def __init__(self, plot: DotPlot) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.plot = plot
        self.figure = Figure(dpi=72, facecolor="white")
        self.renderer: Any = FigureCanvasAgg(self.figure).get_renderer()  # type: ignore[no-untyped-call]
        self.families = font_families([*self._texts()])
        names = [mark.who for row in plot.rows for mark in row.marks] if plot.named else []
        self.name_width = WIDTH * WIDEST_NAME if names else 0.0
        widest = self._widest((row.label for row in plot.rows), SIZE)
        self.stacked = plot.named or widest > WIDTH * WIDEST_LABEL
        beside = self.name_width if plot.named else widest
        start = MARGIN if self.stacked and not plot.named else beside + 2 * MARGIN
        # The labels of the first and the last tick stand inside the sheet.
        first, last = (self._width(plot.tick(plot.scale.ticks[at]), SMALL) / 2 + EDGE for at in (0, -1))
        self.start, self.end = max(start, first), WIDTH - max(2 * MARGIN, last)
        self._draw()

    def _texts(self) -> Iterator[str]:
        yield from (one_line(text) for text in (self.plot.axis_title, *self.plot.hints))
        for row in self.plot.rows:
            yield one_line(row.label)
            yield from (one_line(mark.who) for mark in row.marks)
        yield "\N{HORIZONTAL ELLIPSIS}"

    def _width(self, text: str, size: float) -> float:
        from matplotlib.text import Text

        drawn = Text(0, 0, text, fontsize=size, fontfamily=self.families, parse_math=False)
        drawn.set_figure(self.figure)
        return float(drawn.get_window_extent(self.renderer).width)

    def _widest(self, texts: Iterable[str], size: float) -> float:
        return max((self._width(one_line(text), size) for text in texts), default=0.0)

    def _x(self, value: float) -> float:
        return self.plot.scale.position(value, self.start, self.end)

    def _draw(self) -> None:
        top = MARGIN + (16.0 if any(self.plot.hints) else 0.0)
        y, at = top + (8.0 + LABEL_RISE if self.stacked else 12.0), []
        for row in self.plot.rows:
            at.append(y)
            y += PITCH * (len(row.marks) - 1) + ROW_GAP + (LABEL_RISE if self.stacked else 0.0)
        bottom = y - ROW_GAP - (LABEL_RISE if self.stacked else 0.0) + 10.0
        height = bottom + 22.0 + AXIS
        self.figure.set_size_inches(WIDTH / 72, height / 72)
        axes = self.figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        self._scale(axes, top, bottom)
        for y, row in zip(at, self.plot.rows, strict=True):
            self._row(axes, row, y)

    def _scale(self, axes: "Axes", top: float, bottom: float) -> None:
        for tick in self.plot.scale.ticks:
            axes.plot([self._x(tick)] * 2, [top, bottom], color=LINE, linewidth=0.75, zorder=1)
            self._text(axes, self._x(tick), bottom + 11, self.plot.tick(tick), SMALL, QUIET, ha="center")
        self._axis(axes, bottom + 11 + AXIS)
        if self.plot.reference is not None:
            x = self._x(self.plot.reference)
            axes.plot([x, x], [top, bottom], color=QUIET, linewidth=1, linestyle=(0, (1, 2)), zorder=1)
        left, right = (one_line(hint) for hint in self.plot.hints)
        room = (self.end - self.start) / 2 - MARGIN
        if left or right:
            before = self._cut(f"\N{LEFTWARDS ARROW} {left}", room, SMALL)
            after = self._cut(right, room - self._width(" \N{RIGHTWARDS ARROW}", SMALL), SMALL)
            self._text(axes, self.start, top - 8, before, SMALL, QUIET)
            self._text(axes, self.end, top - 8, f"{after} \N{RIGHTWARDS ARROW}", SMALL, QUIET, ha="right")

    def _axis(self, axes: "Axes", y: float) -> None:
        """The title of the scale below its middle, or as near to that as the sheet allows."""
        text = self._cut(one_line(self.plot.axis_title), WIDTH - 2 * EDGE, SMALL)
        half = self._width(text, SMALL) / 2 + EDGE
        x = max(min((self.start + self.end) / 2, WIDTH - half), half)
        self._text(axes, x, y, text, SMALL, QUIET, ha="center")

    def _row(self, axes: "Axes", row: PlotRow, y: float) -> None:
        middle = y + PITCH * (len(row.marks) - 1) / 2
        label_y = y - LABEL_RISE if self.stacked else middle
        label = self._cut(one_line(row.label), WIDTH - 2 * MARGIN, SIZE)
        self._text(axes, MARGIN, label_y, label, SIZE, INK)
        for at, mark in enumerate(row.marks):
            self._mark(axes, mark, y + PITCH * at)

    def _mark(self, axes: "Axes", mark: Mark, y: float) -> None:
        if self.plot.named:
            name = self._cut(one_line(mark.who), self.name_width, SMALL, cut_middle)
            self._text(axes, MARGIN, y, name, SMALL, QUIET)
        if mark.value is None:
            return
        marker, size, face, edge, colour, dashes = FORMS[mark.kind]
        if mark.low is not None and mark.high is not None:
            ends = [self._x(mark.low), self._x(mark.high)]
            axes.plot(ends, [y, y], color=colour, linewidth=1.5, linestyle=dashes, zorder=3)
        axes.plot(
            [self._x(mark.value)], [y], marker, markersize=size, markerfacecolor=face, markeredgecolor=edge,
            markeredgewidth=1.25, zorder=4,
        )  # fmt: skip

    def _cut(self, text: str, room: float, size: float, shorten: Callable[[str, int], str] = cut_end) -> str:
        """The text, or as much of it as there is room for."""
        if self._width(text, size) <= room:
            return text
        low, high = 1, len(text)
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._width(shorten(text, middle), size) <= room
            low, high = (middle, high) if fits else (low, middle)
        return shorten(text, low)

    def _text(
        self, axes: "Axes", x: float, y: float, text: str, size: float, colour: str, **options: Any
    ) -> None:
        # A label crosses the lines behind it. A dollar is a dollar.
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axes.text(
            x, y, text, fontsize=size, color=colour, fontfamily=self.families, va="center_baseline", bbox=box,
            parse_math=False, zorder=2, **options,
        )  # fmt: skip
