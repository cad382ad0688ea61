"""The citation: a line and an entry with version, seed and hash, whatever the title and whoever the authors."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from django.utils import timezone
from hypothesis import given

from analytics.reports.code_version import SOFTWARE_VERSION
from analytics.reports.paper.citation import bibtex, citation, leaderboard_bibtex
from analytics.reports.paper.credit import Author, Credit, credit_of
from evaluation.models import StudyMember
from evaluation.services.leaderboards import publish_leaderboard
from tests.analytics.reports.judging import judged_study
from tests.analytics.reports.test_latex import HOSTILE, TEXT

REPORT = {
    "study": {"slug": "contrast", "title": "Contrast", "study_hash": "ab" * 32, "launched": "2026-03-04"},
    "parameters": {"version": "0123456789ab", "seed": 7},
}
COMPUTED = f"Assay {SOFTWARE_VERSION}, figures 0123456789ab; seed 7; study hash {'ab' * 32}"
BOARD = {
    "study": {"slug": "contrast", "title": "Contrast", "study_hash": "ab" * 32},
    "version": "0123456789ab",
}
URL = "https://assay.example.org/leaderboards/contrast/"
# Names whose words, commas or letters BibTeX might read as its own.
AUTHORS = (
    Author("Ada", "Lovelace"),
    Author("", "Assay, Inc."),
    Author("Ludwig", "van Beethoven"),
    Author("Anne and", "Charles, Jr."),
    Author("N. \N{LATIN SMALL LETTER O WITH STROKE}", "100% {O'}Brien & Sons"),
    Author("Madonna", ""),
)


def fields(entry):
    return dict(re.findall(r"^  (\w+) += \{(.*)\},$", entry, re.M))


def test_the_line_names_version_seed_and_hash():
    assert citation(REPORT) == f"Contrast: report of a human evaluation, 2026. {COMPUTED}."


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["version"] == SOFTWARE_VERSION


def test_an_entry_says_what_the_line_says():
    entry = bibtex(REPORT, Credit())
    assert entry.startswith("@misc{contrast-abababababab,\n")
    assert fields(entry) == {
        "key": "contrast",
        "title": "{Contrast: report of a human evaluation}",
        "year": "2026",
        "note": COMPUTED,
    }


def test_an_entry_has_its_authors_and_the_public_address():
    entry = fields(bibtex(REPORT, Credit((Author("Ada", "Lovelace"), Author("", "Some Lab")), URL)))
    assert entry["author"] == "Lovelace, Ada and {Some Lab}"
    assert entry["url"] == URL
    assert "key" not in entry


def test_a_leaderboard_s_entry_names_nobody():
    entry = fields(leaderboard_bibtex(BOARD, address=URL, day="2026-03-05"))
    assert list(entry) == ["key", "title", "year", "note", "url"]
    assert entry["note"].endswith("; figures of 2026-03-05")


@given(TEXT, TEXT, TEXT)
def test_no_title_and_no_name_unbalances_an_entry(title, first, last):
    """BibTeX counts braces, those behind a backslash too."""
    report = {**REPORT, "study": {**REPORT["study"], "title": title}}
    entry = bibtex(report, Credit((Author(first, last or "Lovelace"),)))
    depth = 0
    for each in entry:
        depth += (each == "{") - (each == "}")
        assert depth >= 0
    assert depth == 0
    assert entry.count("\n") == 6


def test_bibtex_reads_every_author_and_title(tmp_path):
    if shutil.which("bibtex") is None:
        pytest.skip("bibtex is not installed")
    entries = [bibtex(REPORT, Credit(AUTHORS, URL)), bibtex(REPORT, Credit()).replace("abab,", "nobody,")]
    for at, title in enumerate(HOSTILE):
        study = {**REPORT["study"], "title": title, "slug": f"hostile-{at}"}
        entries.append(bibtex({**REPORT, "study": study}, Credit()))
    (tmp_path / "all.bib").write_text("\n".join(entries), encoding="utf-8", errors="replace")
    (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n")
    ended = subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "Warning" not in ended.stdout
    made = (tmp_path / "all.bbl").read_text(encoding="utf-8", errors="replace")
    assert made.count("\\bibitem") == len(entries)
    assert "Ada Lovelace, {Assay, Inc.}, Ludwig van Beethoven, {Anne and} {Charles, Jr.}" in " ".join(
        made.split()
    )


@pytest.mark.django_db
def test_only_names_that_owners_have_set_are_given(owner, colleague):
    study = judged_study("contrast", owner=owner)
    owner.email, owner.username = "private@example.org", "private"
    owner.save()
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.EDITOR)
    colleague.first_name, colleague.last_name = "Not", "Owner"
    colleague.save()
    assert credit_of(study) == Credit()
    owner.first_name, owner.last_name = "Ada", " Lovelace "
    owner.save()
    assert credit_of(study) == Credit((Author("Ada", "Lovelace"),))


@pytest.mark.django_db
def test_the_address_is_that_of_a_published_leaderboard_that_others_reach(owner, settings):
    study = judged_study("contrast", owner=owner)
    settings.ASSAY_PUBLIC_URL = "https://assay.example.org"
    assert credit_of(study).url == ""
    publish_leaderboard(study, content={"raters": [{}]}, computed_at=timezone.now(), description="", by=owner)
    assert credit_of(study).url == URL
    settings.ASSAY_PUBLIC_URL = "http://127.0.0.1:8000"
    assert credit_of(study).url == ""
