"""Rows with errors: named by row, key and column; left out where somebody says so, and handed back as a file."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.tables.bad_rows import leave_out_bad_rows, write_left_out
from evaluation.dumps.tables.source import TableSource, open_source
from evaluation.models import Study
from evaluation.refusals import Refused
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, parquet, read, write

KEYED = ("id", *HEADER[:3])
BULLETS = "- leek\n- potato"
PAIRS = [
    ("q1", "Which soup?", "Leek.", "Pea."),
    ("q2", "Which bread?", BULLETS, ""),
    ("q3", "Which tea?", "", "Mint."),
    ("q4", "Which fruit?", "Pear.", "Plum."),
    ("q5", "Which nut?", "", "Hazel."),
]


def opened(path: Any, **options: Any) -> TableSource:
    source = open_source(path, **options).source
    assert isinstance(source, TableSource)
    return source


def handed_back(source: TableSource) -> tuple[bytes, dict[int, list[str]]]:
    bad = leave_out_bad_rows(source, None)
    out = io.BytesIO()
    write_left_out(out, source.sheet, bad)
    return out.getvalue(), bad


def keys(source: TableSource) -> list[str]:
    return [line.value["key"] for line in source.lines() if line.number]


def test_an_error_names_row_key_and_column(tmp_path: Any) -> None:
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "pairs.csv", delimited(PAIRS, KEYED)))
    assert refused.value.problems == [
        "line 3 (key 'q2'): the cell in column 'response_b' is empty",
        "line 5 (key 'q3') and 7 (key 'q5'): the cell in column 'response_a' is empty",
    ]
    rows = [(f"q{n}", f"Which {n}?", "One.", "") for n in range(3)]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "all.csv", delimited(rows, KEYED)))
    assert refused.value.problems == [
        "line 2 to 4 (keys 'q0' to 'q2'): the cell in column 'response_b' is empty"
    ]


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("arm", "nowhere", "the study has no arm 'nowhere'; it has NoCtxGen-NoCtxEval (column 'arm')"),
        ("context", '[{"x": 1}]', "context: follow-up question 1 has no chosen answer (column 'context')"),
        (
            "gold label",
            '{"x": 1}',
            "gold.x: this study has no such question in this arm (column 'gold label')",
        ),
    ],
)
def test_a_fault_of_the_item_names_its_columns(tmp_path: Any, column: str, cell: str, said: str) -> None:
    rows = [("k1", *ROWS[0][:3], cell), ("k2", *ROWS[1][:3], "")]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "pairs.csv", delimited(rows, (*KEYED, column))), protocol="pairwise")
    assert refused.value.problems[0] == f"line 2 (key 'k1'): {said}"


def test_rows_that_are_left_out_come_back_with_their_reasons(tmp_path: Any) -> None:
    source = opened(write(tmp_path / "pairs.csv", delimited(PAIRS, KEYED)))
    raw, bad = handed_back(source)
    assert sorted(bad) == [3, 5, 7]
    assert keys(source) == ["q1", "q4"]
    assert raw.startswith(b"\xef\xbb\xbf")
    first, second, _ = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    assert first == {
        "left out because": "the cell in column 'response_b' is empty", "row in the file": "3", "id": "q2",
        "prompt": "Which bread?", "response_a": f"'{BULLETS}", "response_b": "",
    }  # fmt: skip
    assert (second["id"], second["row in the file"]) == ("q3", "5")
    # Mended, they are imported as the file would have been.
    mended = (
        raw.decode("utf-8-sig")
        .replace(",\n", ",Rye.\n")
        .replace("tea?,,", "tea?,Sage.,")
        .replace("nut?,,", "nut?,Wal.,")
    )
    again = read(write(tmp_path / "mended.csv", mended.encode()))
    assert [(each["key"], each["responses"][0]["text"]) for each in again.items] == [
        ("q2", BULLETS), ("q3", "Sage."), ("q5", "Wal."),
    ]  # fmt: skip


def test_what_its_item_lacks_without_a_row_is_left_out_too(tmp_path: Any) -> None:
    rows = [
        ("Which soup?", "aspen", "Leek."), ("", "birch", "Pea."),
        ("Which bread?", "aspen", ""), ("", "birch", "Rye."),
        ("Which tea?", "aspen", "Mint."), ("", "birch", "Sage."), ("", "aspen", "Lime."),
    ]  # fmt: skip
    source = opened(
        write(tmp_path / "long.csv", delimited(rows, ("prompt", "model", "response"))), protocol="pairwise"
    )
    assert source.map.per == "response"
    _, bad = handed_back(source)
    # The row without its prompt's row does not become a response to the prompt above.
    assert sorted(bad) == [4, 5, 8]
    items = [line.value for line in source.lines() if line.number]
    assert [[each["text"] for each in item["responses"]] for item in items] == [
        ["Leek.", "Pea."],
        ["Mint.", "Sage."],
    ]


def test_a_response_that_differs_from_the_same_one_before_is_the_later_row_s_fault(tmp_path: Any) -> None:
    rows = [("k1", "Which?", "Leek.", "Pea."), ("k2", "Which?", "Leek.", "Tin.")]
    source = opened(write(tmp_path / "pairs.csv", delimited(rows, KEYED)))
    _, bad = handed_back(source)
    said = "a response with the same key stands at line 2 and differs (columns 'response_a', 'response_b')"
    assert bad == {3: [said]}
    with pytest.raises(Refused, match=r"line 3 \(key 'k2'\): a response with the same key stands at line 2"):
        read(write(tmp_path / "again.csv", delimited(rows, KEYED)))


def test_structures_come_back_whole(tmp_path: Any) -> None:
    talk = [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": "Leek."}]
    columns = {"prompt": ["", "Which soup?"], "response_a": [talk, talk], "response_b": ["Pea.", "Tin."]}
    raw, _ = handed_back(opened(write(tmp_path / "talks.parquet", parquet(columns))))
    [row] = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    assert json.loads(row["response_a"]) == talk


def test_faults_of_no_row_and_of_every_row_are_refused(tmp_path: Any) -> None:
    wrong = opened(write(tmp_path / "x.csv", delimited([(n, 1, 2) for n in range(9)], ("id", "x", "y"))))
    with pytest.raises(Refused, match="no column is the prompt"):
        leave_out_bad_rows(wrong, None)
    empty = opened(write(tmp_path / "y.csv", delimited([("a?", "one", ""), ("b?", "", "two")], HEADER[:3])))
    with pytest.raises(Refused, match="the cell in column 'response_b' is empty"):
        leave_out_bad_rows(empty, None)


@pytest.mark.django_db
def test_the_command_leaves_them_out_where_it_is_told(tmp_path: Any, capsys: Any) -> None:
    path, left_out = write(tmp_path / "pairs.csv", delimited(PAIRS, KEYED)), tmp_path / "left-out.csv"
    with pytest.raises(
        CommandError, match=r"--skip-bad-rows FILE imports the others, and writes these to the file\."
    ):
        call_command("import_study", str(path), slug="soups")
    assert not Study.objects.exists()
    call_command("import_study", str(path), slug="soups", skip_bad_rows=left_out)
    said = capsys.readouterr().out
    assert f"3 rows are left out, with the reasons in {left_out}." in said
    study = Study.objects.get()
    assert sorted(study.items.values_list("key", flat=True)) == ["q1", "q4"]
    assert study.created_by_import.notes["left_out_rows"] == 3
    assert len([*csv.DictReader(io.StringIO(left_out.read_text("utf-8-sig")))]) == 3
    good = write(tmp_path / "good.csv", delimited(ROWS))
    call_command("import_study", str(good), slug="good", skip_bad_rows=tmp_path / "none.csv")
    assert not (tmp_path / "none.csv").exists()
    assert "left out" not in capsys.readouterr().out


@pytest.mark.django_db
def test_no_others_are_offered_where_every_row_is_refused(tmp_path: Any) -> None:
    header = ("id", "prompt", "information_need", "clarifying_question", "response_a", "response_b")
    needs = ["", "", ""]
    told = []
    for needs[2] in ("", "A soup for a child."):
        rows = [
            (f"q{n}", f"Which {n}?", need, "Which soup?", "Leek.", "Pea.") for n, need in enumerate(needs)
        ]
        path = write(tmp_path / "pairs.csv", delimited(rows, header))
        with pytest.raises(CommandError) as refused:
            call_command("import_study", str(path), slug="soups", protocol="answer_pairs")
        told.append(str(refused.value))
    assert ["--skip-bad-rows FILE imports the others" in each for each in told] == [False, True]
    assert "line 2 to 4 (keys 'q0' to 'q2'): " in told[0]


def test_a_line_that_is_no_json_is_a_bad_row(tmp_path: Any) -> None:
    lines = [json.dumps(dict(zip(KEYED, row, strict=True))) for row in PAIRS if "" not in row] * 3
    lines[1:3] = ['{"id": "q7", "prompt": ', "[1]"]
    path = write(tmp_path / "pairs.jsonl", "\n".join(lines).encode())
    with pytest.raises(Refused) as refused:
        read(path)
    assert [each.partition(" (character")[0] for each in refused.value.problems] == [
        "line 2: not JSON: unexpected end of data", "line 3: not a JSON object",
    ]  # fmt: skip
    source = opened(path)
    raw, bad = handed_back(source)
    assert (sorted(bad), keys(source)) == ([2, 3], ["q1", "q4", "q1-2", "q4-2"])
    # They come back as they stand in the file. Mended in their column or in those of the table, they are read again.
    header, first, second = csv.reader(io.StringIO(raw.decode("utf-8-sig")))
    assert [row[2] for row in (header, first, second)] == ["line of the file", lines[1], "[1]"]
    first[2] += '"Which jam?", "response_a": "- Plum.", "response_b": "Quince."}'
    second[3:] = ["q8", "Which pie?", "Apple.", "Cherry."]
    mended = read(write(tmp_path / "mended.csv", delimited([first, second], header)))
    assert [each["key"] for each in mended.items] == ["q7", "q8"]
    assert [each["responses"][0]["text"] for each in mended.items] == ["- Plum.", "Apple."]


def test_a_mended_line_is_opened_as_those_of_the_file_were(tmp_path: Any) -> None:
    """Where the texts lie a level down, and keys have blanks that a column's name has not."""
    lines = [
        json.dumps(
            {"id": f"q{n}", "found  in": "shop", "data": {"id": n, **dict(zip(HEADER, row, strict=True))}}
        )
        for n, row in enumerate(ROWS[:3])
    ]
    broken, lines[1] = lines[1], lines[1][:-9]
    source = opened(write(tmp_path / "pairs.jsonl", "\n".join(lines).encode()))
    raw, bad = handed_back(source)
    assert [*bad] == [2]
    header, row = csv.reader(io.StringIO(raw.decode("utf-8-sig")))
    # Over several lines, as an editor lays it out.
    row[2] = json.dumps(json.loads(broken), indent=2)
    [item] = read(write(tmp_path / "mended.csv", delimited([row], header))).items
    assert (item["key"], item["query"]["text"]) == ("q1", ROWS[1][0])
    assert [each["text"] for each in item["responses"]] == [*ROWS[1][1:3]]
    sheet = opened(tmp_path / "mended.csv").sheet
    assert (sheet.values("data.id"), sheet.values("found in")) == ([1], ["shop"])
