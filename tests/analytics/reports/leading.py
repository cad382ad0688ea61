"""Where the numbers of a report lead, and how many items or judgments the list has there."""

from functools import cache

from analytics.reports.links import ReportLinks
from analytics.reports.page import report_page
from evaluation.explorer.item_filters import ItemFilters


def leading(page):
    """(section, table or plot, cell or mark) of all that leads somewhere."""
    for section in page.sections:
        for block in section.blocks:
            for table in block.tables:
                yield from ((section.key, table.caption, cell) for row in table.rows for cell in row if cell.where)
            for row in getattr(block.plot, "rows", ()):
                yield from ((section.key, block.plot.caption, mark) for mark in row.marks if mark.where)


def astray(study, report, links):
    """A line for each number of items or judgments that is not the list's."""

    @cache
    def listed(pairs, counts):
        given = {}
        for name, value in pairs:
            given.setdefault(name, []).append(value)
        filters = ItemFilters.parse(study, given)
        return getattr(filters, f"n_{counts}")(study)

    for section, caption, each in leading(report_page(report)):
        where = each.where
        pairs = links.pairs(where)
        if where.counts and pairs is not None:
            n = listed(pairs, where.counts)
            if n != where.n:
                yield f"{section}: {caption[:60]}: {where.n} {where.counts}, listed {n}: {pairs}"
