"""The parts of a report as it is read: facts, findings and sections of blocks. Text, page and file share it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from analytics.display.histograms import Histogram, Histograms
from analytics.display.layout import PlotDrawing, drawings
from analytics.display.pictures import Picture, pictures
from analytics.display.plots import DotPlot
from analytics.display.tables import Table
from analytics.display.trees import TreePlot
from evaluation.facts import Fact

Plot: TypeAlias = DotPlot | Histogram | Histograms | TreePlot

# Beside a plot a table of more columns would have to be scrolled.
MOST_COLUMNS_BESIDE = 6


@dataclass(frozen=True)
class Summary:
    """The strip of one group of raters beside the leading one."""

    label: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Block:
    """A part of a section; whatever is there is shown in this order: heading, text, tables, plot.

    A folded block is opened by who wants it.
    """

    heading: str = ""
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plot: Plot | None = None
    folded: bool = False
    tag: str = ""
    anchor: str = ""
    # Whether the text must be read before the figures.
    notice: bool = False
    # Whether it stands for figures that are not computed yet.
    deferred: bool = False

    @property
    def beside(self) -> bool:
        """True if table and plot stand side by side where there is room; a wide table has none to give."""
        widest = max((len(table.columns) for table in self.tables), default=0)
        return self.plot is not None and 0 < widest <= MOST_COLUMNS_BESIDE

    @property
    def drawings(self) -> tuple[PlotDrawing, ...]:
        """A dot plot as it stands on the page."""
        return drawings(self.plot) if isinstance(self.plot, DotPlot) else ()

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Any other plot as it stands on the page."""
        return () if self.plot is None or isinstance(self.plot, DotPlot) else pictures(self.plot)

    def under(self, prompt: str, key: str = "") -> "Block":
        """The block under its question's name; `key` tells its anchor from those of other questions."""
        heading = f"{prompt} {self.heading}".strip()
        return replace(
            self, heading=heading, anchor=f"{key}-{self.anchor}" if key and self.anchor else self.anchor
        )


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    short: str
    blocks: tuple[Block, ...]
    intro: str = ""

    @property
    def is_partial(self) -> bool:
        """True while some of its figures wait until somebody asks for them."""
        return any(block.deferred for block in self.blocks)


def merged(sections: Sequence[tuple[str, str, Section]]) -> Section:
    """One section of the same figures of several questions, given as (prompt, key, section).

    What is the same for all of them, such as how judges were asked, stands once, at the end.
    """
    (_, _, first), *others = sections
    shared = [block for block in first.blocks if all(block in section.blocks for _, _, section in others)]
    blocks: list[Block] = []
    for at, (prompt, key, section) in enumerate(sections):
        own = [block for block in section.blocks if block not in shared]
        if own and section.intro != first.intro:
            blocks.append(Block(prompt, (section.intro,)))
        blocks += [block.under(prompt, key if at else "") for block in own]
    return replace(first, blocks=(*blocks, *shared))


@dataclass(frozen=True)
class ReportPage:
    """The whole report. `notice` is what must be read before any figure, `citation` the line by which it is cited.

    `facts` are the leading group's, which is called `leading` where `others` have figures too.
    """

    title: str
    status: str
    facts: tuple[Fact, ...]
    findings: tuple[dict[str, Any], ...]
    sections: tuple[Section, ...]
    notice: str = ""
    # The part of the study that the report is of; empty for all of it.
    view: str = ""
    citation: str = ""
    leading: str = ""
    others: tuple[Summary, ...] = ()

    @property
    def is_folded(self) -> bool:
        """True if some of it comes as it is opened."""
        return any(block.folded for section in self.sections for block in section.blocks)
