"""Files that are made to hold whoever reads them, or to fill the memory: refused with a sentence, the reader ended."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from evaluation.dumps.tables.readers import box
from evaluation.dumps.tables.readers.box import Limits, is_own_format, read_apart
from evaluation.dumps.tables.reading import read_raw, read_table
from evaluation.refusals import Refused
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, parquet, workbook, write

pytestmark = pytest.mark.usefixtures("tables_are_read_apart")
SHEET = "xl/worksheets/sheet1.xml"
LAST_ROW = 1_048_576


def changed(path: Path, rows: str = "", merged: str = "") -> Path:
    """A workbook of the usual rows with more XML behind them."""
    out = io.BytesIO()
    old = zipfile.ZipFile(io.BytesIO(workbook([HEADER, *ROWS])))
    with old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name == SHEET:
                text = text.replace(b"</sheetData>", f"{rows}</sheetData>{merged}".encode())
            new.writestr(name, text)
    return write(path, out.getvalue())


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def started(monkeypatch: Any) -> list[int]:
    """The ids of the processes that read."""
    found: list[int] = []
    popen = box.subprocess.Popen

    def start(*args: Any, **options: Any) -> Any:
        child = popen(*args, **options)
        found.append(child.pid)
        return child

    monkeypatch.setattr(box.subprocess, "Popen", start)
    return found


def test_a_cell_in_the_last_corner_is_a_cell_like_others(tmp_path: Path) -> None:
    path = changed(tmp_path / "far.xlsx", f'<row r="{LAST_ROW}"><c r="D{LAST_ROW}"><v>1</v></c></row>')
    assert [row.number for row in read_table(path).rows] == [*range(2, 32), LAST_ROW]
    corner = f'<row r="{LAST_ROW}"><c r="XFD{LAST_ROW}"><v>1</v></c></row>'
    assert len(read_table(changed(tmp_path / "corner.xlsx", corner)).rows) == 30


def test_merged_ranges_that_overlap_are_each_read_once(tmp_path: Path) -> None:
    ranges = "".join(f'<mergeCell ref="D{2 + n % 30}:D{LAST_ROW}"/>' for n in range(20_000))
    path = changed(tmp_path / "merged.xlsx", merged=f'<mergeCells count="20000">{ranges}</mergeCells>')
    assert {row.cells[3] for row in read_table(path).rows} == {"food"}


def test_reading_is_ended_at_its_limit_of_time(tmp_path: Path, started: list[int]) -> None:
    rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(40, 400_000))
    path = changed(tmp_path / "wide.xlsx", rows)
    with pytest.raises(Refused, match="took longer than 1 seconds and was stopped"):
        read_apart(path, limits=Limits(1))
    assert len(started) == 1
    assert not is_running(started[0])


def test_reading_is_ended_at_its_limit_of_memory(tmp_path: Path, started: list[int]) -> None:
    text = pa.array(["x" * 1_000_000])
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, type=pa.int32()), text)
    path = write(tmp_path / "few.parquet", parquet({"prompt": repeated, "response": repeated}))
    assert path.stat().st_size < 100_000
    with pytest.raises(Refused, match="more than 700 MB of memory and was stopped"):
        read_apart(path, limits=Limits(60, memory=700_000_000))
    assert not is_running(started[0])


def test_a_reader_that_fails_says_so(tmp_path: Path) -> None:
    deep = b'{"prompt": ' * 900 + b"1" + b"}" * 900 + b'\n{"prompt": 2}\n{"prompt": 3}\n'
    with pytest.raises(Refused, match=r"deep\.jsonl: It is nested too deeply"):
        read_table(write(tmp_path / "deep.jsonl", deep))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'q,a,b\nq,"' + b"x y z\n" * 900_000, "line 2: a cell is longer than 5,000,000 characters"),
        ((b"\t".join([b"1"] * 500) + b"\n") * 20_001, "more than 10 million cells"),
        (
            delimited([("q", *["x" * 4_000_000] * 3)]),
            "A row of the table holds more than 10 million characters",
        ),
    ],
)
def test_a_table_has_bounds(tmp_path: Path, text: bytes, said: str) -> None:
    with pytest.raises(Refused, match=said):
        read_table(write(tmp_path / "table.csv", text))


def test_an_archive_that_unpacks_to_more_than_fits_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluation.dumps.tables.readers.workbook.MAX_UNPACKED", 1_000)
    with pytest.raises(Refused, match="unpacks to more than"):
        read_raw(write(tmp_path / "bomb.xlsx", workbook([HEADER, *ROWS])))


def test_of_long_rows_fewer_are_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "long.csv", delimited([(f"q{n}", "x" * 3_000_000, "", "") for n in range(9)]))
    looked_at = read_apart(path, limit=500)
    # With the names of the columns.
    assert (len(looked_at.rows), looked_at.is_cut) == (4, True)
    assert (len(read_apart(path).rows), read_apart(path).is_cut) == (10, False)


def test_the_process_that_reads_gets_no_secrets(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for readers")
    given: list[dict[str, str]] = []
    popen = box.subprocess.Popen

    def start(*args: Any, env: dict[str, str], **options: Any) -> Any:
        given.append(env)
        return popen(*args, env=env, **options)

    monkeypatch.setattr(box.subprocess, "Popen", start)
    assert not is_own_format(write(tmp_path / "pairs.csv", delimited(ROWS)))
    assert "not for readers" not in given[0].values()


def test_tables_do_not_take_all_threads(tmp_path: Path, monkeypatch: Any) -> None:
    path = write(tmp_path / "pairs.csv", delimited(ROWS))
    monkeypatch.setattr(box, "PATIENCE", 0.01)
    with box._looks, box._looks:
        with pytest.raises(Refused, match="Other tables are being read at this moment"):
            read_table(path, limit=500)
        # A worker's readings are its own.
        assert len(read_table(path).rows) == 30
    assert len(read_table(path, limit=500).rows) == 30


def test_a_process_that_does_not_start_is_no_fault_of_the_file(tmp_path: Path, monkeypatch: Any) -> None:
    path = write(tmp_path / "pairs.csv", delimited(ROWS))
    monkeypatch.setattr(box, "ROOT", tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(RuntimeError, match="the process that reads tables ended with 1"):
        read_table(path)
