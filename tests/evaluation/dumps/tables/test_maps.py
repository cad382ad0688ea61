"""Maps of tables: what a template promises is read, corrections hold, and a map goes with the next file."""

from typing import Any

import pytest

from evaluation.dumps.tables.column_names import ColumnRole, role_of_name
from evaluation.dumps.tables.source import new_arms
from evaluation.dumps.tables.table_map import TableMap, read_map
from evaluation.dumps.tables.template import template_rows, write_template
from evaluation.protocols import PROTOCOLS
from evaluation.refusals import Refused
from evaluation.services.studies.creation import PAPER_ARMS
from tests.evaluation.dumps.tables.files import HEADER, ROWS, delimited, read, write


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("format", ["csv", "xlsx"])
def test_the_template_of_every_protocol_is_read_without_a_correction(
    tmp_path: Any, protocol: str, format: str
) -> None:
    described = PROTOCOLS[protocol]
    arms = new_arms(TableMap(()), described)
    header, example = template_rows(described, arms, ["age", "culture"], ["aspen", "birch"])
    path = write(tmp_path / f"t.{format}", write_template(format, header, example))
    found = read(path, protocol=protocol)
    fewest, most = described.response_counts
    assert fewest <= len(found.items[0]["responses"]) <= max(most, 1)
    assert [each["system"] for each in found.items[0]["responses"]] == ["aspen", "birch"][
        : min(2, max(most, fewest))
    ]
    for need in described.needed_columns:
        assert f"{need.replace('_', ' ')}" in " ".join(found.described)


def test_a_template_of_an_arm_with_context_has_its_column(tmp_path: Any) -> None:
    pairwise = PROTOCOLS["pairwise"]
    header, example = template_rows(pairwise, PAPER_ARMS[2:], [], [])
    found = read(write(tmp_path / "t.csv", write_template("csv", header, example)))
    [item] = found.items
    assert item["arm"] == "CtxGen-CtxEval"
    assert item["context"]["follow_ups"][0] == {
        "question": "For how many people?",
        "answers": ["One", "Two", "Six"],
        "answer": "Two",
    }


@pytest.mark.parametrize(
    ("cell", "follow_ups"),
    [
        ("For how many? Two\nAny nuts? No", [("For how many?", [], "Two"), ("Any nuts?", [], "No")]),
        ("Q: For how many?\nA: Two\nQ2. Any nuts?\nA2. No", [("For how many?", [], "Two"), ("Any nuts?", [], "No")]),
        ("I cook for two.", [("context", [], "I cook for two.")]),
        ('{"For how many?": "Two"}', [("For how many?", [], "Two")]),
        ('[{"question": "For how many?", "answers": ["Two", "Six"], "answer": "Six"}]',
         [("For how many?", ["Two", "Six"], "Six")]),
    ],
)  # fmt: skip
def test_contexts_as_people_write_them(tmp_path: Any, cell: str, follow_ups: Any) -> None:
    rows = [("Which soup?", "Leek, for a start.", "Pea, for a start.", cell)]
    found = read(write(tmp_path / "c.csv", delimited(rows, (*HEADER[:3], "context"))))
    read_ones = found.items[0]["context"]["follow_ups"]
    assert [
        (each["question"], each.get("answers", []), each.get("answer", "")) for each in read_ones
    ] == follow_ups


def test_contexts_of_two_sources_are_two(tmp_path: Any) -> None:
    asked = "For how many? [One | Two]"
    rows = [("Which soup?", asked, source) for source in ("aspen", "birch", "aspen", "")]
    path = write(tmp_path / "c.csv", delimited(rows, ("prompt", "context", "context_source")))
    found = [item["context"] for item in read(path, protocol="context_validation").items]
    assert [(each["key"], each.get("source")) for each in found] == [
        ("c1", "aspen"), ("c2", "birch"), ("c1", "aspen"), ("c3", None),
    ]  # fmt: skip


def test_a_column_names_what_asks_the_question(tmp_path: Any) -> None:
    header = (*HEADER[:3], "information_need", "clarifying_question", "clarifying_source")
    before = ("Which soup?", "For two.", "For six.", "A soup for two.")
    rows = [(*before, "For how many?", "aspen"), (*before, "For whom?", ""), (*before, "", "birch")]
    path = write(tmp_path / "c.csv", delimited(rows, header))
    found = read(path, protocol="pairwise").items
    asked = [(each.get("clarifying_question"), each.get("clarifying_source")) for each in found]
    assert asked == [("For how many?", "aspen"), ("For whom?", None), (None, None)]


def test_answers_to_each_question_on_a_query_are_responses_of_their_own(tmp_path: Any) -> None:
    header = (
        "id",
        "prompt",
        "information_need",
        "clarifying_question",
        "clarifying_source",
        "ant answer",
        "bee answer",
    )
    asked = [("t1", "human", "For how many?"), ("t1", "oak", "With meat?"), ("t1", "elm", "For how many?"),
             ("t1", "human", "For how many?")]  # fmt: skip
    rows = [
        (key, "Which soup?", "A soup for two.", question, source, f"{source} yes.", f"{source} no.")
        for key, source, question in asked
    ]
    found = read(write(tmp_path / "c.csv", delimited(rows, header))).items
    assert {each["query"]["key"] for each in found} == {"t1"}
    assert [[one.get("key", one["system"]) for one in each["responses"]] for each in found] == [
        ["ant", "bee"], ["ant?2", "bee?2"], ["ant?3", "bee?3"], ["ant", "bee"],
    ]  # fmt: skip


