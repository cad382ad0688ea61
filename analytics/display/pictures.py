"""Pictures of lines, boxes and labels: what histograms and trees are drawn from, on the page and in files.

A plot lays itself out for each of two widths, a column of the page and a phone; files show the wider one. Coordinates
are pixels from the upper left corner.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from analytics.display.characters import cut_wide, drawn_letters, one_line
from analytics.display.layout import EDGE, LETTER, SMALL_LETTER

WIDTHS = {"wide": 560, "narrow": 340}


class LineKind(StrEnum):
    """Lines of a scale, between nodes of a tree, and at what is compared with."""

    GRID = "grid"
    BRANCH = "branch"
    REFERENCE = "reference"


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    kind: LineKind = LineKind.GRID


@dataclass(frozen=True)
class Box:
    """A rectangle, whose `title` is read where it is pointed at and which leads to `href`, if that is known; one that
    is not `filled` is a frame."""

    x: float
    y: float
    width: float
    height: float
    title: str = ""
    filled: bool = True
    href: str = ""


@dataclass(frozen=True)
class Label:
    x: float
    y: float
    text: str
    anchor: str = "start"
    quiet: bool = True


@dataclass
class Picture:
    """One layout of a plot, `form` being the name of its width."""

    form: str
    width: int
    height: int = 0
    lines: list[Line] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def write(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        quiet: bool = True,
        after: str = "",
        since: float = 0.0,
        until: float | None = None,
    ) -> None:
        """A text that is cut where it would pass the edges of the picture, or `since` and `until`.

        What stands `after` it is never cut.
        """
        low, high = since, self.width if until is None else until
        room = {"start": high - x, "end": x - low, "middle": 2 * min(x - low, high - x)}[anchor] - EDGE
        letters = room / (SMALL_LETTER if quiet else LETTER)
        shown = cut_wide(one_line(text), letters - drawn_letters(after)) + after
        self.labels.append(Label(round(x, 1), round(y, 1), shown, anchor, quiet))

    @property
    def has_links(self) -> bool:
        return any(box.href for box in self.boxes)

    @property
    def references(self) -> tuple[Line, ...]:
        """The lines that lie above everything else."""
        return tuple(line for line in self.lines if line.kind is LineKind.REFERENCE)

    @property
    def others(self) -> tuple[Line, ...]:
        """The lines that lie below everything else."""
        return tuple(line for line in self.lines if line.kind is not LineKind.REFERENCE)


class Drawn(Protocol):
    """A plot that is drawn as a picture."""

    def picture(self, form: str) -> Picture:
        """Its layout for a width."""
        ...


def pictures(plot: Drawn) -> tuple[Picture, ...]:
    """The plot's layouts for the two widths."""
    return tuple(plot.picture(form) for form in WIDTHS)
