"""The files of a bundle: their paths, what each holds, and their content."""

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import distributions
from typing import Any

import orjson

from analytics.figures.document import ReportRecord
from analytics.reports.bundle.codings import CODES, write_codings
from analytics.reports.code_version import SOFTWARE_VERSION, code_version
from analytics.reports.files import report_html, report_json
from analytics.reports.paper.archive import tables_of
from analytics.reports.paper.table_csv import table_csv
from analytics.reports.parts.codings import codings_of
from evaluation.dumps.exports.jsonl import OPTIONS, jsonl_lines
from evaluation.dumps.exports.stored_study import StoredStudy
from evaluation.extension import BundleFile, extensions
from evaluation.models import Exclusion, Study
from evaluation.private_words import PrivateWords
from evaluation.services.private_texts import private_words

FAMILY = "assay-bundle/"
FORMAT = f"{FAMILY}1"
MANIFEST = "MANIFEST.json"
README = "README.md"
STUDY, REPORT, VERSIONS = "study.jsonl", "report/report.json", "versions.json"
PAGE = "report/report.html"
REVISIONS, EXCLUSIONS = "revisions.json", "exclusions.json"
TABLES = "report/tables/"
# Rules that are for those who collect, and for nobody who reads: whoever has a code could claim to have taken part.
NOT_TO_PASS_ON = ("completion_codes", "contact")
INDENTED = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2


@dataclass(frozen=True)
class BundleMember:
    """One file: its path, a sentence on what it holds, and what writes it, piece by piece."""

    path: str
    about: str
    content: Callable[[], Iterator[bytes]]


def bundle_members(study: Study, report: ReportRecord) -> list[BundleMember]:
    """Every file but the manifest, in the order of the archive."""
    private = private_words(study)
    codings = codings_of(study)
    found = [
        BundleMember(
            STUDY,
            "the study as `import_study` reads it: its spec, items, seeds, the orders in which responses were shown, "
            "raters under their pseudonyms, and their judgments in the order in which they came",
            lambda: _study_lines(study, private),
        ),
        BundleMember(
            REVISIONS, "every revision of questions and texts, with its hash", lambda: _revisions(study)
        ),
        BundleMember(
            EXCLUSIONS,
            "what was left out of the figures and why, also where that was undone; withdrawn items; how many answers "
            "were replaced",
            lambda: _exclusions(study, private),
        ),
        *(
            [
                BundleMember(
                    CODES,
                    "the codes that models gave to queries and texts, such as types of queries",
                    lambda: write_codings(codings, private),
                )
            ]
            if codings
            else []
        ),
        *(
            BundleMember(file.path, file.about, partial(_without, private, file))
            for each in extensions()
            for file in each.bundle_files(study)
        ),
        BundleMember(
            VERSIONS, "versions of Assay, of Python and of every package that was installed", _versions
        ),
        BundleMember(
            REPORT, "every figure of the report, as numbers", lambda: iter([report_json(report).encode()])
        ),
        BundleMember(
            PAGE,
            "the report to read, with its tables and plots; it needs nothing but a browser",
            lambda: iter([report_html(report).encode()]),
        ),
        *_tables(report),
    ]
    return [_readme(study, report, found), *found]


def _tables(report: ReportRecord) -> Iterator[BundleMember]:
    for table in tables_of(report):
        text = table_csv(table).encode()
        caption = " ".join(table.full_caption.split()).replace("|", "\\|")
        yield BundleMember(f"{TABLES}{table.key}.csv", caption, lambda text=text: iter([text]))  # type: ignore[misc]


def _without(private: PrivateWords, file: BundleFile) -> Iterator[bytes]:
    return (private.blacked_out(line.decode()).encode() for line in file.lines())


