"""`manage.py report`: three formats, to a file or the terminal, and clear refusals."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

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
