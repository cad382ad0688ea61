"""Files of other tools: each is known by its form, and comes in with its texts and judgments; a near miss is not."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.dumps.tables.guess import guess_protocol
from evaluation.dumps.tables.header_row import name_columns
from evaluation.dumps.tables.reading import read_bytes
from evaluation.dumps.tables.sheet import Sheet
from evaluation.dumps.tables.source import TableSource
from evaluation.dumps.tables.table_map import ColumnUse
from evaluation.dumps.tables.tools import TOOLS, guess_reading, read_by, tool_of
from evaluation.dumps.tables.turns import read_messages
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import Refused
from tests.evaluation.dumps.tables.files import Read, read, write
from tests.evaluation.dumps.tables.tool_files import (
    BASIL,
    BATCH,
    FILES,
    MINT,
    POTATO,
    POTATO_PAIRS,
    TASKS,
    ToolFile,
    assignment,
    lines,
    potato,
    table,
    talk,
)

every = pytest.mark.parametrize("file", FILES, ids=[each.name for each in FILES])


def sheet_of(raw: bytes, name: str = "some file") -> Sheet:
    """The table as it stands, read here: its name tells nothing."""
    return name_columns(read_bytes(raw), name)


def items_of(raw: bytes, key: str | None = None) -> list[dict[str, Any]]:
    sheet, table_map = guess_reading(sheet_of(raw), key=key)
    source = TableSource(sheet, table_map, PROTOCOLS[table_map.protocol])
    found = [*source.lines()][1:]
    assert [each.problems for each in found if each.problems] == []
    return [each.value for each in found]


def prompt_of(item: dict[str, Any]) -> Any:
    query = item["query"]
    return query["text"] if "text" in query else [(each["role"], each["text"]) for each in query["turns"]]


def texts_of(item: dict[str, Any]) -> dict[str, Any]:
    return {each["system"]: each.get("text", each.get("turns")) for each in item["responses"]}


def test_every_tool_has_a_file() -> None:
    assert {each.tool for each in FILES} == {*TOOLS}


@every
def test_is_known_by_its_form_and_read(file: ToolFile, tmp_path: Path) -> None:
    found = read(write(tmp_path / f"x{Path(file.name).suffix}", file.raw))
    assert (found.map.read_as, found.protocol) == (file.tool, file.protocol)
    assert found.notices[0] == f"Read as {TOOLS[file.tool].label}."
    [first, *_] = found.items
    assert (prompt_of(first), texts_of(first)) == file.first
    assert first["query"].get("category", "") == file.category
    assert [each for each in found.notices if "left out:" in each] == [*file.left_out]


@every
def test_figures(file: ToolFile, tmp_path: Path) -> None:
    assert figures(file, read(write(tmp_path / file.name, file.raw))) == (
        file.rows,
        file.prompts,
        file.items,
        file.responses,
        file.judgments,
    )


def figures(file: ToolFile, found: Read) -> tuple[int, ...]:
    """Rows in; queries, items, responses and judgments out."""
    return (
        len(sheet_of(file.raw).rows),
        len({each["query"]["key"] for each in found.items}),
        len(found.items),
        sum(len(each["responses"]) for each in found.items),
        sum(len(each.get("judgments", ())) for each in found.items),
    )


@every
def test_a_near_miss_is_not_taken_for_it(file: ToolFile) -> None:
    if file.raw.startswith(b"PK"):
        # A log in a ZIP is that of its tool's other file, which has a near miss.
        return
    raw = file.raw.decode()
    for old, new in file.miss.items():
        assert old in raw
        raw = raw.replace(old, new)
    tool = tool_of(sheet_of(raw.encode(), file.name))
    assert tool is None or tool.key != file.tool


@every
def test_no_file_is_told_by_two_tools(file: ToolFile) -> None:
    assert [tool.key for tool in TOOLS.values() if tool.tells(sheet_of(file.raw))] == [file.tool]


@every
def test_nothing_of_it_shows_an_address(file: ToolFile) -> None:
    sheet, table_map = guess_reading(sheet_of(file.raw))
    named = {each.column for each in table_map.columns if each.role not in ("ignore", "rater")}
    cells = [cell for name in named for cell in sheet.values(name)]
    assert cells
    assert "@" not in json.dumps(cells, default=str)


@every
def test_the_map_reads_it_again(file: ToolFile, tmp_path: Path) -> None:
    path = write(tmp_path / file.name, file.raw)
    found = read(path)
    assert read(path, table_map=found.map).items == found.items


@pytest.mark.parametrize("name", ["arena.jsonl", "mturk.csv", "label-studio.json", "helpsteer.jsonl"])
def test_as_a_plain_table_it_holds_no_bookkeeping_either(name: str) -> None:
    raw = next(each.raw for each in FILES if each.name == name)
    _, table_map = guess_reading(sheet_of(raw), key="")
    used = {each.column: str(each.role) for each in table_map.columns if each.role != "ignore"}
    assert {column for column, role in used.items() if role == "prompt"} <= {
        "prompt",
        "Input.prompt",
        "context",
    }
    responses = sorted(column.removeprefix("Input.") for column, role in used.items() if role == "response")
    assert responses in (["answer1", "answer2"], ["response_a", "response_b"], ["response1", "response2"],
                         ["conversation_a", "conversation_b"])  # fmt: skip


def test_a_map_of_another_tool_is_refused() -> None:
    arena, argilla = FILES[0], FILES[-2]
    _, table_map = guess_reading(sheet_of(arena.raw))
    with pytest.raises(Refused, match="some file: the map reads it as a Chatbot Arena file, and it is none"):
        read_by(sheet_of(argilla.raw), table_map)


def test_nothing_left_is_refused_with_the_reasons() -> None:
    raw = lines([json.loads(each) for each in FILES[0].raw.decode().splitlines()][-1:])
    with pytest.raises(Refused, match=r"nothing is left of it\. 1 row left out: a model against itself"):
        guess_reading(sheet_of(raw))


JUNK = (
    None,
    "junk",
    "[",
    5,
    -1.5,
    True,
    [],
    [1],
    [None],
    ["a"],
    {},
    {"a": 1},
    [{}],
    [{"role": 1, "content": {}}],
)


@every
def test_a_row_of_another_form_is_left_out_or_named(file: ToolFile) -> None:
    sheet = sheet_of(file.raw)
    if "data" in sheet.columns or file.tool == "label_studio":
        sheet = replace(sheet, rows=sheet.rows * 2)
    for at, _ in enumerate(sheet.columns):
        for junk in JUNK:
            [first, *rest] = sheet.rows
            odd = replace(first, cells=(*first.cells[:at], junk, *first.cells[at + 1 :]))
            plain, table_map = TOOLS[file.tool].read(replace(sheet, rows=(first, odd, *rest)))
            table_map = replace(table_map, protocol=guess_protocol(table_map, plain))
            source = TableSource(plain, table_map, PROTOCOLS[table_map.protocol])
            # A row is an item, or its problems are said; nothing breaks.
            assert [*source.lines()][1:]


@every
def test_json_that_goes_deep_breaks_nothing(file: ToolFile) -> None:
    deep = f"{'[' * 900}1{']' * 900}"
    texts = (deep, f'[{{"role": "user", "content": {deep}}}]', f'[{{"a": {deep}}}]', "[" * 100_000)
    sheet = sheet_of(file.raw)
    for at, _ in enumerate(sheet.columns):
        for text in texts:
            [first, *_] = sheet.rows
            odd = replace(first, cells=(*first.cells[:at], text, *first.cells[at + 1 :]))
            plain, table_map = TOOLS[file.tool].read(replace(sheet, rows=(*sheet.rows, odd)))
            assert plain.rows
            assert table_map.columns


DOC = (Path(__file__).resolve().parents[4] / "docs" / "formats.md").read_text("utf-8")


def test_the_documentation_has_the_tools_and_what_their_files_come_to() -> None:
    section = DOC.partition("\n### Files of other tools\n")[2].partition("\n### ")[0]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == sorted(TOOLS)
    printed = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()]
    assert [line for line in printed if line[0].endswith((".jsonl", ".json", ".csv", ".eval"))] == [
        [
            file.name,
            *map(str, (file.rows, file.prompts, file.responses, file.judgments)),
            " ".join(file.left_out) or "nothing",
        ]
        for file in FILES
    ]


# --- what each tool's file says, beyond its first item ----------------------------------------------------------------
def of(name: str) -> list[dict[str, Any]]:
    return items_of(next(each.raw for each in FILES if each.name == name))


def test_arena_conversations_of_several_turns_are_compared_as_a_whole() -> None:
    item = of("arena.jsonl")[-1]
    assert prompt_of(item) == [("user", "Name a river"), ("user", "Another")]
    assert texts_of(item) == {"aspen": ["The Oder.", "The Ruhr."], "birch": ["The Elbe.", "The Main."]}


def test_contents_in_parts_are_texts() -> None:
    parts = [{"type": "text", "text": "What is a quark?"}]
    raw = json.loads(FILES[0].raw.decode().splitlines()[0])
    for side in "ab":
        raw[f"conversation_{side}"][0]["content"] = parts
    assert prompt_of(items_of(lines([raw]))[0]) == "What is a quark?"


def test_a_judgment_of_the_first_turn_shows_nothing_of_the_second() -> None:
    for item in of("mt-bench.jsonl"):
        texts = texts_of(item)
        if prompt_of(item) == "Write a post on the sea.":
            assert texts == {"aspen": "aspen writes.", "birch": "birch writes."}
        else:
            assert texts["birch"] == ["birch writes.", "birch again."]


def test_lists_in_json_are_turns() -> None:
    item = of("lmsys.csv")[-1]
    assert prompt_of(item) == [("user", "Name a tree"), ("user", "Another")]
    assert texts_of(item) == {"cedar": ["Oak \ufffd", "Elm"], "birch": ["Ash", ""]}


def test_a_conversation_of_helpsteer_is_a_transcript() -> None:
    assert prompt_of(of("helpsteer.jsonl")[-1]) == [
        ("user", "Sum a list"), ("assistant", "sum(x)"), ("user", "Without sum?")]  # fmt: skip


def test_a_transcript_of_hh_has_its_last_reply_as_the_response() -> None:
    item = of("hh.jsonl")[-1]
    assert prompt_of(item) == [("user", "Hi"), ("assistant", "Hello."), ("user", "Who?")]
    assert texts_of(item) == {"chosen": "A model.", "rejected": "Me."}


def test_a_reference_of_inspect_comes_with_it() -> None:
    assert of("inspect.json")[0]["query"]["references"] == ["The Oder."]


def test_scores_of_a_form_are_of_the_responses_that_it_names() -> None:
    raw = table([
        [*BATCH, "Answer.helpfulness_a", "Answer.helpfulness_b", "Answer.age"],
        [*assignment("3H1", "A1", "Approved", MINT), "4", "2", "34"],
        [*assignment("3H2", "A1", "Approved", BASIL), "5", "1", "34"],
    ])  # fmt: skip
    item = items_of(raw)[0]
    assert item["judgments"][0]["answers"] == {"helpfulness": {"r1": 4, "r2": 2}}


def test_a_form_without_a_judgment_is_its_material_alone() -> None:
    raw = table([
        [*BATCH, "Answer.comment"],
        [*assignment("3H1", "A1", "Approved", MINT), "Nice."],
        [*assignment("3H2", "A1", "Approved", BASIL), "Fine."],
    ])  # fmt: skip
    items = items_of(raw)
    assert [prompt_of(each) for each in items] == [MINT[0], BASIL[0]]
    assert not any("judgments" in each for each in items)


def test_errors_of_mqm_are_a_score_for_each_translation(tmp_path: Path) -> None:
    raw = next(each.raw for each in FILES if each.tool == "wmt_mqm")
    [item] = read(write(tmp_path / "mqm.csv", raw)).items
    # Parts are in the order of the systems: aspen is r1, birch r2.
    scores = {each["rater"]: each["answers"]["score"] for each in item["judgments"]}
    assert scores == {"rater1": {"r1": -5.1, "r2": -1}, "rater2": {"r1": 0, "r2": -25}}


# --- what is no tool's ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "records",
    [
        [{"data": each} for each in TASKS],
        [{"task": {"data": each}, "meta": {"by": "x"}, "n": 3} for each in TASKS],
    ],
)
def test_a_record_one_or_two_levels_down_is_opened(records: Any) -> None:
    items = items_of(json.dumps(records).encode())
    assert prompt_of(items[0]) == "How do I store basil?"
    assert texts_of(items[0]) == {"1": "In a glass of water.", "2": "In the fridge."}


def test_sharegpt_turns_are_a_conversation() -> None:
    said = [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "A river?"},
            {"from": "gpt", "value": "The Oder."}]  # fmt: skip
    [item] = items_of(json.dumps([{"id": "s1", "conversations": said}]).encode())
    assert prompt_of(item) == [("system", "Be brief."), ("user", "A river?")]
    assert [*texts_of(item).values()] == ["The Oder."]


def test_conversations_alone_are_a_table() -> None:
    [item] = items_of(json.dumps([{"messages": talk("A river?", "The Oder.")}]).encode())
    assert (prompt_of(item), [*texts_of(item).values()]) == ("A river?", ["The Oder."])


def test_messages_written_as_json_are_read_where_all_cells_are_such() -> None:
    said = json.dumps(talk("A river?", "The Oder.", "Another?"))
    rows = [{"chat": said, "response_a": "Elbe", "response_b": "Main"}]
    assert prompt_of(items_of(lines(rows))[0])[1] == ("assistant", "The Oder.")
    assert read_messages("[1] A river flows.") is None
    rows.append({"chat": "[sic] what flows here?", "response_a": "Elbe", "response_b": "Main"})
    assert prompt_of(items_of(lines(rows))[0]) == said


BOOKKEEPING = {
    "HITId": "3H1", "tstamp": 1682351591.1322, "time": "2025-01-02T10:00:00Z", "n": 17, "contact": "one@example.org",
    "config": '{"temperature": 0.7, "what is the question?": true}',
    "settings": {"seed": 1, "text": "some words here"},
    "uuid": "8f14e45f-ceea-467f-a8f2-1d3f4e5a6b7c", "page": "https://example.org/a/long/address?id=3",
    "html": "<form><p>Which of the two is better, and why?</p></form>",
    "individual_preference": "the first one, for it is short", "Answer reason": "since it is much shorter",
    "response_time": "00:01:12", "answer_id": "R_3kd93", "prompt_tokens": 81,
    "workerid": "A1B2C3D4E5",
}  # fmt: skip


@pytest.mark.parametrize("column", BOOKKEEPING)
def test_bookkeeping_is_never_guessed_as_material(column: str) -> None:
    rows = [{column: BOOKKEEPING[column], "x": f"Ask me {n}, would you?", "y": f"A text {n} which is long enough",
             "z": f"Another {n} which is long enough"} for n in range(6)]  # fmt: skip
    _, table_map = guess_reading(sheet_of(lines(rows)))
    roles = {each.column: str(each.role) for each in table_map.columns}
    assert roles[column] not in ("prompt", "response", "category", "reference")
    assert (roles["x"], roles["y"], roles["z"]) == ("prompt", "response", "response")


@pytest.mark.parametrize("cells", [("42", "17"), ('{"a": 1}', '{"a": 2}'), ("2025-01-02", "2025-01-03")])
def test_responses_by_their_names_may_be_numbers_or_json(cells: tuple[str, str]) -> None:
    rows = [{"prompt": "Which one?", "response_a": cells[0], "response_b": cells[1]}] * 2
    assert texts_of(items_of(lines(rows))[0]) == {"A": cells[0], "B": cells[1]}


def test_of_potato_s_list_the_part_that_nobody_chose_is_the_prompt() -> None:
    mint, basil = items_of(POTATO)
    said = [each["answers"] for each in mint["judgments"]]
    assert [each["preference"] for each in said] == ["r1", "r2"]
    assert said[0]["justification"] == "It keeps the scent."
    assert [each["duration_ms"] for each in mint["judgments"]] == [81_000, 81_000]
    assert [each["answers"]["preference"] for each in basil["judgments"]] == ["tie"]


def test_potato_s_pairs_without_a_prompt_are_a_form_of_their_own() -> None:
    mint, basil = items_of(POTATO_PAIRS)
    assert texts_of(mint) == {"A": "Hang it.", "B": "Bake it."}
    assert [each["answers"]["preference"] for each in mint["judgments"]] == ["r1", "tie"]
    assert [each["answers"]["preference"] for each in basil["judgments"]] == ["r2"]


def test_a_text_of_potato_that_nothing_divides_is_said_to_be_one() -> None:
    sheet, table_map = guess_reading(
        sheet_of(lines([potato("i1", "n1", "Hang it, or bake it?", better={"A": "1"})]))
    )
    assert sheet.notices[1].startswith(
        "Nothing divides what 'displayed_text' holds into a prompt and responses"
    )
    assert not [each for each in table_map.columns if each.role == "response"]


def test_answers_to_potato_s_schemes_that_nothing_tells_of_wait_for_the_map(tmp_path: Path) -> None:
    texts = (
        "Question: How do I dry mint?<br>Answer: Hang it.",
        "Question: And basil?<br>Answer: In a glass.",
    )
    path = write(
        tmp_path / "annotated.jsonl",
        lines([
            potato(f"i{n}", user, text, good={f"scale_{n + at}": "1"}, seconds={"text_box": "12"})
            for n, text in enumerate(texts, 1) for at, user in enumerate(("ada", "bob"))
        ]),
    )  # fmt: skip
    found = read(path)
    assert not [each for each in found.notices if "left out:" in each]
    assert found.notices[-1].endswith("not used until the map does: 'good', 'seconds (answer)'.")
    uses = [ColumnUse("good", ColumnRole.SCORE), ColumnUse("user_id", ColumnRole.RATER)]
    kept = [each for each in found.map.columns if each.column not in ("good", "user_id")]
    mapped = read(path, table_map=replace(found.map, columns=(*kept, *uses), protocol="custom"))
    said = [[(each["rater"], each["answers"]["good"]) for each in item["judgments"]] for item in mapped.items]
    assert said == [
        [("rater 1", {"r1": 1}), ("rater 2", {"r1": 2})],
        [("rater 1", {"r1": 2}), ("rater 2", {"r1": 3})],
    ]


def test_potato_s_numbered_parts_are_counted_beyond_nine() -> None:
    parts = ["Which herb?", *(f"Herb {n}." for n in range(1, 11))]
    shown = "<br>".join(f"{n}. {each}" for n, each in enumerate(parts))
    [item] = items_of(lines([potato("i1", "n1", shown, note={"text_box": "All are green."})]))
    assert prompt_of(item) == "Which herb?"
    assert [*texts_of(item).values()] == parts[1:]
