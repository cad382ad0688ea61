"""`manage.py report`: every format, to a file, a folder or the terminal, and clear refusals."""

import csv
import json
import zipfile
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from analytics.reports.cache import compute_report
from analytics.reports.paper.archive import ARCHIVE, file_paths, plots_of, tables_of
from tests.analytics.reports.judging import judge, judged_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = judged_study("contrast")
    judge(study, raters=3)
    return study


def written(**options):
    out = StringIO()
    call_command("report", "contrast", stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_json_and_markdown_on_the_terminal(study):
    assert json.loads(written(format="json"))["study"]["slug"] == "contrast"
    assert written(format="md").startswith("# Contrast\n")


def test_html_is_one_file_that_needs_nothing_else(study, tmp_path):
    path = tmp_path / "report.html"
    assert written(format="html", out=str(path)) == ""
    text = path.read_text()
    assert text.startswith("<!doctype html>") or text.lstrip().startswith("<!doctype html>")
    assert "--accent: #1f5f5b" in text
    for outside in ("<link", "<script", "src=", "http://", "url("):
        assert outside not in text
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_latex_is_a_document_with_every_table(study):
    text = written(format="latex")
    assert text.count("\\begin{document}") == text.count("\\end{document}") == 1
    report = compute_report(study)
    assert [f"\\label{{tab:{table.key}}}" in text for table in tables_of(report)] == [True] * len(
        tables_of(report)
    )
    assert "Study hash" in text


def test_csv_is_a_folder_with_a_file_per_table(study, tmp_path):
    folder = tmp_path / "new" / "tables"
    written(format="csv", out=str(folder))
    tables = tables_of(compute_report(study))
    names = [f"{table.key}.csv" for table in tables]
    assert len(set(names)) == len(names) > 5
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "tables.csv"])
    (head, *listed) = csv.reader((folder / "tables.csv").read_text().splitlines())
    assert head == ["File", "Caption"]
    assert listed == [[name, table.full_caption] for name, table in zip(names, tables, strict=True)]
    assert (folder / "win-rates-aspen-vs-birch.csv").read_text().startswith("Setting,aspen,aspen: low,")


def test_a_zip_holds_everything_and_is_the_same_twice(study, tmp_path):
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    written(format="zip", out=str(one))
    written(format="zip", out=str(two))
    assert one.read_bytes() == two.read_bytes()
    report = compute_report(study)
    with zipfile.ZipFile(one) as archive:
        names = archive.namelist()
        files = {name.removeprefix("contrast-report/"): archive.read(name) for name in names}
    assert [*files, ARCHIVE] == file_paths(report)
    assert json.loads(files["report.json"]) == report
    assert files["citation.bib"].startswith(b"@misc{contrast-")
    (plot, *_) = plots_of(report)
    for suffix, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert files[f"plots/{plot.key}.{suffix}"].startswith(start)
    readme = files["README.md"].decode()
    assert study.study_hash in readme
    assert all(key in readme for key in (plot.key, *(table.key for table in tables_of(report))))


@pytest.mark.parametrize("format", ["csv", "zip"])
def test_what_is_no_text_needs_a_place(study, format):
    with pytest.raises(CommandError, match="can't go to the terminal"):
        written(format=format)


def test_an_existing_file_is_replaced_as_a_whole(study, tmp_path):
    path = tmp_path / "report.md"
    path.write_text("old")
    written(format="md", out=str(path))
    assert path.read_text().startswith("# Contrast")


def test_ties_as_wins(study):
    assert json.loads(written(format="json"))["parameters"]["ties"] == "half"
    assert json.loads(written(format="json", ties="win"))["parameters"]["ties"] == "win"
    with pytest.raises(CommandError, match="invalid choice: 'third'"):
        call_command("report", "contrast", "--ties", "third")


def test_refusals_are_sentences(study, tmp_path):
    with pytest.raises(CommandError, match="no study 'nowhere'"):
        call_command("report", "nowhere")
    judged_study("empty", queries=1)
    with pytest.raises(CommandError, match="Nobody has judged an item yet"):
        call_command("report", "empty")
    with pytest.raises(CommandError, match="can't be written: No such file or directory"):
        written(out=str(tmp_path / "missing" / "report.md"))
