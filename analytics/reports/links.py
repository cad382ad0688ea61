"""Links from the numbers of a report to the items and judgments that they are of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.urls import reverse

from analytics.display.blocks import Block, ReportPage, Section
from analytics.display.histograms import Histogram, Histograms
from analytics.display.plots import DotPlot, Mark
from analytics.display.tables import Pairs, Table, TableCell, Where
from analytics.reports.paper.credit import UNREACHED
from evaluation.facts import Fact
from evaluation.filters import Filters
from evaluation.models import Study


@dataclass(frozen=True)
class ReportLinks:
    """The address of the list of a study's items, and what every number of a report is of: its view, and the judgments
    that there were when it was computed."""

    address: str
    view: Mapping[str, Any]
    until: int | None = None

    @classmethod
    def of(cls, study: Study, filters: Filters, until: int | None) -> Self:
        return cls(reverse("admin:evaluation_item_list", args=[study.slug]), filters.canonical(), until)

    @classmethod
    def from_afar(cls, study: Study, filters: Filters, until: int | None) -> Self | None:
        """The same for a file, which may be read anywhere; None where its own machine alone reaches it."""
        public: str = settings.ASSAY_PUBLIC_URL
        if urlsplit(public).hostname in UNREACHED:
            return None
        found = cls.of(study, filters, until)
        return replace(found, address=public + found.address)

    def pairs(self, where: Where) -> Pairs | None:
        """All filters of what is found there; None where the list can't have those of the view and these at once."""
        own: dict[str, list[str]] = {}
        for name, value in where.pairs:
            own.setdefault(name, []).append(value)
        for name, values in own.items():
            # Several values of one filter are one or the other of them.
            if not set(values) <= set(self.view.get(name, values)):
                return None
        viewed = [pair for pair in Filters.of(self.view).pairs if pair[0] not in own and pair[0] != "judges"]
        until = [("until", str(self.until))] if self.until else []
        return (*viewed, *where.pairs, *until)

    def href(self, where: Where | None) -> str:
        pairs = self.pairs(where) if where else None
        return f"{self.address}?{urlencode(pairs)}" if pairs else ""

    def page(self, page: ReportPage) -> ReportPage:
        """The report, with its links."""
        headline = page.headline
        if headline and headline.block:
            headline = replace(headline, block=self._block(headline.block))
        return replace(
            page,
            facts=self._facts(page.facts),
            findings=tuple(replace(each, href=self.href(each.where)) for each in page.findings),
            others=tuple(replace(each, facts=self._facts(each.facts)) for each in page.others),
            judges=tuple(replace(each, facts=self._facts(each.facts)) for each in page.judges),
            sections=tuple(map(self.section, page.sections)),
            headline=headline,
        )

    def section(self, section: Section) -> Section:
        return replace(section, blocks=tuple(map(self._block, section.blocks)))

    def _facts(self, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(
            replace(each, href=self.href(Where(each.pairs))) if each.pairs else each for each in facts
        )

    def _block(self, block: Block) -> Block:
        plot = block.plot
        if isinstance(plot, DotPlot):
            rows = (replace(row, marks=tuple(map(self._mark, row.marks))) for row in plot.rows)
            plot = replace(plot, rows=tuple(rows))
        elif isinstance(plot, Histogram | Histograms):
            plot = plot.leading(self.href)
        return replace(block, tables=tuple(map(self._table, block.tables)), plot=plot)

    def _table(self, table: Table) -> Table:
        return replace(table, rows=tuple(tuple(map(self._cell, row)) for row in table.rows))

    def _cell(self, cell: TableCell) -> TableCell:
        return replace(cell, href=self.href(cell.where)) if cell.where else cell

    def _mark(self, mark: Mark) -> Mark:
        return replace(mark, href=self.href(mark.where)) if mark.where else mark
