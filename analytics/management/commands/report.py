"""Writes a study's report: one file of JSON, Markdown, HTML or LaTeX, a folder of CSV, or a zip of everything."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser

from analytics.figures.document import ReportRecord
from analytics.reports.build import build_report, latest_judgment
from analytics.reports.cache import effective_ties, whole_report
from analytics.reports.common import TIES, NothingToReport
from analytics.reports.files import FORMATS, report_html
from analytics.reports.links import ReportLinks
from analytics.reports.paper.archive import TABLES, table_list, tables_of, write_archive
from analytics.reports.paper.credit import credit_of
from analytics.reports.paper.table_csv import table_csv
from evaluation.filters import SAVED, SEVERAL, TOGETHER, Filters
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.outcomes import file_facts
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import FieldsRefused, Refused
from evaluation.services.history import log_copy

CSV, ZIP, JSON, WORDS = "csv", "zip", "json", "md"
# Formats that are no text for a terminal.
NEEDS = {CSV: "a folder", ZIP: "a file"}


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the study")
        parser.add_argument(
            "--format", choices=sorted([*FORMATS, CSV, ZIP]), help=f"default: {WORDS}, and with --json, JSON"
        )
        parser.add_argument(
            "--ties",
            choices=TIES,
            default="half",
            help="how a tie counts in expected win rates (default: half)",
        )
        add_filters(parser)
        parser.add_argument(
            "--only",
            action="append",
            metavar="FIGURE",
            help="only this figure, by its key such as agreement/kappa; may be repeated",
        )
        parser.add_argument(
            "--out",
            default="-",
            help="a file, or - for the terminal (default); for csv a folder, which gets one file per table and a list",
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        slug, out = options["slug"], options["out"]
        format = options["format"] or (JSON if options["json"] and out == "-" else WORDS)
        if out == "-" and format in NEEDS:
            raise CommandError(f"{format} can't go to the terminal: name {NEEDS[format]} with --out.")
        if out == "-" and options["json"] and format != JSON:
            raise CommandError(f"--json prints the report as JSON: for {format}, name a file with --out.")
        study = study_named(slug)
        try:
            filters = filters_of(study, options)
            # Taken first: a link leads to no judgment that the figures may lack.
            until = latest_judgment(study)
            if options["only"]:
                ties = effective_ties(study, options["ties"])
                report = build_report(
                    study, ties=ties, filters=filters, only=options["only"], watch=self._watch
                )
            else:
                report = whole_report(study, ties=options["ties"], filters=filters, watch=self._watch)
        except (NothingToReport, Refused) as refused:
            raise CommandError(str(refused)) from None
        log_copy(study, f"the report as {format}, by a command")
        if format == CSV:
            return self._write_tables(report, Path(out))
        if format == ZIP:
            return self._write(
                Path(out), lambda file: write_archive(report, credit_of(study), file, self._watch)
            )
        if options["json"] and out == "-":
            # One document, and not the text of one inside of it.
            return report
        links = ReportLinks.from_afar(study, filters, until)
        text = report_html(report, links) if format == "html" else FORMATS[format](report)
        if out != "-":
            return self._write(Path(out), partial(_put, text))
        self.stdout.write(text, ending="")
        return {}

    def _write_tables(self, report: ReportRecord, folder: Path) -> Outcome:
        """One file per table, and a list of them with their captions; what else is in the folder stays."""
        tables = tables_of(report)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{folder} can't be made: {error.strerror}.") from None
        for table in tables:
            _replace(folder / f"{table.key}.csv", partial(_put, table_csv(table)))
        _replace(folder / TABLES, partial(_put, table_list(tables)))
        self.stderr.write(f"{folder}: {len(tables):,} tables")
        names = [f"{table.key}.csv" for table in tables]
        return {"folder": str(folder), "files": [file_facts(folder / name) for name in [*names, TABLES]]}

    def _write(self, path: Path, write: Callable[[IO[bytes]], Any]) -> Outcome:
        _replace(path, write)
        self.stderr.write(f"{path}: {path.stat().st_size:,} bytes")
        return file_facts(path)

    def _watch(self, phase: str, done: int, total: int) -> None:
        if total and self.stderr.isatty():
            self.stderr.write(f"\r{phase}: {done} of {total}", ending="\n" if done == total else "")


def add_filters(parser: CommandParser) -> None:
    """The options that make a report one of a view."""
    about = {
        "query": "only items of this query",
        "category": "only items of this category",
        "source": "only items whose query is from this source",
        "split": "only items of this split (none: of no split)",
        "arm": "only items of this setting",
        "system": "only items with a response of this system",
        "group": "of people, only judgments of those in this group",
        "rater": "only judgments of this rater, by pseudonym",
        "without_rater": "no judgment of this rater",
    }
    for name in SEVERAL:
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            action="append",
            default=[],
            metavar="KEY",
            help=f"{about[name]}; may be repeated",
        )
    parser.add_argument("--revision", default="", metavar="N", help="only judgments under this revision")
    parser.add_argument("--from", default="", metavar="DAY", help="only judgments from this day on (UTC)")
    parser.add_argument(
        "--to", default="", metavar="DAY", help="only judgments up to the end of this day (UTC)"
    )
    parser.add_argument(
        "--judges",
        choices=[TOGETHER],
        default="",
        help="beside people, several judges also as one group (without people they are)",
    )
    parser.add_argument(
        "--view", default="", metavar="NAME", help="the saved view of this name, without any other filter"
    )


def filters_of(study: Study, options: dict[str, Any]) -> Filters:
    """The filters that the options name; CommandError with what is wrong with them."""
    given = {name: options[name] for name in SEVERAL}
    given |= {name: [options[name]] for name in ("revision", "from", "to", "judges", SAVED)}
    try:
        return Filters.parse(study, given)
    except FieldsRefused as refused:
        raise CommandError(str(refused)) from None


def _put(text: str, file: IO[bytes]) -> None:
    file.write(text.encode())


def _replace(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """All of the file or nothing of it: whoever reads the old one meanwhile is not disturbed."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise CommandError(f"{path} can't be written: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        # A temporary file is private to its owner; the report gets what a new file would have.
        Path(name).chmod(0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise CommandError(f"{path} can't be written: {error.strerror}.") from None
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
