"""Files as people really have them: each is read, or refused with one sentence that helps."""

import io
import json
import zipfile
from typing import Any

import pytest

from evaluation.refusals import Refused
from tests.evaluation.dumps.tables.files import HEADER, ROWS, arrow, delimited, parquet, read, workbook, write

COLUMNS = {name: [row[at] for row in ROWS] for at, name in enumerate(HEADER)}
RECORDS = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
LINES = "\n".join(json.dumps(each) for each in RECORDS).encode()
GERMAN = ("Frage", "Antwort A", "Antwort B", "Thema")
UMLAUTS = [("Welche Suppe für fünf?", "Grüne Erbsensuppe", "Möhrensuppe; süß", "Küche")] * 2
LONG = [
    (prompt, system, text)
    for prompt in ("Which soup can I make tonight?", "How long do eggs boil?")
    for system, text in (("aspen", f"Aspen of {prompt}"), ("birch", f"Birch of {prompt}"))
]


def conversation(asked: str, answered: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]


PACKED = io.BytesIO()
with zipfile.ZipFile(PACKED, "w") as packed:
    packed.writestr("soups/dataset_info.json", "{}")
    packed.writestr("soups/data-00000-of-00001.arrow", arrow(COLUMNS))


def packed_file(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "<x/>")
    return file.getvalue()


