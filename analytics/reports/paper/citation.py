"""The way to cite a report: a line, and an entry for BibTeX, with the software's version and the study's hash."""

from typing import Any

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
        f"Assay {SOFTWARE_VERSION}, figures {report['parameters']['version']}; study hash {study['study_hash']}."
    )


def bibtex(report: Record) -> str:
    """An entry whose key holds the study's slug and the beginning of its hash."""
    study, version = report["study"], report["parameters"]["version"]
    year = _year(study)
    fields = {
        "title": f"{{{escape(study['title'])}: report of a human evaluation}}",
        **({"year": year} if year else {}),
        "howpublished": f"Assay {SOFTWARE_VERSION}, figures {version}",
        "note": f"Study hash {study['study_hash']}",
    }
    lines = [f"  {name:<12} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{study['slug']}-{study['study_hash'][:HASH_LETTERS]},", *lines, "}"]) + "\n"


def _year(study: Record) -> str:
    """The year of the study's latest launch; reports that were stored before it was kept have none."""
    return str(study.get("launched", ""))[:4]
