"""The way to cite a report: a line, and an entry for BibTeX. Both have the software's version, seed and study hash."""

from collections.abc import Mapping

from analytics.figures.document import ReportRecord, StudyRecord
from analytics.leaderboard.boards import LeaderboardRecord
from analytics.reports.code_version import SOFTWARE_VERSION
from analytics.reports.paper.credit import Author, Credit
from analytics.reports.paper.latex_text import escape
from evaluation.filters import VIEW_LETTERS, Filters, view_in_words

HASH_LETTERS = 12


def citation(report: ReportRecord) -> str:
    """One line: title, kind, year, and what the entry's note says."""
    study = report["study"]
    return f"{study['title'].rstrip('.')}: report of a human evaluation, {_year(study)}. {_computed(report)}."


def bibtex(report: ReportRecord, credit: Credit) -> str:
    """An entry whose key holds the study's slug and the beginning of its hash."""
    study = report["study"]
    fields = {
        **_by(credit, study["slug"]),
        "title": f"{{{escape(study['title'])}: report of a human evaluation}}",
        "year": _year(study),
        "note": escape(_computed(report)),
        **({"url": credit.url} if credit.url else {}),
    }
    named = [study["slug"], study["study_hash"][:HASH_LETTERS], view_digest(report)]
    return _entry("-".join(filter(None, named)), fields)


def leaderboard_citation(board: LeaderboardRecord, *, address: str, day: str) -> str:
    """The same of a leaderboard (`analytics.leaderboard`), with its address and the day (ISO 8601) of its figures."""
    return f"{board['study']['title'].rstrip('.')}: leaderboard, {day}. {_board_computed(board)}. {address}"


def leaderboard_bibtex(board: LeaderboardRecord, *, address: str, day: str) -> str:
    """Without authors: a published leaderboard names nobody."""
    study = board["study"]
    fields = {
        **_by(Credit(), study["slug"]),
        "title": f"{{{escape(study['title'])}: leaderboard}}",
        "year": day[:4],
        "note": f"{escape(_board_computed(board))}; figures of {day}",
        "url": address,
    }
    return _entry(f"{study['slug']}-leaderboard-{study['study_hash'][:HASH_LETTERS]}", fields)


def _by(credit: Credit, slug: str) -> dict[str, str]:
    """The authors; of a work without any, what styles sort and label it by."""
    if not credit.authors:
        return {"key": slug}
    return {"author": " and ".join(map(_author, credit.authors))}


def _author(author: Author) -> str:
    if author.first and author.last:
        return f"{_name(author.last)}, {_name(author.first)}"
    # In braces it is one name, whatever words it has.
    return f"{{{escape(author.first or author.last)}}}"


def _name(text: str) -> str:
    """A part of a name; in braces where a comma or an "and" in it would be read as BibTeX's own."""
    name = escape(text)
    return f"{{{name}}}" if "," in name or "and" in name.casefold().split() else name


def _entry(key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name:<6} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"


def _computed(report: ReportRecord) -> str:
    """The software with the version of the figures, the seed, and the hash of the study."""
    parameters = report["parameters"]
    return (
        f"Assay {SOFTWARE_VERSION}, figures {parameters['version']}; seed {parameters['seed']}; "
        f"study hash {report['study']['study_hash']}{_view(report)}"
    )


def _board_computed(board: LeaderboardRecord) -> str:
    return f"Assay {SOFTWARE_VERSION}, figures {board['version']}; study hash {board['study']['study_hash']}"


def view_digest(report: ReportRecord) -> str:
    """The beginning of the view's hash; empty of a report of the whole study."""
    return Filters.of(report["parameters"].get("view") or {}).digest[:VIEW_LETTERS]


def _view(report: ReportRecord) -> str:
    view = report["parameters"].get("view")
    return f"; view {view_digest(report)}: {view_in_words(view)}" if view else ""


def _year(study: StudyRecord) -> str:
    """The year of the study's latest launch."""
    return str(study["launched"])[:4]
