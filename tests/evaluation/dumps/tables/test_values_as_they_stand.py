"""Cells come in as they stand: white space at the ends of texts, JSON's missing numbers, a workbook's values as its
sheet shows them."""

import datetime
import io
import json
from typing import Any

import pytest
from openpyxl import Workbook

from evaluation.dumps.lines import parse_line
from evaluation.dumps.tables.readers.shown_values import shown_value
from evaluation.dumps.tables.reading import read_table
from evaluation.dumps.tables.sheet import ShownNumber, as_text
from tests.evaluation.dumps.tables.files import HEADER, delimited, parquet, read, workbook, write

CODE, OTHER = "    def f(x):\n        return x\n", "def f(x):\n\treturn x\n\n"
COLUMNS = {
    "prompt": ["Write a function "],
    "response_a": [CODE],
    "response_b": [OTHER],
    "topic": [" code "],
}
KINDS = {
    "json": json.dumps([{name: values[0] for name, values in COLUMNS.items()}] * 2).encode(),
    "jsonl": json.dumps({name: values[0] for name, values in COLUMNS.items()}).encode(),
    "csv": delimited([[values[0] for values in COLUMNS.values()]]),
    "xlsx": workbook([HEADER, [values[0] for values in COLUMNS.values()]]),
    "parquet": parquet(COLUMNS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_keep_the_white_space_at_their_ends(kind: str, tmp_path: Any) -> None:
    item = read(write(tmp_path / f"code.{kind}", KINDS[kind])).items[0]
    assert [each["text"] for each in item["responses"]] == [CODE, OTHER]
    assert item["query"]["text"] == "Write a function "
    assert item["query"]["category"] == "code", "what names something has none"


def test_conversations_and_references_keep_it_too(tmp_path: Any) -> None:
    def said(text: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": "Code?\n"}, {"role": "assistant", "content": text}]

    record = {"chosen": said(CODE), "rejected": said(OTHER), "references": [CODE], "document": OTHER}
    item = read(write(tmp_path / "talk.json", json.dumps([record]).encode())).items[0]
    assert [each["text"] for each in item["responses"]] == [CODE, OTHER]
    assert item["query"]["references"] == [CODE]
    assert item["query"]["documents"] == [{"text": OTHER}]


def test_white_space_alone_is_an_empty_cell(tmp_path: Any) -> None:
    rows = [("Which?", "aspen", "Leek \n"), ("Which? ", "birch", "Pea"), (" ", "cedar", "Tin")]
    [item, *more] = read(write(tmp_path / "long.csv", delimited(rows, ("prompt", "model", "response")))).items
    # The prompts of an item's rows may differ at their ends, and the third is the rest of a merged cell.
    assert item["query"]["text"] == "Which?"
    assert [each["text"] for each in item["responses"]] == ["Leek \n", "Pea", "Tin"]
    assert not more


def test_the_blanks_beside_a_markdown_table_s_bars_are_no_text(tmp_path: Any) -> None:
    table = b"| prompt | response a | response b |\n| --- | --- | --- |\n| Which? |  Leek | Pea  |\n"
    assert read(write(tmp_path / "pasted.txt", table)).first == ("Which?", [("A", "Leek"), ("B", "Pea")])


LINES = [
    '{"prompt": "What is 0/0?", "response_a": "Not NaN", "response_b": "nothing", "score": NaN}',
    '{"prompt": "What is 1/0?", "response_a": "it is Infinity", "response_b": "a \\"b\\" NaN", "score": -Infinity}',
]


@pytest.mark.parametrize("name", ["nan.jsonl", "nan.json"])
def test_what_python_writes_for_a_missing_number_is_empty(name: str, tmp_path: Any) -> None:
    raw = "\n".join(LINES) if name.endswith("l") else f"[{', '.join(LINES)}]"
    path = write(tmp_path / name, raw.encode())
    first, second = read(path).items
    assert [each["text"] for each in first["responses"]] == ["Not NaN", "nothing"]
    assert [each["text"] for each in second["responses"]] == ["it is Infinity", 'a "b" NaN']
    assert [row.cells[3] for row in read_table(path).rows] == [None, None]


def test_in_assay_s_own_lines_it_is_named() -> None:
    [problem] = parse_line(b'{"key": "a NaN", "judgments": [{"duration_ms": NaN}]}', 4, 1).problems
    assert problem == "not JSON: it holds NaN (character 48 of the line); a number that is missing is null"


MOMENT = datetime.datetime(2026, 3, 5, 14, 7, 9)
# The value, its format, and what Excel shows.
SHOWN = [
    (12, "0000", "0012"), (0.5, "0%", "50%"), (0.1234, "0.00%", "12.34%"), (1234567.891, "#,##0.00", "1,234,567.89"),
    (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "($1,234.50)"), (5551234, "000\\-0000", "555-1234"),
    (0.1 + 0.2, "General", "0.3"), (3.0, "General", "3"), (-5, "0", "-5"), (-0.001, "0", "0"), (2.5, "0", "3"),
    (12345, "0.00E+00", "1.23E+04"), (0, '0;-0;"none"', "none"), (7, '"No. "0', "No. 7"), (1500000, '0.0,,"M"', "1.5M"),
    (10, "#,##0\\ [$€-407]", "10 €"), (0.5, "#.##", ".5"), (1e-12, "General", "1E-12"), (0.25, "# ?/?", "0.25"),
    (5, '[>3]"big";"small"', "5"), (True, "General", "TRUE"), ("0012", "General", "0012"),
    (MOMENT, "yyyy-mm-dd", "2026-03-05"), (MOMENT, "dd.mm.yyyy;@", "05.03.2026"), (MOMENT, "d-mmm-yy", "5-Mar-26"),
    (MOMENT, "dddd, mmmm d", "Thursday, March 5"), (MOMENT, "h:mm AM/PM", "2:07 PM"), (MOMENT, "hh:mm:ss", "14:07:09"),
    # Shown by each reader's own system, so written so that nobody takes the month for the day.
    (MOMENT, "mm-dd-yy", "2026-03-05"), (MOMENT, "m/d/yy h:mm", "2026-03-05 14:07"),
    (datetime.time(9, 5), "h:mm", "9:05"), (datetime.timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
    (3.5, 'General" kg"', "3.5 kg"), ("a_x000D_\nb", "General", "a\r\nb"), ("_x005F_x000D_", "General", "_x000D_"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "number_format", "shown"), SHOWN)
def test_a_value_as_its_sheet_shows_it(value: Any, number_format: str, shown: str) -> None:
    assert as_text(shown_value(value, number_format)) == shown


def test_a_workbook_is_read_as_its_sheet_shows_it(tmp_path: Any) -> None:
    book = Workbook()
    sheet = book.active
    sheet.append(["id", "prompt", "response_a", "response_b"])
    sheet.append([12, "How much?", 0.125, datetime.datetime(2026, 3, 5)])
    sheet.append([123456789012345680, "Is it so?", True, datetime.time(9, 30)])
    for cell, number_format in (("A2", "0000"), ("C2", "0.0%"), ("D2", "dd/mm/yyyy"), ("D3", "h:mm")):
        sheet[cell].number_format = number_format
    out = io.BytesIO()
    book.save(out)
    path = write(tmp_path / "values.xlsx", out.getvalue())
    found = read(path).items
    assert [each["key"] for each in found] == ["0012", "123456789012346000"]
    texts = [[each["text"] for each in item["responses"]] for item in found]
    assert texts == [["12.5%", "05/03/2026"], ["TRUE", "9:30"]]
    # Scores are still numbers, with all their digits.
    number = read_table(path).rows[0].cells[2]
    assert isinstance(number, ShownNumber)
    assert float(number) == 0.125


def test_responses_that_are_pages_of_html_are_responses(tmp_path: Any) -> None:
    rows = [
        (
            f"Write a page on {n} leeks",
            f"<html><body>Leeks, {n}</body></html>",
            f"<form>{n}<input></form>",
            "<form></form>",
        )
        for n in range(3)
    ]
    found = read(write(tmp_path / "p.csv", delimited(rows, (*HEADER[:3], "form"))))
    assert [str(each.role) for each in found.map.columns] == ["prompt", "response", "response", "ignore"]
    assert found.first[1] == [("A", rows[0][1]), ("B", rows[0][2])]
