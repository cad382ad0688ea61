"""CSV and Parquet: one row per answer, safe in a spreadsheet, and the same facts in both."""

import csv
import io

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.exports import answer_table
from evaluation.dumps.exports.answer_table import COLUMNS, arrow_schema
from evaluation.dumps.exports.study_export import export_to
from evaluation.dumps.formats import FORMATS
from evaluation.refusals import Refused
from tests.evaluation.dumps.build import context_item, export_bytes, header, item, judgment, read_in, write

pytestmark = pytest.mark.django_db
FORMULA = '=HYPERLINK("http://example.org","x")'


@pytest.fixture
def soups(tmp_path):
    answers = {"satisfied": {"f1.r1": 1, "f2.r2": 0}, "preference": "r2", "justification": FORMULA}
    times = {"duration_ms": 61_500, "visible_ms": 60_250, "judged_at": "2024-05-06T23:30:00-02:00"}
    first = context_item(
        1,
        judgments=[
            judgment(answers=answers, shown=["r2", "r1"], **times, label="-1"),
            judgment("bo", kind="judge", outcome="unparsed", answers={}),
            judgment(
                "cy",
                answers={"preference": {"label": "tie", "number": 0.5}},
                surplus=True,
                excluded=[{"scope": "rater", "reason": "Too fast"}, {"scope": "judgment", "reason": "@home"}],
            ),
        ],
    )
    about = {"rater": "bo", "in_figures": False, "about": {"model": "=tree-7b"}}
    study = read_in(write(tmp_path / "dump.jsonl", header(raters=[about]), first, item(2)))
    study.refresh_from_db()
    return study


def csv_rows(study):
    text = export_bytes(study, "csv").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def parquet_table(study):
    return pq.read_table(io.BytesIO(export_bytes(study, "parquet")))


def test_what_is_known_of_a_judge(soups):
    known = {(row["rater"], row["rater_model"], row["rater_in_figures"]) for row in csv_rows(soups)}
    assert known == {("ada", "", "true"), ("bo", "'=tree-7b", "false"), ("cy", "", "true")}
    table = parquet_table(soups)
    assert set(table["rater_in_figures"].to_pylist()) == {True, False}
    assert "=tree-7b" in table["rater_model"].to_pylist()


def test_a_row_per_answer(soups):
    rows = csv_rows(soups)
    shape = [(row["rater"], row["question"], row["part"], row["system"], row["outcome"]) for row in rows]
    assert shape == [
        ("ada", "satisfied", "f1.r1", "aspen", "ok"),
        ("ada", "satisfied", "f2.r2", "birch", "ok"),
        ("ada", "preference", "", "birch", "ok"),
        ("ada", "justification", "", "", "ok"),
        ("bo", "", "", "", "unparsed"),
        ("cy", "preference", "", "", "ok"),
    ]
    assert [(row["number"], row["label"]) for row in rows[:3]] == [("1.0", ""), ("0.0", ""), ("", "r2")]
    assert (rows[5]["number"], rows[5]["label"]) == ("0.5", "tie")
    assert (rows[0]["duration_s"], rows[0]["visible_s"], rows[0]["shown"]) == ("61.5", "60.25", "r2,r1")
    assert (rows[0]["day"], rows[0]["judged_at"]) == ("2024-05-07", "")
    assert [row["surplus"] for row in rows] == ["false"] * 5 + ["true"]
    assert (rows[0]["excluded"], rows[5]["excluded"]) == ("", "Too fast; @home")
    assert {row["study_hash"] for row in rows} == {soups.study_hash}
    assert {row["stimulus_hash"] for row in rows} == {soups.items.get(key="i1").stimulus_hash}


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_formulas_are_neutralised(start):
    assert answer_table.spreadsheet_cell(f"{start}1+1") == f"'{start}1+1"
    assert answer_table.spreadsheet_cell(f"1{start}1") == f"1{start}1"


def test_formulas_in_an_export(soups):
    rows = csv_rows(soups)
    assert rows[3]["text"] == f"'{FORMULA}"
    assert rows[0]["rater_label"] == "'-1"
    assert parquet_table(soups).column("text").to_pylist()[3] == FORMULA


def test_numbers_stay_numbers():
    assert answer_table.spreadsheet_cell(-0.5) == -0.5


def test_parquet_has_its_schema_and_the_same_facts(soups):
    table = parquet_table(soups)
    assert table.schema.equals(arrow_schema())
    assert table.column("day").to_pylist()[0].isoformat() == "2024-05-07"
    assert table.column("judged_at").null_count == table.num_rows
    for name in ("rater", "question", "part", "system", "shown", "excluded"):
        assert table.column(name).to_pylist() == [row[name] for row in csv_rows(soups)]
    assert table.column("number").to_pylist() == [1.0, 0.0, None, None, None, 0.5]


def test_exact_times_where_permitted(soups):
    soups.exact_times = True
    assert csv_rows(soups)[0]["judged_at"] == "2024-05-07 01:30:00+00:00"
    assert parquet_table(soups).column("judged_at").to_pylist()[0].isoformat() == "2024-05-07T01:30:00+00:00"


@pytest.mark.parametrize(("limit", "size", "groups"), [("ROWS_PER_GROUP", 4, 2), ("TEXT_PER_GROUP", 10, 2)])
def test_row_groups_are_bounded(limit, size, groups, soups, monkeypatch):
    monkeypatch.setattr(answer_table, limit, size)
    metadata = pq.ParquetFile(io.BytesIO(export_bytes(soups, "parquet"))).metadata
    assert (metadata.num_row_groups, metadata.num_rows) == (groups, 6)


def test_chunks_of_few_judgments_give_the_same_rows(soups, monkeypatch):
    whole = export_bytes(soups, "csv")
    monkeypatch.setattr("evaluation.dumps.exports.stored_study.MAX_JUDGMENTS", 1)
    assert export_bytes(soups, "csv") == whole


def test_a_study_without_judgments(draft):
    assert export_bytes(draft, "csv").decode().strip() == ",".join(COLUMNS)
    assert parquet_table(draft).num_rows == 0


def test_export_to_a_path(soups, tmp_path):
    for format in ("jsonl", "csv", "parquet"):
        path = tmp_path / f"out.{format}"
        path.write_text("old")
        call_command("export", "soups", format=format, out=str(path))
        assert path.read_bytes() == export_bytes(soups, format)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("format", ["jsonl", "csv", "xlsx", "parquet"])
def test_a_broken_export_leaves_no_half_file(format, soups, tmp_path, monkeypatch):
    path = tmp_path / f"out.{format}"
    path.write_text("old")

    def interrupted(phase, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_to(soups, format=format, path=str(path), watch=interrupted)
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(".*"))


def test_standard_output(soups, capfdbinary):
    call_command("export", "soups", format="csv", out="-")
    assert capfdbinary.readouterr().out == export_bytes(soups, "csv")
    with pytest.raises(CommandError, match="Parquet can't be written to standard output"):
        call_command("export", "soups", format="parquet", out="-")


def test_what_export_refuses(soups, tmp_path):
    with pytest.raises(CommandError, match="There is no study 'stew'"):
        call_command("export", "stew", out="-")
    with pytest.raises(CommandError, match="can't be written: No such file or directory"):
        call_command("export", "soups", out=str(tmp_path / "nowhere" / "out.jsonl"))
    with pytest.raises(Refused, match=rf"No format 'xml'; there are: {', '.join(FORMATS)}\."):
        export_to(soups, format="xml", path=str(tmp_path / "out"))
