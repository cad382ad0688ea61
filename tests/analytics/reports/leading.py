"""Where the numbers of a report lead, and how many items or judgments the list has there."""

from collections import Counter, defaultdict
from functools import cache

from django.db import connection

from analytics.reports.build import latest_judgment
from analytics.reports.links import ReportLinks
from analytics.reports.page import report_page
from evaluation.explorer.item_filters import ItemFilters
from evaluation.services.tallies import recount

# Of a table or plot no more are looked up: each is a query or two, and pandalm's tables have hundreds of rows alike.
MOST = 12


def leading(page):
    """(section, caption, cell, mark or bar) of all that leads somewhere."""
    for section in page.sections:
        for block in section.blocks:
            for table in block.tables:
                yield from (
                    (section.key, table.caption, cell) for row in table.rows for cell in row if cell.where
                )
            for row in getattr(block.plot, "rows", ()):
                yield from ((section.key, block.plot.caption, mark) for mark in row.marks if mark.where)
            for bar in getattr(block.plot, "every_bar", ()):
                yield from [(section.key, block.plot.caption, bar)] if bar.where and bar.n else ()


def listed(study, pairs, counts):
    """The number of items or judgments that the list has with these filters."""
    given = defaultdict(list)
    for name, value in pairs:
        given[name].append(value)
    return getattr(ItemFilters.parse(study, given), f"n_{counts}")(study)


def astray(study, filters, report):
    """A line for each number of items or judgments that is not the list's."""
    while recount(study):
        pass
    # Without, SQLite looks for each of a thousand items through all judgments of the study.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    links = ReportLinks("", filters.canonical(), latest_judgment(study))
    n_listed = cache(lambda pairs, counts: listed(study, pairs, counts))
    found, seen = [], Counter()
    for section, caption, each in leading(report_page(report)):
        where = each.where
        pairs = links.pairs(where)
        seen[section, caption] += bool(where.counts)
        if not where.counts or pairs is None or seen[section, caption] > MOST:
            continue
        if (n := n_listed(pairs, where.counts)) != where.n:
            found.append(f"{section}: {caption[:60]}: {where.n} {where.counts}, listed {n}: {pairs}")
    return found
