"""A report as one file of text: JSON, Markdown, LaTeX, or one HTML page that needs nothing else."""

import json
from collections.abc import Callable
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from analytics.figures.document import ReportRecord
from analytics.reports.links import ReportLinks
from analytics.reports.markdown import report_markdown
from analytics.reports.page import report_page
from analytics.reports.paper.latex import report_latex

STYLESHEETS = ("css/assay.css", "css/report.css")


def report_json(report: ReportRecord) -> str:
    """Keys are sorted: a report that was kept in PostgreSQL has lost the order in which they were made."""
    return json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False, sort_keys=True) + "\n"


def report_html(report: ReportRecord, links: ReportLinks | None = None) -> str:
    """One page. `links` lead from its numbers to the installation that made it."""
    page = report_page(report)
    context = {"page": links.page(page) if links else page, "report": report, "css": stylesheets()}
    return render_to_string("analytics/report_file.html", context)


def stylesheets() -> SafeString:
    """The styles of a page that is one file."""
    text = "\n".join(Path(_found(name)).read_text("utf-8") for name in STYLESHEETS)
    return mark_safe(text)  # noqa: S308 - our own files


def _found(name: str) -> str:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"The stylesheet {name} is missing from the static files.")
    return path


FORMATS: dict[str, Callable[[ReportRecord], str]] = {
    "json": report_json,
    "md": report_markdown,
    "html": report_html,
    "latex": report_latex,
}
