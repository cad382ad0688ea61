"""The citation: a line and an entry, with version and hash, whatever the title."""

import re
import tomllib
from pathlib import Path

from hypothesis import given

from analytics.reports.code_version import SOFTWARE_VERSION
from analytics.reports.paper.citation import bibtex, citation
from tests.analytics.reports.test_latex import TEXT

REPORT = {
    "study": {"slug": "contrast", "title": "Contrast", "study_hash": "ab" * 32, "launched": "2026-03-04"},
    "parameters": {"version": "0123456789ab"},
}


def test_the_line_names_version_and_hash():
    assert citation(REPORT) == (
        f"Contrast: report of a human evaluation, 2026. Assay {SOFTWARE_VERSION}, figures 0123456789ab; "
        f"study hash {'ab' * 32}."
    )


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["version"] == SOFTWARE_VERSION


def test_an_entry_for_bibtex():
    entry = bibtex(REPORT)
    assert entry.startswith("@misc{contrast-abababababab,\n")
    assert re.findall(r"^  (\w+) += \{", entry, re.M) == ["title", "year", "howpublished", "note"]
    without = {**REPORT, "study": {**REPORT["study"]}}
    del without["study"]["launched"]
    assert "year" not in bibtex(without)


@given(TEXT)
def test_no_title_unbalances_an_entry(title):
    """BibTeX counts braces, those behind a backslash too."""
    entry = bibtex({**REPORT, "study": {**REPORT["study"], "title": title}})
    depth = 0
    for each in entry:
        depth += (each == "{") - (each == "}")
        assert depth >= 0
    assert depth == 0
    assert entry.count("\n") == 6
