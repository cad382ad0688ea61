"""A comparison as a file: JSON, Markdown, or CSV."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from analytics.reports.comparison.page import ComparedSide, comparison_page, comparison_table
from analytics.reports.markdown import escape, section_markdown
from analytics.reports.paper.table_csv import table_csv

Record = dict[str, Any]


def comparison_json(record: Record) -> str:
    """Keys are sorted, as in a report's file."""
    return json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False, sort_keys=True) + "\n"


def comparison_markdown(record: Record) -> str:
    return "\n\n".join(_parts(record)) + "\n"


def comparison_csv(record: Record) -> str:
    """A row per comparison."""
    return table_csv(comparison_table(record))


def _parts(record: Record) -> Iterator[str]:
    page = comparison_page(record)
    yield f"# {escape(page.title)}"
    yield "\n".join(_side(side) for side in page.sides)
    yield escape(page.matched)
    for caution in page.cautions:
        yield f"> {escape(caution)}"
    for finding in page.findings:
        yield f"**{escape(finding['about'])}: {finding['heading']}.** {escape(finding['text'])}"
    if page.nothing_found:
        yield page.nothing_found
    for section in page.sections:
        yield from section_markdown(section)


def _side(side: ComparedSide) -> str:
    view = f", {side.view}" if side.view else ""
    return f"- **{side.name}**: {escape(f'{side.title} ({side.slug}{view}): {side.counts}')}, study hash {side.hash}"


FORMATS: dict[str, Callable[[Record], str]] = {
    "csv": comparison_csv,
    "json": comparison_json,
    "md": comparison_markdown,
}
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
}
