"""A report as GitHub-flavoured Markdown, from the same view model as the page."""

import re
from collections.abc import Iterator

from analytics.display.blocks import Block, ReportPage, Section
from analytics.display.numbers import ended
from analytics.display.tables import Table, TableCell
from analytics.figures.document import ReportRecord
from analytics.reports.page import report_page
from evaluation.facts import Fact

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# Characters that would become markup. Names of systems, arms and categories come from researchers' files.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def report_markdown(report: ReportRecord) -> str:
    """The whole report as text that ends with a newline."""
    return "\n\n".join(_page(report_page(report))) + "\n"


def _page(page: ReportPage) -> Iterator[str]:
    yield f"# {escape(page.title)}"
    for said in filter(None, (page.view, page.notice)):
        yield f"> {escape(said)}"
    if page.others:
        yield f"**{escape(page.leading)}**"
    yield _facts(page.facts)
    for summary in page.others:
        yield f"**{escape(summary.label)}**"
        yield _facts(summary.facts)
    for finding in page.findings:
        heading = ended(finding.title)
        yield f"**{escape(heading)}** {escape(finding.text)}"
    for section in page.sections:
        yield from section_markdown(section)
    yield "## Citation"
    yield escape(page.citation)


def _facts(facts: tuple[Fact, ...]) -> str:
    return "\n".join(
        f"- **{escape(fact.name)}**: {fact.value} ({escape(fact.detail)}){f' [{fact.tag}]' if fact.tag else ''}"
        for fact in facts
    )


def section_markdown(section: Section) -> Iterator[str]:
    """Its paragraphs and tables."""
    yield f"## {escape(section.title)}"
    if section.intro:
        yield escape(section.intro)
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    # A plot is drawn on the page and in its files; here its heading would have nothing below it.
    if block.heading and (block.text or block.tables):
        yield f"### {escape(block.heading)}"
    if len(block.text) > 1:
        yield "\n".join(f"- {escape(sentence)}" for sentence in block.text)
    elif block.text:
        yield escape(block.text[0])
    for table in block.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"*{escape(table.caption)}*"
    header = [escape(column.label) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    yield "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))
    notes = [f"{_marks((number,))} {escape(note)}" for number, note in enumerate(table.notes, 1)]
    if table.foot:
        notes.append(escape(table.foot))
    if notes:
        yield "  \n".join(notes)


def _cell(cell: TableCell) -> str:
    parts = [escape(cell.text) + _marks(cell.marks)]
    if cell.detail:
        parts.append(f"({escape(cell.detail)})")
    if cell.tag:
        parts.append(f"**{cell.tag}**")
    return " ".join(filter(None, parts))


def _marks(marks: tuple[int, ...]) -> str:
    return "\u2009".join(str(mark) for mark in marks).translate(SUPERSCRIPTS)


def escape(text: str) -> str:
    """The text with nothing in it that Markdown would read as markup, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
