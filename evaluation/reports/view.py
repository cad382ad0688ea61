"""What a report consists of when it is read: facts, findings and sections of blocks. Text, page and file share it."""

from dataclasses import dataclass
from typing import Any

from evaluation.reports.plots import DotPlot
from evaluation.reports.tables import Table


@dataclass(frozen=True)
class Fact:
    """One figure of the strip at the top."""

    name: str
    value: str
    detail: str
    undefined: bool = False
    tag: str = ""


@dataclass(frozen=True)
class Block:
    """A part of a section; whatever is there is shown in this order: heading, text, tables, plot.

    A folded block is opened by who wants it.
    """

    heading: str = ""
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plot: DotPlot | None = None
    folded: bool = False
    tag: str = ""
    anchor: str = ""
    # Whether the text must be read before the figures.
    notice: bool = False

    @property
    def beside(self) -> bool:
        """Whether table and plot stand side by side where there is room."""
        return self.plot is not None and bool(self.tables)


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    short: str
    blocks: tuple[Block, ...]
    intro: str = ""


@dataclass(frozen=True)
class Page:
    """The whole report. `notice` is what must be read before any figure."""

    title: str
    status: str
    facts: tuple[Fact, ...]
    findings: tuple[dict[str, Any], ...]
    sections: tuple[Section, ...]
    notice: str = ""
