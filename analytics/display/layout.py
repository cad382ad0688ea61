"""A dot plot as it stands on the page: numbers in, coordinates out; the template only writes them down.

A plot is laid out twice: for a column of about 560 pixels with the labels at the left, and for a phone with each
label above its line. The stylesheet shows one of them; drawn at their own size, neither has text too small to read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from analytics.display.characters import cut_end, cut_middle
from analytics.display.plots import DotPlot, Form, Mark, PlotRow

PITCH = 18  # between the marks of one row
ROW_GAP = 42  # from the last mark of a row to the first of the next, less one pitch
STACKED_GAP = 48  # the same, with a label in between
TOP = 30
AXIS = 20  # from the ticks' labels to what they measure
LETTER, SMALL_LETTER = 7.8, 7.2  # an average letter's width, at most
EDGE = 2.0  # the least between a text and the edge of the picture
LONG_LABEL = 22
LONGEST_HINT = 22
NAMED_PITCH = 21  # between the marks of one row where each has its name
NAMED_GAP = 52  # from the last of them to the first of the next row


@dataclass(frozen=True)
class Dot:
    """A mark's coordinates, as text for SVG attributes; `x` is empty where the figure is undefined."""

    kind: str
    title: str
    y: str
    x: str = ""
    x1: str = ""
    x2: str = ""
    diamond: str = ""
    # Whose it is, at the left, where marks are named.
    name: str = ""
    name_y: str = ""
    href: str = ""


@dataclass(frozen=True)
class PlotLine:
    """A row: its label and its dots."""

    label: str
    label_x: str
    label_y: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class PlotText:
    x: str
    y: str
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class PlotDrawing:
    """One layout, with everything that its template writes."""

    form: str
    width: int
    height: int
    top: str
    bottom: str
    ticks: tuple[PlotText, ...]
    axis: PlotText
    hints: tuple[PlotText, ...]
    reference: str
    lines: tuple[PlotLine, ...]

    @property
    def has_links(self) -> bool:
        return any(dot.href for line in self.lines for dot in line.dots)


def drawings(plot: DotPlot) -> tuple[PlotDrawing, ...]:
    """The plot's layouts for the two widths."""
    stacked = plot.named or any(len(row.label) > LONG_LABEL for row in plot.rows)
    layouts = (
        _Layout("wide", 560, 170, stacked, 24 if plot.named else 0),
        _Layout("narrow", 340, 112 if plot.named else 0, True, 16 if plot.named else 0),
    )
    return tuple(layout.draw(plot) for layout in layouts)


@dataclass(frozen=True)
class _Layout:
    name: str
    width: int
    label_width: int
    stacked: bool
    # Letters that there is room for in the name of a mark; 0 where marks have none.
    name_letters: int = 0

    @property
    def pitch(self) -> int:
        return NAMED_PITCH if self.name_letters else PITCH

    @property
    def gap(self) -> int:
        if self.name_letters:
            return NAMED_GAP
        return STACKED_GAP if self.stacked else ROW_GAP

    def draw(self, plot: DotPlot) -> PlotDrawing:
        scale, form, reference, hints = plot.scale, plot.form, plot.reference, plot.hints
        start, end = self._ends(plot)
        top = TOP if any(hints) else 8
        lines, y = [], float(top + (36 if self.stacked else 20))
        for row in plot.rows:
            lines.append(self._line(row, y, lambda value: scale.position(value, start, end), form))
            y += self.pitch * (len(row.marks) - 1) + self.gap
        bottom = y - self.gap + 20
        at = {tick: scale.position(tick, start, end) for tick in scale.ticks}
        middle = None if reference is None else scale.position(reference, start, end)
        return PlotDrawing(
            form=self.name,
            width=self.width,
            height=int(bottom + 26 + AXIS),
            top=_number(top),
            bottom=_number(bottom),
            ticks=tuple(
                PlotText(_number(x), _number(bottom + 19), plot.tick(tick)) for tick, x in at.items()
            ),
            axis=self._axis(plot.axis_title, (start + end) / 2, bottom + 19 + AXIS),
            # On a phone there is no room for both beside the names.
            hints=_hints(hints, min(start, 14) if self.name == "narrow" else start, end, top),
            reference="" if middle is None else _number(middle),
            lines=tuple(lines),
        )

    def _ends(self, plot: DotPlot) -> tuple[float, float]:
        """Where the scale begins and ends, with room for its first and its last tick's label."""
        first, last = (len(plot.tick(plot.scale.ticks[at])) * SMALL_LETTER / 2 + EDGE for at in (0, -1))
        beside = self.name_letters or not self.stacked
        return max(self.label_width if beside else 14.0, first), self.width - max(30.0, last)

    def _axis(self, title: str, middle: float, y: float) -> PlotText:
        """The title below the middle of the scale or, where it is longer than that, as near as the picture allows."""
        text = cut_end(title, int(self.width / SMALL_LETTER))
        half = len(text) * SMALL_LETTER / 2
        return PlotText(_number(max(min(middle, self.width - half), half)), _number(y), text)

    def _line(self, row: PlotRow, y: float, x_of: Callable[[float], float], form: Form) -> PlotLine:
        # Beside the line a label is centred on the row's marks; above it, it stands clear of the first.
        label_y = y - (17 if self.name_letters else 14)
        if not self.stacked:
            label_y = y + PITCH * (len(row.marks) - 1) / 2 + 4.5
        dots = tuple(
            self._named(_dot(mark, y + self.pitch * at, x_of, form), mark, y + self.pitch * at)
            for at, mark in enumerate(row.marks)
        )
        return PlotLine(cut_end(row.label, int(self.width / LETTER)), "0", _number(label_y), dots)

    def _named(self, dot: Dot, mark: Mark, y: float) -> Dot:
        if not self.name_letters:
            return dot
        return replace(dot, name=cut_middle(mark.who, self.name_letters), name_y=_number(y + 4))


def _dot(mark: Mark, y: float, x_of: Callable[[float], float], form: Form) -> Dot:
    title = mark.reading(form)
    if mark.value is None:
        return Dot(mark.kind, title, _number(y), href=mark.href)
    x = x_of(mark.value)
    ends = ("", "")
    if mark.low is not None and mark.high is not None:
        ends = (_number(x_of(mark.low)), _number(x_of(mark.high)))
    diamond = f"M{_number(x)} {_number(y - 5.5)}l5.5 5.5-5.5 5.5-5.5-5.5z"
    shape = diamond if mark.kind == "simulated" else ""
    return Dot(mark.kind, title, _number(y), _number(x), *ends, shape, href=mark.href)


def _hints(hints: tuple[str, str], start: float, end: float, top: float) -> tuple[PlotText, ...]:
    """The meaning of lying further left or right, above the plot's two ends."""
    left, right = (cut_end(name, LONGEST_HINT) for name in hints)
    if not left and not right:
        return ()
    return (
        PlotText(_number(start), _number(top - 12), f"\N{LEFTWARDS ARROW} {left}", "start"),
        PlotText(_number(end), _number(top - 12), f"{right} \N{RIGHTWARDS ARROW}", "end"),
    )


def _number(value: float) -> str:
    """Never with a decimal comma, whatever the language of the page."""
    return f"{value:.1f}".removesuffix(".0")
