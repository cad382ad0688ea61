"""A comparison as a file: JSON, Markdown, LaTeX, CSV, or one HTML page that needs nothing else."""

import json
from collections.abc import Callable, Iterator

from django.template.loader import render_to_string

from analytics.reports.comparison.document import ComparisonRecord
from analytics.reports.comparison.page import ComparedSide, comparison_page, comparison_table
from analytics.reports.files import stylesheets
from analytics.reports.markdown import escape, section_markdown
from analytics.reports.paper import latex_text
from analytics.reports.paper.latex import PREAMBLE, section_latex
from analytics.reports.paper.table_csv import table_csv


def comparison_json(record: ComparisonRecord) -> str:
    """Keys are sorted, as in a report's file."""
    return json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False, sort_keys=True) + "\n"


def comparison_markdown(record: ComparisonRecord) -> str:
    return "\n\n".join(_parts(record)) + "\n"


def comparison_csv(record: ComparisonRecord) -> str:
    """A row per figure."""
    return table_csv(comparison_table(record))


def comparison_html(record: ComparisonRecord) -> str:
    context = {"page": comparison_page(record), "css": stylesheets()}
    return render_to_string("analytics/comparison_file.html", context)


def comparison_latex(record: ComparisonRecord) -> str:
    """A document that compiles by itself, as a report's."""
    return PREAMBLE + "\n" + "\n\n".join(_document(record)) + "\n"


def _document(record: ComparisonRecord) -> Iterator[str]:
    page, tex = comparison_page(record), latex_text.escape
    yield rf"\title{{{tex(page.title)}}}" + "\n" + r"\author{}" + "\n" + r"\date{}"
    yield "\\begin{document}\n\\maketitle"
    # A hash is never broken, so that a line may have to end long before it.
    sides = (
        rf"\item[{side.name}] {tex(_said(side))}, study hash \texttt{{{side.hash}}}" for side in page.sides
    )
    yield "\n".join([r"{\raggedright\begin{description}", *sides, r"\end{description}}"])
    yield tex(page.matched)
    for caution in page.cautions:
        yield rf"\noindent\fbox{{\parbox{{.97\linewidth}}{{{tex(caution)}}}}}"
    for finding in page.findings:
        yield rf"\paragraph{{{tex(finding['about'])}: {tex(finding['heading'])}.}} {tex(finding['text'])}"
    if page.nothing_found:
        yield tex(page.nothing_found)
    for section in page.sections:
        yield from section_latex(section)
    yield r"\end{document}"


def _parts(record: ComparisonRecord) -> Iterator[str]:
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
    return f"- **{side.name}**: {escape(_said(side))}, study hash {side.hash}"


def _said(side: ComparedSide) -> str:
    view = f", {side.view}" if side.view else ""
    return f"{side.title} ({side.slug}{view}): {side.counts}"


FORMATS: dict[str, Callable[[ComparisonRecord], str]] = {
    "csv": comparison_csv,
    "html": comparison_html,
    "json": comparison_json,
    "latex": comparison_latex,
    "md": comparison_markdown,
}
# By the end of a file's name.
BY_SUFFIX = {("tex" if format == "latex" else format): write for format, write in FORMATS.items()}
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}