def test_a_map_corrects_the_guess_and_is_written_down(tmp_path: Any) -> None:
    rows = [(row[1], row[0], row[2]) for row in ROWS]
    path = write(tmp_path / "odd.csv", delimited(rows, ("prompt", "answer", "output")))
    guessed = read(path)
    corrected = guessed.map.as_json()
    assert guessed.first[0] == ROWS[0][1]
    corrected["columns"] = [
        {"column": "answer", "as": "prompt"},
        {"column": "prompt", "as": "response", "system": "aspen"},
        {"column": "output", "as": "response", "system": "birch"},
    ]
    found = read(path, table_map=read_map(corrected))
    assert found.first == (ROWS[0][0], [("aspen", ROWS[0][1]), ("birch", ROWS[0][2])])
    # The next file of that shape needs none; one of another is told which column it lacks.
    with pytest.raises(
        Refused, match=r"there is no column 'answer' \(prompt\).* Its columns are 'prompt', 'x'"
    ):
        read(
            write(tmp_path / "next.csv", delimited([("a", "b")], ("prompt", "x"))),
            table_map=read_map(corrected),
        )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "'map' is a required property"),
        ({"map": 1, "columns": [{"column": "x", "as": "nonsense"}]}, "'nonsense' is not one of"),
        ([], "is not of type 'object'"),
        (
            {"map": 1, "columns": [], "protocol": "pairwize"},
            "protocol: 'pairwize' is not one of answer_pairs, ",
        ),
    ],
)
def test_what_is_no_map_is_refused(value: Any, said: str) -> None:
    with pytest.raises(Refused) as refused:
        read_map(value)
    assert said in " ".join(refused.value.problems)


def test_empty_responses_count_where_the_map_says_so(tmp_path: Any) -> None:
    path = write(tmp_path / "p.csv", delimited([(*ROWS[0][:2], ""), ROWS[1][:3]], HEADER[:3]))
    with pytest.raises(Refused, match="the cell in column 'response_b' is empty"):
        read(path)
    kept = read_map({**read(write(tmp_path / "q.csv", delimited(ROWS))).map.as_json(), "keep_empty": True,
                     "columns": [{"column": "prompt", "as": "prompt"}, {"column": "response_a", "as": "response"},
                                 {"column": "response_b", "as": "response"}]})  # fmt: skip
    assert [each["text"] for each in read(path, table_map=kept).items[0]["responses"]][1] == ""


@pytest.mark.parametrize(("column", "most"), [("category", 120), ("source", 200), ("context_source", 200)])
def test_names_are_refused_rather_than_cut_off(tmp_path: Any, column: str, most: int) -> None:
    header = (*HEADER[:3], "context", column)
    rows = [(*row[:3], "Q: For how many?\nA: For two.", "x" * (most + at)) for at, row in enumerate(ROWS[:2])]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "p.csv", delimited(rows, header)))
    said = f"the cell in column '{column}' has {most + 1} characters; {most} are the most"
    assert said in str(refused.value)
    # The first row has two cells of two lines.
    assert str(refused.value).startswith("line 5: ")
    kept = read(write(tmp_path / "q.csv", delimited([rows[0]] * 2, header))).items[0]
    of = kept["context"] if column == "context_source" else kept["query"]
    assert of[column.removeprefix("context_")] == "x" * most


def test_three_systems_in_a_study_of_pairs_are_three_items(tmp_path: Any) -> None:
    rows = [(p, a, b, f"Tomato soup number {n}") for n, (p, a, b, _) in enumerate(ROWS[:2])]
    path = write(
        tmp_path / "three.csv", delimited(rows, ("prompt", "response_a", "response_b", "response_c"))
    )
    found = read(path, protocol="pairwise")
    assert [each["key"] for each in found.items[:3]] == ["1-1", "1-2", "1-3"]
    assert len({item["query"]["key"] for item in found.items}) == 2
    assert [[each["system"] for each in item["responses"]] for item in found.items[:3]] == [
        ["A", "B"], ["A", "C"], ["B", "C"],
    ]  # fmt: skip
    assert read(path).protocol == "aspects"


def test_a_second_response_of_a_system_names_both_lines(tmp_path: Any) -> None:
    rows = [
        ("Which soup?", "aspen", "Leek"),
        ("Which soup?", "birch", "Pea"),
        ("Which soup?", "aspen", "Tomato"),
    ]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "long.csv", delimited(rows, ("prompt", "model", "response"))))
    assert refused.value.problems == ["line 4: a second response of 'aspen' to the prompt of line 2"]


@pytest.mark.parametrize(
    ("name", "role", "whose"),
    [
        ("Prompt", ColumnRole.PROMPT, ""),
        ("user_prompt", ColumnRole.PROMPT, ""),
        ("promptText", ColumnRole.PROMPT, ""),
        ("Réponse 1", ColumnRole.RESPONSE, ""),
        ("Antwort von Llama-3", ColumnRole.RESPONSE, "Llama-3"),
        ("output (GPT-4o)", ColumnRole.RESPONSE, "GPT-4o"),
        ("Musterlösung", ColumnRole.REFERENCE, ""),
        ("プロンプト", ColumnRole.PROMPT, ""),
        ("model_a", ColumnRole.SYSTEM, ""),
        ("question_id", ColumnRole.KEY, ""),
    ],
)
def test_names_in_many_languages(name: str, role: ColumnRole, whose: str) -> None:
    found = role_of_name(name)
    assert found is not None
    assert (found.role, found.whose) == (role, whose)
