"""Said before an import: oddities of rows, each a sentence with its rows, and columns of texts that are not used."""

import json
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.dumps.imports.queries import read_queries
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.source import TableSource, open_source
from evaluation.dumps.tables.table_map import read_map
from evaluation.dumps.tables.unused import unused_texts
from evaluation.models import Study
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, parquet, workbook, write

HEAD = ("id", "prompt", "response_a", "response_b", "category")


def notes(path: Any, **options: Any) -> list[str]:
    source = open_source(path, **options).source
    assert isinstance(source, TableSource)
    return row_notes(source)


def test_rows_without_oddities_get_no_note(tmp_path: Any) -> None:
    assert notes(write(tmp_path / "pairs.csv", delimited(ROWS))) == []


def test_each_oddity_is_one_sentence_with_its_rows(tmp_path: Any) -> None:
    rows = [
        ("q1", "Which soup?", "Leek", "Pea", "Food"),
        ("q1", "Which bread?", "N/A", "Rye", "food "),
        ("q2", "Which soup?", "Leek", "Pea", "Food"),
        ("q3", "Which tea?", "Mint", "Mint\n", "drink"),
        ("q4", "which  soup?", "Tin", "None", "food"),
        ("q5", "Which jam?", "Plum", "Plum", "n/a"),
    ]
    assert notes(write(tmp_path / "pairs.csv", delimited(rows, HEAD))) == [
        "line 3: the text in column 'response_a' is 'N/A'",
        "line 7: the text in column 'response_b' is 'None'",
        "line 3 (key 'q1'): the key comes again, and a number is put behind it",
        "line 3 (key 'q1') and 7 (key 'q4'): the category 'food' differs from 'Food' only by case or white space, and "
        "is another one",
        "line 4 (key 'q2'): the prompt comes again: one query, of which each row is an item",
        "line 5 (key 'q3') and 8 (key 'q5'): two responses are the same text",
        "line 7 (key 'q4'): the prompt differs from one before only by case or white space, and is another query",
    ]


def test_texts_that_a_program_cut(tmp_path: Any) -> None:
    long, face = "x" * 32_767, "\N{SLIGHTLY SMILING FACE}" * 16_383 + "x"
    rows = [
        ("Which soup?", long, "Pea"), ("Which tea?", "Mint", face), ("Which jam?", long + "y", "Fig"),
        ("Which nut?", "Pea", "z" * 255),
    ]  # fmt: skip
    assert notes(write(tmp_path / "pairs.csv", delimited(rows, HEADER[:3]))) == [
        "line 2: the text in column 'response_a' has exactly 32,767 characters, where Excel cuts",
        "line 3: the text in column 'response_b' has exactly 32,767 characters, where Excel cuts",
    ]
    rows = [(f"Which {n}?", "Leek", f"{n}" * 255) for n in range(1, 4)]
    assert notes(write(tmp_path / "old.csv", delimited(rows, HEADER[:3]))) == [
        "line 2 to 4: the text in column 'response_b' has exactly 255 characters, where programs cut, and none has more"
    ]


def test_numbers_that_lost_digits_are_named(tmp_path: Any) -> None:
    said = (
        "the number in column 'id' has more than 15 digits, of which a spreadsheet keeps 15; "
        "format the column as text where it is filled in"
    )
    ids = (1234567890123456789, 123456789012345, 1234567890123456)
    rows = [(n, f"Which {n}?", "Leek", "Pea") for n in ids]
    assert notes(write(tmp_path / "ids.xlsx", workbook([HEAD[:4], *rows]))) == [f"row 2: {said}"]
    columns = dict(zip(HEAD[:4], zip(*rows, strict=True), strict=True))
    exact = write(tmp_path / "ids.parquet", parquet({name: list(each) for name, each in columns.items()}))
    assert notes(exact) == []
    rounded = [("1.23457E+18", *rows[0][1:]), ("12", *rows[1][1:])]
    assert notes(write(tmp_path / "ids.csv", delimited(rounded, HEAD[:4]))) == [
        "line 2: the key in column 'id', '1.23457E+18', is a number that a spreadsheet rounded"
    ]


def test_empty_responses_are_named_where_they_are_no_error(tmp_path: Any) -> None:
    head = ("prompt", "response_a", "response_b", "response_c")
    path = write(
        tmp_path / "three.csv", delimited([("Which?", "Leek", "", "Tin"), ("How?", "So", "Or", "Thus")], head)
    )
    assert notes(path, protocol="aspects") == [
        "line 2: the cell in column 'response_b' is empty, which is no response"
    ]
    kept = {"map": 1, "keep_empty": True, "columns": [{"column": "prompt", "as": "prompt"},
            {"column": "response_a", "as": "response"}, {"column": "response_b", "as": "response"}]}  # fmt: skip
    assert notes(path, protocol="pairwise", table_map=read_map(kept)) == [
        "line 2: the cell in column 'response_b' is empty, which is an empty response"
    ]


# --- columns ---------------------------------------------------------------------------------------------------------

WIDE = (*HEADER[:3], "remarks of ours", "question", "split", "seen at", "hash", "comments")
FURTHER = [
    (f"This one is about {n} cups", f"Is it soup number {n}?", "test", f"2026-03-05 14:{n:02}:00",
     f"73928e03-4c1f-4d2a-9d3e-{n:012}", "We liked the second response better here.")
    for n in range(1, 31)
]  # fmt: skip
WIDE_ROWS = [(*row[:3], *more) for row, more in zip(ROWS, FURTHER, strict=True)]