def _study_lines(study: Study, private: PrivateWords) -> Iterator[bytes]:
    exported = jsonl_lines(StoredStudy(study), in_order=True, written=private.blacked_out_json)
    lines = (line for line, _ in exported)
    first = orjson.loads(next(lines))
    for name in NOT_TO_PASS_ON:
        first["rules"].pop(name, None)
    yield orjson.dumps(first, option=OPTIONS)
    yield from lines


def _revisions(study: Study) -> Iterator[bytes]:
    yield orjson.dumps(
        [
            {
                "number": each.number,
                "hash": each.hash,
                "spec_hash": each.spec_hash,
                "items_hash": each.items_hash,
                "day": _day(each.created_at),
                "spec": each.spec,
            }
            for each in study.revisions.order_by("number")
        ],
        option=INDENTED,
    )


def _exclusions(study: Study, private: PrivateWords) -> Iterator[bytes]:
    rows = Exclusion.objects.filter(study=study).select_related("rater", "judgment__rater", "judgment__item")
    withdrawn = study.items.filter(withdrawn_at__isnull=False).order_by("position", "pk")
    record = {
        "answers_replaced": study.corrections,
        "exclusions": [_exclusion(each) for each in rows.order_by("pk").iterator()],
        "withdrawn": [
            {"item": key, "day": _day(at)} for key, at in withdrawn.values_list("key", "withdrawn_at")
        ],
    }
    yield orjson.dumps(private.blacked_out_json(record), option=INDENTED)


def _exclusion(row: Exclusion) -> dict[str, str | int]:
    """An exclusion without the names of those who made and undid it."""
    if row.judgment is None:
        assert row.rater is not None  # it is of one or the other
        of: dict[str, str | int] = {"scope": "rater", "rater": row.rater.pseudonym}
    else:
        of = {
            "scope": "judgment",
            "rater": row.judgment.rater.pseudonym,
            "item": row.judgment.item.key,
            "replicate": row.judgment.replicate,
        }
    undone = {"undone_day": _day(row.undone_at), "undone_reason": row.undone_reason} if row.undone_at else {}
    return {**of, "reason": row.reason, "day": _day(row.at), **undone}


def _day(moment: Any) -> str:
    return str(moment.astimezone(UTC).date().isoformat())


def _versions() -> Iterator[bytes]:
    packages = {
        each.metadata["Name"].lower(): each.version for each in distributions() if each.metadata["Name"]
    }
    record = {
        "assay": SOFTWARE_VERSION,
        "figures": code_version(),
        "python": platform.python_version(),
        "packages": packages,
    }
    yield orjson.dumps(record, option=INDENTED)


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def _readme(study: Study, report: ReportRecord, members: list[BundleMember]) -> BundleMember:
    ties = report["parameters"]["ties"]
    text = "\n".join(
        [
            f"# {study.title}: replication bundle",
            "",
            f"Everything that the figures of the study `{study.slug}` were computed from, and the figures themselves.",
            f"They were computed by Assay {SOFTWARE_VERSION} (figures {code_version()}), a tie counted as "
            f"{'half a win' if ties == 'half' else 'a win'}; the study's hash is",
            f"`{study.study_hash}`.",
            "",
            "To compute every figure again, without any network, and hold it against the ones in here:",
            "",
            "    manage.py replicate BUNDLE.zip",
            "",
            "says figure by figure and table by table what is the same. To keep the study, or collect it anew:",
            "",
            "    manage.py replicate BUNDLE.zip --keep NEW-SLUG",
            "    manage.py duplicate_study NEW-SLUG",
            "",
            "Raters have pseudonyms; no id of a recruiting platform, no key and no address of a model's server is in",
            "here: where somebody wrote one into a text, it is xxxxxxxx. Times are days and durations, unless the",
            "study was set to pass on exact ones.",
            f"`{MANIFEST}` has the sha256 of every other file.",
            "",
            "| File | What it holds |",
            "| --- | --- |",
            *(f"| `{each.path}` | {each.about} |" for each in members),
            "",
        ]
    )
    return BundleMember(README, "this text", lambda: iter([text.encode()]))