# name: the file, what it is called, the first item's prompt, its systems.
GOOD: dict[str, tuple[bytes, str, str, list[str]]] = {
    "plain": (delimited(ROWS), "pairs.csv", ROWS[0][0], ["A", "B"]),
    "semicolons": (delimited(ROWS, separator=";"), "pairs.csv", ROWS[0][0], ["A", "B"]),
    "byte order mark": (delimited(ROWS, encoding="utf-8-sig"), "pairs.csv", ROWS[0][0], ["A", "B"]),
    "tabs as UTF-16, from Excel": (
        delimited(ROWS, separator="\t", encoding="utf-16"), "pairs.txt", ROWS[0][0], ["A", "B"]),
    "Latin-1 and a German header": (
        delimited(UMLAUTS, GERMAN, ";", "latin-1"), "paare.csv", UMLAUTS[0][0], ["A", "B"]),
    "sep= line": (b"sep=;\n" + delimited(ROWS, separator=";"), "pairs.csv", ROWS[0][0], ["A", "B"]),
    "empty rows and columns": (
        delimited([(), ("", "", "", "", ""), *[(*row, "") for row in ROWS], ("", "", "", "", "")], (*HEADER, "")),
        "pairs.csv", ROWS[0][0], ["A", "B"]),
    "a title above": (b"My pairs of May\n\n" + delimited(ROWS), "pairs.csv", ROWS[0][0], ["A", "B"]),
    "no header": (delimited(ROWS, header=None), "pairs.csv", ROWS[0][0], ["column 2", "column 3"]),
    "old line ends": (delimited(UMLAUTS).replace(b"\r\n", b"\r"), "pairs.csv", UMLAUTS[0][0], ["A", "B"]),
    "a workbook called CSV": (workbook([HEADER, *ROWS]), "pairs.csv", ROWS[0][0], ["A", "B"]),
    "a CSV called XLSX": (delimited(ROWS), "pairs.xlsx", ROWS[0][0], ["A", "B"]),
    "a workbook with a title and an empty sheet before": (
        workbook([("Soups of May",), (), HEADER, *ROWS], ["A1:D1"], ["Notes"]), "pairs.xlsx", ROWS[0][0], ["A", "B"]),
    "merged prompts, a row per response": (
        workbook([("Prompt", "Model", "Response"), *[(p if s == "aspen" else None, s, t) for p, s, t in LONG]],
                 ["A2:A3", "A4:A5"]), "long.xlsx", LONG[0][0], ["aspen", "birch"]),
    "the same as CSV": (
        delimited([(p if s == "aspen" else "", s, t) for p, s, t in LONG], ("Prompt", "Model", "Response")),
        "long.csv", LONG[0][0], ["aspen", "birch"]),
    "JSON": (json.dumps(RECORDS).encode(), "pairs.json", ROWS[0][0], ["A", "B"]),
    "JSON in an object": (
        json.dumps({"version": 1, "data": RECORDS}).encode(), "pairs.json", ROWS[0][0], ["A", "B"]),
    "columns, from pandas": (
        json.dumps({name: dict(enumerate(values)) for name, values in COLUMNS.items()}).encode(),
        "pairs.json", ROWS[0][0], ["A", "B"]),
    "somebody's JSONL": (LINES, "pairs.jsonl", ROWS[0][0], ["A", "B"]),
    "responses in one object": (
        json.dumps([{"query": p, "responses": {"aspen": a, "birch": b}} for p, a, b, _ in ROWS]).encode(),
        "pairs.json", ROWS[0][0], ["aspen", "birch"]),
    "conversations, as preference data": (
        parquet({"chosen": [conversation(row[0], row[1]) for row in ROWS],
                 "rejected": [conversation(row[0], row[2]) for row in ROWS]}),
        "train.parquet", ROWS[0][0], ["chosen", "rejected"]),
    "Windows-1252, as Excel saves it in Germany": (
        delimited([("Welche Suppe für 5 €?", "Grüne „Erbsensuppe“", "Möhren, süß", "Küche")] * 2,
                  GERMAN, ";", "cp1252"),
        "paare.csv", "Welche Suppe für 5 €?", ["A", "B"]),
    "the header merged over columns": (
        workbook([("Prompt", "Response A", "Response B", "Topic", None), *[(*row, None) for row in ROWS]], ["D1:E1"]),
        "pairs.xlsx", ROWS[0][0], ["A", "B"]),
    "two rows of names": (
        workbook([("Prompt", "GPT-4", None, "Llama", None), (None, "Response", "Rating", "Response", "Rating"),
                  *[(p, a, 1, b, 2) for p, a, b, _ in ROWS]], ["B1:C1", "D1:E1"]), "pairs.xlsx",
        ROWS[0][0], ["GPT-4", "Llama"]),
    "two rows of names in German": (
        delimited([("Frage", "Antwort", "Antwort"), *[row[:3] for row in ROWS]], ("", "Modell A", "Modell B")),
        "paare.csv", ROWS[0][0], ["Modell A", "Modell B"]),
    "tabs and a French header": (
        delimited([("Quelle soupe ?", "Une soupe à l'oignon", "Un potage", "cuisine")] * 2,
                  ("Requête", "Réponse A", "Réponse B", "Thème"), "\t"), "soupes.tsv", "Quelle soupe ?", ["A", "B"]),
    "Parquet": (parquet(COLUMNS), "pairs.parquet", ROWS[0][0], ["A", "B"]),
    "a data set's folder, packed": (PACKED.getvalue(), "soups.zip", ROWS[0][0], ["A", "B"]),
    "models as columns": (
        delimited([row[:3] for row in ROWS], ("Question", "GPT-4 answer", "answer of Llama 3")),
        "models.csv", ROWS[0][0], ["GPT-4", "Llama 3"]),
    "columns of systems": (
        delimited([(*row[:3], "aspen", "birch", "model_a") for row in ROWS],
                  (*HEADER[:3], "model_a", "model_b", "winner")), "arena.csv", ROWS[0][0], ["aspen", "birch"]),
    "a pasted Markdown table": (
        b"| prompt | response a | response b |\n| --- | :-: | --- |\n| Which soup? | Leek soup | Pea soup |\n",
        "pasted.txt", "Which soup?", ["A", "B"]),
    "names that say nothing": (
        delimited([(n, row[0], row[1] * 2, row[2] * 2) for n, row in enumerate(ROWS)], ("x", "q", "left", "right")),
        "odd.csv", ROWS[0][0], ["left", "right"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD)
def test_is_read(kind: str, tmp_path: Any) -> None:
    raw, name, prompt, systems = GOOD[kind]
    found = read(write(tmp_path / name, raw))
    assert found.protocol == "pairwise"
    text, responses = found.first
    assert (text, [system for system, _ in responses]) == (prompt, systems)
    assert len({text for _, text in responses}) == 2
    assert all(text.strip() for _, text in responses)
    assert len(found.items) in (1, 2, len(ROWS))
    # Each prompt once, and whatever was guessed of the encoding or left out is said.
    assert len({item["query"]["key"] for item in found.items}) == len(
        {item["query"]["text"] for item in found.items}
    )
    if "Latin" in kind:
        assert any("not UTF-8" in notice for notice in found.notices)
        assert found.items[0]["query"]["category"] == "Küche"


# name: the file, what it is called, what the sentence says.
BAD: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "pairs.csv", "pairs.csv: The file is empty."),
    "a header alone": (delimited([]), "pairs.csv", "the names of columns, and no rows"),
    "prose": (b"Dear all,\n\nhere are the prompts.\n", "pairs.csv", "This is no table: it has one column only."),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "pairs.xls", "Save it as XLSX"),
    "a web page called XLS": (b"<html><table><tr><td>1</td></tr></table>", "pairs.xls", "is a web page or XML"),
    "packed": (b"\x1f\x8b\x08\0", "pairs.csv.gz", "Unpack it first."),
    "a damaged workbook": (workbook([HEADER, *ROWS])[:900], "pairs.xlsx", "damaged or cut off"),
    "a quotation mark never closed": (
        delimited(ROWS).replace(b'5 litres; it simmers."', b"5 litres; it simmers."), "pairs.csv", "quotation mark"),
    "no prompt": (
        delimited([(n, 2, 3) for n in range(30)], ("id", "winner", "score")), "pairs.csv",
        "lines 2 to 31: no column is the prompt, and none is a response. Its columns are 'id', 'winner', 'score'."),
    "one response": (
        delimited([row[:2] for row in ROWS], ("prompt", "answer")), "pairs.csv", "needs 2 responses to each prompt"),
    "one line of another kind": (LINES.replace(b'{"prompt": "Which soup number 3?"', b"{half"), "p.jsonl",
                                 "line 3: not JSON"),
    "a cell is missing": (
        delimited([(p, a, "" if n % 10 == 3 else b, t) for n, (p, a, b, t) in enumerate(ROWS)]), "pairs.csv",
        "the cell in column 'response_b' is empty"),
    "an OpenDocument table": (packed_file("content.xml"), "pairs.ods", "Save its table as XLSX or CSV."),
    "a document": (packed_file("word/document.xml"), "pairs.csv", "Save its table as XLSX or CSV."),
    "a separator too many": (
        b"prompt,response_a,response_b\nOne?,a1 is here,b1 is here\nTwo?,a2, or not,b2 is here\n", "pairs.csv",
        "line 3: has 4 cells, and the header has 3; the first too many is 'b2 is here'."),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_is_refused_with_a_sentence_that_helps(kind: str, tmp_path: Any) -> None:
    raw, name, said = BAD[kind]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / name, raw), protocol="pairwise")
    assert len(refused.value.problems) == 1, refused.value.problems
    assert said in refused.value.problems[0]


def test_missing_cells_are_one_fault_with_its_lines(tmp_path: Any) -> None:
    rows = [(f"Prompt {n}?", "one" if n > 2 else "", "two" if n != 5 else "") for n in range(1, 7)]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "pairs.csv", delimited(rows, HEADER[:3])))
    assert refused.value.problems == [
        "line 2 to 3: the cell in column 'response_a' is empty",
        "line 6: the cell in column 'response_b' is empty",
    ]


def test_a_folder_of_a_data_set_has_splits(tmp_path: Any) -> None:
    for split, n in (("test", 3), ("train", 5)):
        columns = {name: values[:n] for name, values in COLUMNS.items()}
        write(tmp_path / "soups" / split / "data-00000-of-00001.arrow", arrow(columns))
    assert len(read(tmp_path / "soups").items) == 5
    assert len(read(tmp_path / "soups", sheet="test").items) == 3
    with pytest.raises(Refused, match=r"no split 'dev'\. The splits are train, test"):
        read(tmp_path / "soups", sheet="dev")
