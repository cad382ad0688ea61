"""The figures of a bundle computed anew: its study is imported, reported on by this code, and compared."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import orjson
from django.db import transaction

from analytics.figures.document import SCHEMA, ReportRecord
from analytics.reports.build import build_report
from analytics.reports.bundle.codings import CODES, read_codings
from analytics.reports.bundle.comparison import ComparedFigure, Sameness, compare_reports, compare_tables
from analytics.reports.bundle.members import REPORT, STUDY, VERSIONS
from analytics.reports.bundle.reading import MAX_BYTES, Bundle, open_bundle
from analytics.reports.code_version import code_version
from analytics.reports.common import REPLICATES, TIES, NothingToReport, Watch, no_watch
from analytics.reports.files import report_json
from analytics.reports.paper.archive import tables_of
from analytics.reports.paper.table_csv import table_csv
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.lines import FileSource
from evaluation.extension import BundleCheck, Coding, extensions
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.imports import discard_import

# By which a report's record says what it is of.
NAMING = {"figure", "question", "group"}


@dataclass(frozen=True)
class Replication:
    """The outcome of a replication: every figure compared, and each table with True if its bytes are the same."""

    manifest: Mapping[str, Any]
    versions: Mapping[str, Any]
    figures: list[ComparedFigure]
    tables: list[tuple[str, bool]]
    # The apps' checks of their own files.
    checks: list[BundleCheck]
    # The study that was kept; None where it was taken back.
    study: Study | None

    @property
    def other_code(self) -> bool:
        """True where the figures were computed by another version than this one."""
        return bool(self.manifest["figures"] != code_version())

    @property
    def succeeded(self) -> bool:
        """True if every figure is the same, but perhaps for rounding, and shows the same in every table, and nothing is
        wrong with the other files."""
        return (
            not any(each.problems for each in self.checks)
            and all(each.sameness < Sameness.DIFFERENT for each in self.figures)
            and all(same for _, same in self.tables)
        )


def replicate(
    path: Path,
    *,
    keep: str = "",
    owner: Any = None,
    replace_broken: bool = False,
    most_bytes: int = MAX_BYTES,
    watch: Watch = no_watch,
    kept: Study | None = None,
    on_imported: Callable[[Study], None] = lambda study: None,
) -> Replication:
    """Check the bundle, import its study, compute its report and compare.

    The study is taken back, unless `keep` is the slug that it is to have. Refused with every reason, and then nothing
    is kept, nor after any other error; `replace_broken` is `import_dump`'s. `most_bytes`: what it may unpack to.
    `on_imported` is told of a study that is to be kept, within the transaction that completes its import; `kept` is one
    that was imported by an earlier call, which was killed after that.
    """
    with open_bundle(path, most_bytes=most_bytes, watch=watch) as bundle:
        theirs = _report(bundle)
        codings = read_codings(bundle.json(CODES)) if CODES in bundle.manifest["sha256"] else []
        with bundle.extracted(STUDY) as dump:
            if keep:
                study = kept or import_dump(
                    FileSource(dump),
                    slug=keep,
                    owner=owner,
                    replace_broken=replace_broken,
                    watch=watch,
                    and_then=on_imported,
                )
                try:
                    return _compared(bundle, study, theirs, codings, watch)
                except BaseException:
                    discard_import(study)
                    raise
            with transaction.atomic():
                name = f"replicating-{secrets.token_hex(8)}"
                study = import_dump(FileSource(dump), slug=name, watch=watch)
                done = _compared(bundle, study, theirs, codings, watch)
                transaction.set_rollback(True)
                return replace(done, study=None)


def _compared(
    bundle: Bundle, study: Study, theirs: ReportRecord, codings: Sequence[Coding], watch: Watch
) -> Replication:
    ours = _computed(study, theirs, codings, watch)
    tables = {table.key: table_csv(table).encode() for table in tables_of(ours)}
    versions = bundle.json(VERSIONS)
    checks = [found for each in extensions() if (found := each.check_bundle(bundle.lines)) is not None]
    return Replication(
        bundle.manifest,
        versions if isinstance(versions, dict) else {},
        compare_reports(theirs, orjson.loads(report_json(ours))),
        compare_tables(bundle.tables, tables),
        checks,
        study,
    )


def _report(bundle: Bundle) -> ReportRecord:
    report = bundle.json(REPORT)
    schema = report.get("schema") if isinstance(report, dict) else None
    if schema != SCHEMA:
        raise Refused(f"{REPORT}: its schema is {schema!r}; this version compares {SCHEMA!r}.")
    parameters = report.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("ties") not in TIES:
        raise Refused(f"{REPORT} does not say how a tie counts.")
    if (
        not isinstance(parameters.get("replicates"), int)
        or not 0 < parameters["replicates"] <= 100 * REPLICATES
    ):
        raise Refused(f"{REPORT}: the number of replicates is not one that a report has.")
    records = report.get("records")
    if not isinstance(records, list) or not all(
        isinstance(each, dict) and each.keys() >= NAMING for each in records
    ):
        raise Refused(f"{REPORT}: its records do not all name a figure, a question and a group.")
    return cast(ReportRecord, report)


def _computed(study: Study, theirs: ReportRecord, codings: Sequence[Coding], watch: Watch) -> ReportRecord:
    parameters = theirs["parameters"]
    try:
        return build_report(
            study,
            replicates=parameters["replicates"],
            ties=parameters["ties"],
            codings=codings,
            watch=watch,
        )
    except NothingToReport as nothing:
        raise Refused(f"{STUDY}: {nothing}") from None
