"""Answers for spreadsheets: a workbook whose keys and texts stay what they are, and the CSV with a byte order mark."""

import csv
import datetime
import io
import shutil
import subprocess

import pytest
from django.core.management import CommandError, call_command
from openpyxl import load_workbook

from evaluation.dumps.exports.answer_table import COLUMNS
from evaluation.dumps.formats import xlsx
from evaluation.dumps.spreadsheets import escape, unescape
from evaluation.dumps.tables.reading import read_table
from tests.evaluation.dumps.build import export_bytes, header, item, judgment, read_in, write

pytestmark = pytest.mark.django_db
KEYS = ("73928e03", "0012", "1-2")
TEXTS = (
    "Die Würm \N{SLIGHTLY SMILING FACE}, مرحبا",
    '=HYPERLINK("http://example.org","x")',
    "- two\n\tlines\x0b, _x000D_",
)


def make(folder, texts=TEXTS, slug="soups", **changes):
    items = [
        item(
            number,
            key=key,
            judgments=[judgment(answers={"preference": "r2", "justification": text}, **changes)],
        )
        for number, (key, text) in enumerate(zip(KEYS, texts, strict=True))
    ]
    study = read_in(write(folder / "dump.jsonl", header(), *items), slug)
    study.refresh_from_db()
    return study


@pytest.fixture
def judged(tmp_path):
    return make(tmp_path, duration_ms=61_500, day="2024-05-06", label="#N/A")


def table(study):
    """The workbook's rows by their names."""
    book = load_workbook(io.BytesIO(export_bytes(study, "xlsx")))
    assert book.sheetnames == ["Answers"]
    names, *rows = book["Answers"].iter_rows()
    assert [cell.value for cell in names] == list(COLUMNS)
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def test_keys_are_texts_and_numbers_are_numbers(judged):
    rows = [row for row in table(judged) if row["question"].value == "justification"]
    assert [(row["item"].value, row["item"].data_type) for row in rows] == [(key, "s") for key in KEYS]
    first = rows[0]
    assert (first["duration_s"].value, first["duration_s"].data_type) == (61.5, "n")
    assert first["day"].value == datetime.datetime(2024, 5, 6)
    assert first["day"].number_format == "yyyy-mm-dd"
    assert (first["surplus"].value, first["judged_at"].value) == (False, None)
    assert (first["rater_label"].value, first["rater_label"].data_type) == ("#N/A", "s"), "no error"


def test_a_text_that_looks_like_a_formula_is_a_text(judged):
    [row] = [row for row in table(judged) if row["text"].value and row["text"].value.startswith("=")]
    assert (row["text"].value, row["text"].data_type) == (TEXTS[1], "s")
    assert row["text"].quotePrefix


def test_texts_come_back_exactly(judged, tmp_path):
    path = tmp_path / "out.xlsx"
    call_command("export", "soups", format="xlsx", out=str(path))
    read = read_table(path)
    at = read.columns.index("text")
    assert [row.cells[at] for row in read.rows if row.cells[at]] == list(TEXTS)
    with pytest.raises(CommandError, match="XLSX can't be written to standard output"):
        call_command("export", "soups", format="xlsx", out="-")


@pytest.mark.parametrize("text", [" a\r\n b ", "_x000D_", "__x000D__", "\x01\ufffe", "_xD83D_", "_x5_"])
def test_characters_that_xml_can_t_hold(text):
    assert unescape(escape(text)) == text


def test_what_no_cell_holds_is_refused_and_named(tmp_path):
    # Beyond U+FFFF a character counts twice.
    faces = "\N{SLIGHTLY SMILING FACE}" * 16_384
    study = make(tmp_path, texts=(*TEXTS[:2], faces[:-1]))
    assert faces[:-1] in [row["text"].value for row in table(study)]
    make(tmp_path, texts=(*TEXTS[:2], faces), slug="long")
    path = tmp_path / "out.xlsx"
    with pytest.raises(CommandError) as refused:
        call_command("export", "long", format="xlsx", out=str(path))
    assert str(refused.value) == (
        "The answer of ada to 'justification' of item '1-2' has 16,384 characters, and a cell of a workbook holds "
        "32,767. Export as CSV or Parquet, which have no such limit."
    )
    assert not path.exists()


def test_more_rows_than_a_sheet_has_are_refused(judged, monkeypatch):
    monkeypatch.setattr(xlsx, "MAX_ROWS", 6)
    with pytest.raises(
        Exception, match=r"more answers than the 5 that fit in a sheet\. Export as CSV or Parquet"
    ):
        export_bytes(judged, "xlsx")


def test_the_marked_csv_is_the_csv_behind_its_mark(judged):
    assert export_bytes(judged, "csv-bom") == b"\xef\xbb\xbf" + export_bytes(judged, "csv")
    assert not export_bytes(judged, "csv").startswith(b"\xef\xbb\xbf"), "R would read it as part of a name"


@pytest.mark.audit
def test_libreoffice_opens_it(judged, tmp_path):
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    path = tmp_path / "answers.xlsx"
    call_command("export", "soups", format="xlsx", out=str(path))
    # Its cells as the sheet shows them, as CSV.
    subprocess.run(
        [office, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to",
         "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true", "--outdir", str(tmp_path / "out"), str(path)],
        check=True, capture_output=True, timeout=240,
    )  # fmt: skip
    rows = [
        *csv.DictReader(io.StringIO((tmp_path / "out" / "answers.csv").read_bytes().decode(), newline=""))
    ]
    texts = [row["text"] for row in rows if row["text"]]
    assert texts[:2] == list(TEXTS[:2])
    assert list(dict.fromkeys(row["item"] for row in rows)) == list(KEYS)
    assert {(row["duration_s"], row["day"], row["rater_label"]) for row in rows} == {
        ("61.5", "2024-05-06", "#N/A")
    }
