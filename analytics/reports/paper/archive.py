"""Everything of a report as files: the report in each format, its tables, its plots, how to cite it; and a zip of all.

The same report gives the same bytes.
"""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TypeVar

from analytics.display.blocks import Plot
from analytics.display.plot_files import PLOT_FORMATS, plot_files
from analytics.display.tables import Builder, Table, columns, words
from analytics.figures.document import ReportRecord
from analytics.reports.files import FORMATS
from analytics.reports.page import report_page
from analytics.reports.paper.citation import bibtex, citation, view_digest
from analytics.reports.paper.credit import Credit
from analytics.reports.paper.latex_table import PACKAGES, latex_table
from analytics.reports.paper.table_csv import table_csv

T = TypeVar("T")
# What is called with a phase, how much is done and of how much.
Watch = Callable[[str, int, int], None]
SUFFIXES = {"json": "json", "md": "md", "html": "html", "latex": "tex"}
TABLE_FORMATS: dict[str, Callable[[Table], str]] = {"csv": table_csv, "tex": latex_table}
CONTENT_TYPES = {
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".tex": "application/x-tex; charset=utf-8",
    ".bib": "application/x-bibtex; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".zip": "application/zip",
}
BIBLIOGRAPHY = "citation.bib"
README = "README.md"
# The list of a folder of CSV.
TABLES = "tables.csv"
ARCHIVE = "report.zip"
# A zip's dates begin here.
NO_DATE = (1980, 1, 1, 0, 0, 0)


def tables_of(report: ReportRecord) -> list[Table]:
    return [
        table
        for section in report_page(report).sections
        for block in section.blocks
        for table in block.tables
    ]


def plots_of(report: ReportRecord) -> list[Plot]:
    return [block.plot for section in report_page(report).sections for block in section.blocks if block.plot]


def text_files(report: ReportRecord, credit: Credit) -> dict[str, Callable[[], str]]:
    """By its path, what writes each file but the plots."""
    files: dict[str, Callable[[], str]] = {README: _written(contents, report)}
    files |= {f"report.{suffix}": _written(FORMATS[format], report) for format, suffix in SUFFIXES.items()}
    files[BIBLIOGRAPHY] = lambda: bibtex(report, credit)
    for table in tables_of(report):
        for suffix, write in TABLE_FORMATS.items():
            files[f"tables/{table.key}.{suffix}"] = _written(write, table)
    return files


def _written(write: Callable[[T], str], of: T) -> Callable[[], str]:
    return lambda: write(of)


def plot_paths(plot: Plot) -> dict[str, str]:
    """By format, the plot's path."""
    return {format: f"plots/{plot.key}.{format}" for format in PLOT_FORMATS}


def file_paths(report: ReportRecord) -> list[str]:
    """Every file that there is, the archive of all last."""
    plots = [path for plot in plots_of(report) for path in plot_paths(plot).values()]
    return [*text_files(report, Credit()), *plots, ARCHIVE]


def folder(report: ReportRecord) -> str:
    """The archive's one folder, with the hash of a view."""
    return "-".join(filter(None, [report["study"]["slug"], "report", view_digest(report)]))


def write_archive(report: ReportRecord, credit: Credit, out: IO[bytes], watch: Watch) -> None:
    """Write the zip. `watch` is told of every plot, which is what takes time."""
    plots = plots_of(report)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, write in text_files(report, credit).items():
            _add(archive, report, path, write().encode())
        for at, plot in enumerate(plots):
            watch("drawing plots", at, len(plots))
            made = plot_files(plot)
            for format, path in plot_paths(plot).items():
                _add(archive, report, path, made[format])
    watch("drawing plots", len(plots), len(plots))


def _add(archive: zipfile.ZipFile, report: ReportRecord, path: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(f"{folder(report)}/{path}", NO_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


def contents(report: ReportRecord) -> str:
    """The README of the archive."""
    return "\n".join(_contents(report)) + "\n"


def _contents(report: ReportRecord) -> Iterator[str]:
    yield f"# {report['study']['title']}: report"
    yield f"\n{citation(report)}\n"
    yield "| File | What it holds |"
    yield "| --- | --- |"
    yield "| `report.json` | every figure, as `schema` in it says |"
    yield "| `report.md`, `report.html` | the report to read |"
    yield "| `report.tex` | the report as a document of LaTeX; finds the plots in `plots` |"
    yield f"| `{BIBLIOGRAPHY}` | an entry for BibTeX |"
    for table in tables_of(report):
        yield f"| `tables/{table.key}.tex`, `.csv` | {_cell(table.full_caption)} |"
    for plot in plots_of(report):
        yield f"| `plots/{plot.key}.pdf`, `.svg`, `.png` | {_cell(plot.full_caption)} |"
    yield f"\nTables are read in by `\\input{{tables/NAME}}`; they need \\usepackage{{{','.join(PACKAGES)}}}."
    yield "Their CSV has the same figures, with the limits of an interval in columns of their own."
    yield "Plots have their fonts embedded (PDF) or as outlines (SVG); PNG has 300 dots per inch."


def table_list(tables: Sequence[Table]) -> str:
    """The name of each table's file beside its caption, as CSV: what the files themselves don't say."""
    build = Builder("", columns(["File", "Caption"], names=2))
    for table in tables:
        build.add(words(f"{table.key}.csv"), words(table.full_caption))
    return table_csv(build.build())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