def test_columns_of_texts_that_are_not_used_have_their_reason(tmp_path: Any) -> None:
    opened = open_source(write(tmp_path / "wide.csv", delimited(WIDE_ROWS, WIDE)))
    assert opened.sheet is not None
    assert opened.map is not None
    found = {each.column: each.reason for each in unused_texts(opened.sheet, opened.map, guessed=True)}
    assert found == {
        "remarks of ours": "neither its name nor its content tells what it is",
        "question": "column 'prompt' is the prompt already",
        "comments": "by its name it is about judgments or the file, and no part of an item",
    }
    of_map = unused_texts(opened.sheet, opened.map, guessed=False)
    assert {each.reason for each in of_map} == {"the map does not use it"}


def test_texts_in_a_script_without_blanks_are_texts(tmp_path: Any) -> None:
    rows = [(*row[:3], "这是关于汤的说明") for row in ROWS]
    opened = open_source(write(tmp_path / "wide.csv", delimited(rows, (*HEADER[:3], "其他"))))
    assert opened.sheet is not None
    assert opened.map is not None
    used = {each["column"] for each in opened.map.as_json()["columns"]}
    found = [each.column for each in unused_texts(opened.sheet, opened.map, guessed=True)]
    assert ("其他" in used) != (found == ["其他"])


SCORES = {"t5": {"flagged": False}, "categories": {"hate": 0.01, "self harm": 0.2}}


@pytest.mark.parametrize("cell", [SCORES, json.dumps(SCORES), [0.2, True], {"labels": ["safe", "safe"]}])
def test_json_without_texts_is_no_column_of_texts(tmp_path: Any, cell: Any) -> None:
    """As the Arena's `toxic_chat_tag`, whose name says category; JSON that holds texts is one."""
    talk = {"answer": {"text": "This one is about as many cups as you like"}}
    rows = [dict(zip(HEADER, row, strict=True)) | {"toxic_chat_tag": cell, "more": talk} for row in ROWS]
    opened = open_source(write(tmp_path / "rows.json", json.dumps(rows).encode()))
    assert opened.sheet is not None
    assert opened.map is not None
    found = [each.column for each in unused_texts(opened.sheet, opened.map, guessed=True)]
    assert not [each for each in found if each.startswith("toxic")]
    assert [each for each in found if each.startswith("more")]


class Terminal:
    def __init__(self, answer: str) -> None:
        self.answer = answer

    def isatty(self) -> bool:
        return True


@pytest.mark.django_db
def test_the_command_prints_them_and_asks_on_a_terminal(tmp_path: Any, capsys: Any, monkeypatch: Any) -> None:
    path = write(tmp_path / "wide.csv", delimited(WIDE_ROWS, WIDE))
    asked: list[str] = []

    def answering(answer: str) -> None:
        def ask(question: str) -> str:
            asked.append(question)
            return answer

        monkeypatch.setattr("sys.stdin", Terminal(answer))
        monkeypatch.setattr("builtins.input", ask)

    answering("")
    call_command("import_study", str(path), slug="soups")
    said = capsys.readouterr().out
    assert (
        "  column 'question' holds texts that are not used: column 'prompt' is the prompt already\n" in said
    )
    assert "Nothing was imported." in said
    assert (asked, Study.objects.count()) == (["Import it without these texts? [y/N] "], 0)
    answering("y")
    call_command("import_study", str(path), slug="soups")
    assert (len(asked), Study.objects.count()) == (2, 1)
    call_command("import_study", str(path), slug="again", yes=True)
    plain = write(tmp_path / "pairs.csv", delimited(ROWS))
    call_command("import_study", str(plain), slug="plain")
    # Scripts have no terminal.
    monkeypatch.setattr(Terminal, "isatty", lambda self: False)
    call_command("import_study", str(path), slug="script")
    assert (len(asked), Study.objects.count()) == (2, 4)


@pytest.mark.django_db
def test_the_command_says_the_notes_before_it_imports(tmp_path: Any, capsys: Any) -> None:
    rows = [("Which soup?", "Leek", "Leek"), ("Which soup?", "N/A", "Leek")]
    path = write(tmp_path / "pairs.csv", delimited([*rows, *(("Which jam?", "Fig", "Plum"),)], HEADER[:3]))
    call_command("import_study", str(path), slug="soups", skip_bad_rows=tmp_path / "out.csv")
    before, _, after = capsys.readouterr().out.partition("Before you import it:\n")
    assert "Imported" not in before
    assert after.splitlines()[0] == "  line 3: the text in column 'response_a' is 'N/A'"
    assert "  line 2: two responses are the same text" in after.splitlines()


def test_queries_alone_are_read_with_their_oddities(tmp_path: Any) -> None:
    rows = [("Which soup?", "food"), ("N/A", "food"), ("which  SOUP?", "Food"), ("Which soup?", "food")]
    _, said = read_queries(write(tmp_path / "queries.csv", delimited(rows, ("prompt", "topic"))))
    assert said[-4:] == [
        "line 3: the text in column 'prompt' is 'N/A'",
        "line 4: the prompt differs from one before only by case or white space, and is another query",
        "line 4: the category 'Food' differs from 'food' only by case or white space, and is another one",
        "line 5: the prompt comes again, and is one query",
    ]
