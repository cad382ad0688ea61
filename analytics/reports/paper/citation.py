"""The way to cite a report: a line, and an entry for BibTeX, with the software's version and the study's hash."""

from typing import Any

from analytics.frames.filters import VIEW_LETTERS, Filters, view_in_words
from analytics.reports.code_version import SOFTWARE_VERSION
from analytics.reports.paper.latex_text import escape

Record = dict[str, Any]
HASH_LETTERS = 12


def citation(report: Record) -> str:
    """One line: title, kind, year, software with the version of the figures, hash of the study."""
    study = report["study"]
    year = _year(study)
    return (
        f"{study['title'].rstrip('.')}: report of a human evaluation{f', {year}' if year else ''}. "
        f"Assay {SOFTWARE_VERSION}, figures {report['parameters']['version']}; study hash {study['study_hash']}"
        f"{_view(report)}."
    )


def bibtex(report: Record) -> str:
    """An entry whose key holds the study's slug and the beginning of its hash."""
    study, version = report["study"], report["parameters"]["version"]
    year = _year(study)
    fields = {
        "title": f"{{{escape(study['title'])}: report of a human evaluation}}",
        **({"year": year} if year else {}),
        "howpublished": f"Assay {SOFTWARE_VERSION}, figures {version}",
        "note": f"Study hash {study['study_hash']}{escape(_view(report))}",
    }
    named = [study["slug"], study["study_hash"][:HASH_LETTERS], view_digest(report)]
    return _entry("-".join(filter(None, named)), fields)


def leaderboard_citation(board: Record, *, address: str, day: str) -> str:
    """The same of a leaderboard (`analytics.leaderboard`), with its address and the day (ISO 8601) of its figures."""
    study = board["study"]
    return (
        f"{study['title'].rstrip('.')}: leaderboard, {day}. Assay {SOFTWARE_VERSION}, figures {board['version']}; "
        f"study hash {study['study_hash']}. {address}"
    )


def leaderboard_bibtex(board: Record, *, address: str, day: str) -> str:
    study = board["study"]
    fields = {
        "title": f"{{{escape(study['title'])}: leaderboard}}",
        "year": day[:4],
        "howpublished": f"Assay {SOFTWARE_VERSION}, figures {board['version']}",
        "note": f"Study hash {study['study_hash']}; figures of {day}",
        "url": address,
    }
    return _entry(f"{study['slug']}-leaderboard-{study['study_hash'][:HASH_LETTERS]}", fields)


def _entry(key: str, fields: Record) -> str:
    lines = [f"  {name:<12} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"


def view_digest(report: Record) -> str:
    """The beginning of the view's hash; empty of a report of the whole study."""
    return Filters.of(report["parameters"].get("view") or {}).digest[:VIEW_LETTERS]


def _view(report: Record) -> str:
    view = report["parameters"].get("view")
    return f"; view {view_digest(report)}: {view_in_words(view)}" if view else ""


def _year(study: Record) -> str:
    """The year of the study's latest launch; reports that were stored before it was kept have none."""
    return str(study.get("launched", ""))[:4]
