"""The parts of a report as it is read: facts, findings and sections of blocks. Text, page and file share it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

from analytics.display.histograms import Histogram, Histograms
from analytics.display.layout import PlotDrawing, drawings
from analytics.display.pictures import Picture, pictures
from analytics.display.plots import DotPlot
from analytics.display.tables import Table, Where
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
    key: str = ""


@dataclass(frozen=True)
class Beside:
    """Strips below each other. The names of their facts are the columns; where a row has no such fact it has None."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Fact | None, ...]], ...]

    @classmethod
    def of(cls, summaries: Sequence[Summary]) -> Self:
        names = tuple(dict.fromkeys(fact.name for each in summaries for fact in each.facts))
        told = [(each.label, {fact.name: fact for fact in each.facts}) for each in summaries]
        return cls(names, tuple((label, tuple(map(facts.get, names))) for label, facts in told))


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
    # Whether it stands for figures that are not computed yet, or for one that failed.
    deferred: bool = False
    failed: bool = False

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
    # The headings of the report's findings that it holds, for its line while it is folded.
    finding: str = ""

    @property
    def contents(self) -> str:
        """The number of its tables and plots, and whether figures are missing."""
        tables = sum(len(block.tables) for block in self.blocks)
        plots = sum(block.plot is not None for block in self.blocks)
        counts = [(tables, "table"), (plots, "plot")]
        parts = [f"{n} {one}{'s' if n > 1 else ''}" for n, one in counts if n]
        if any(block.failed for block in self.blocks):
            parts.append("a figure failed")
        if self.is_partial:
            parts.append("some figures not computed yet")
        return ", ".join(parts)

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
class Headline:
    """The one plot at the top of a report, from the section that the study is about; or a sentence for want of it."""

    section: Section
    block: Block | None = None
    # Why there is no plot, and the anchor of the block that says more.
    missing: str = ""
    anchor: str = ""

    @property
    def title(self) -> str:
        heading = "" if self.block is None else self.block.heading
        return ": ".join(filter(None, [self.section.title, heading]))

    @property
    def others(self) -> int:
        """The number of plots that stand open in the section besides this one."""
        return sum(block.plot is not None and not block.folded for block in self.section.blocks) - 1


@dataclass(frozen=True)
class Finding:
    """A sentence at the top; `anchor` is where its figures stand, `where` the judgments behind it."""

    kind: str
    supported: bool
    about: str
    heading: str
    text: str
    anchor: str
    where: Where | None
    href: str = ""

    @property
    def title(self) -> str:
        return f"{self.about}: {self.heading}"


@dataclass(frozen=True)
class ReportPage:
    """The whole report. `notice` is what must be read before any figure, `citation` the line by which it is cited.

    `facts` are the leading group's, which is called `leading` where `others` have figures too.
    """

    title: str
    status: str
    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    notice: str = ""
    # The part of the study that the report is of; empty for all of it.
    view: str = ""
    citation: str = ""
    leading: str = ""
    others: tuple[Summary, ...] = ()
    # Single judges that stand in no plot beside people.
    judges: tuple[Summary, ...] = ()
    headline: Headline | None = None
    # Which heuristics stand in the judges' section, in a sentence; empty where there is none.
    heuristics: str = ""

    @property
    def beside(self) -> "Beside":
        """The groups beside the leading one, and single judges, as the rows of one table."""
        return Beside.of((*self.others, *self.judges))

    @property
    def gaps(self) -> list[tuple[Section, Block]]:
        """The blocks in place of figures that failed or that are not computed yet, each with its section."""
        return [
            (each, block) for each in self.sections for block in each.blocks if block.failed or block.deferred
        ]

    @property
    def is_folded(self) -> bool:
        """True if some of it comes as it is opened."""
        return any(block.folded for section in self.sections for block in section.blocks)
