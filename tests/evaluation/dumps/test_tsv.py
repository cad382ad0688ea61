"""TSV: the rows of CSV, each on one line."""

import csv
import io

import pytest
from django.core.management import call_command

from evaluation.dumps.exports.answer_table import COLUMNS
from tests.evaluation.dumps.build import context_item, export_bytes, header, judgment, read_in, write

pytestmark = pytest.mark.django_db
REASON = '=SUM(1)\tand "so"\non C:\\new'


@pytest.fixture
def study(tmp_path):
    answers = {"satisfied": {"f1.r1": 1, "f2.r2": 0}, "preference": "r2", "justification": REASON}
    judged = judgment(answers=answers, duration_ms=61_500, judged_at="2024-05-06T23:30:00-02:00")
    judge = judgment("bo", kind="judge", outcome="unparsed", answers={})
    return read_in(write(tmp_path / "dump.jsonl", header(), context_item(1, judgments=[judged, judge])))


def test_a_line_is_a_row_and_a_tab_parts_columns(study):
    lines = export_bytes(study, "tsv").decode().split("\n")
    assert lines.pop() == ""
    assert lines[0].split("\t") == list(COLUMNS)
    rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines[1:]]
    texts = csv.DictReader(io.StringIO(export_bytes(study, "csv").decode(), newline=""))
    others = [{name: row[name] for name in COLUMNS if name != "text"} for row in rows]
    assert others == [{name: row[name] for name in COLUMNS if name != "text"} for row in texts]
    (text,) = {row["text"] for row in rows} - {""}
    assert text == r"""'=SUM(1)\tand "so"\non C:\\new"""
    assert text[1:].encode().decode("unicode_escape") == REASON


def test_the_command_writes_it_to_standard_output(study, capfdbinary):
    call_command("export", study.slug, format="tsv", out="-", progress=False)
    assert capfdbinary.readouterr().out == export_bytes(study, "tsv")
