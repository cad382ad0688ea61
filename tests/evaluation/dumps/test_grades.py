"""Graded preferences in files: read in, written out equal, and a column of their own in tables."""

import csv
import io

import orjson
import pyarrow.parquet as pq
import pytest

from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from tests.evaluation.dumps.build import (
    content,
    export_bytes,
    header,
    item,
    judgment,
    nothing_left,
    read_in,
    write,
)

pytestmark = pytest.mark.django_db
GRADED = {
    "key": "preference", "kind": "preference", "prompt": "Which is better?",
    "options": {"tie": "Tie", "1": "a bit better", "form": {"points": 5}},
}  # fmt: skip
ITEM = item(
    1,
    gold={"preference": [1, 2]},
    judgments=[
        judgment("ada", answers={"preference": -2}, shown=["r2", "r1"]),
        judgment("bo", answers={"preference": {"label": "r2", "number": 1}}),
        judgment("cy", answers={"preference": {"label": "tie", "number": 0}}),
        judgment("dee", kind="judge", answers={"preference": {"label": "r2", "number": 0.5}}),
        judgment("eli", kind="judge", answers={"preference": "r1"}),
    ],
)


def test_what_is_exported_reads_back_equal_and_has_columns(tmp_path):
    head = header(spec={"questions": [GRADED]})
    study = read_in(write(tmp_path / "graded.jsonl", head, ITEM))
    exported = export_bytes(study)
    (tmp_path / "again.jsonl").write_bytes(exported)
    again = read_in(tmp_path / "again.jsonl", slug="again")
    assert export_bytes(again).splitlines()[1:] == exported.splitlines()[1:]
    assert content(again) == content(study)
    assert list(verify_study(again)) == []
    given = orjson.loads(exported.splitlines()[1])["judgments"]
    assert [each["answers"]["preference"] for each in given] == [
        {"label": "r1", "number": -2}, {"label": "r2", "number": 1}, {"label": "tie", "number": 0},
        {"label": "r2", "number": 0.5}, "r1",
    ]  # fmt: skip
    table = pq.read_table(io.BytesIO(export_bytes(study, "parquet")))
    assert table["number"].to_pylist() == [-2.0, 1.0, 0.0, 0.5, None]
    assert table["label"].to_pylist() == ["r1", "r2", "tie", "r2", "r1"]
    rows = csv.DictReader(io.StringIO(export_bytes(study, "csv").decode(), newline=""))
    # A number below zero is a number, and no formula.
    assert [row["number"] for row in rows][:2] == ["-2.0", "1.0"]


@pytest.mark.parametrize(
    ("questions", "answer", "said"),
    [
        ([GRADED], {"label": "r1", "number": 0.2}, "the label 'r1' does not go with the grade 0.2"),
        ([GRADED], -3, "-3 is not between -2 and 2"),
        ([GRADED], "r3", "'r3' is not one of -2, -1, 0, 1, 2"),
        ([GRADED | {"options": {"form": {"points": 4}}}], "r1", "a graded preference has 5 or 7 points"),
    ],
)
def test_what_is_no_grade_is_named_and_nothing_is_read(tmp_path, questions, answer, said):
    line = item(1, judgments=[judgment(answers={"preference": answer})])
    with pytest.raises(Refused) as refused:
        read_in(write(tmp_path / "bad.jsonl", header(spec={"questions": questions}), line))
    assert said in str(refused.value)
    assert nothing_left()
