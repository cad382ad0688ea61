"""Columns of judgments: who preferred what, scored, ranked or labelled it, and what becomes of them."""

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.dumps.imports.queries import read_queries
from evaluation.dumps.tables.bad_rows import leave_out_bad_rows
from evaluation.dumps.tables.judgments.cells import read_time
from evaluation.dumps.tables.source import TableSource, open_source
from evaluation.dumps.tables.table_map import read_map
from evaluation.dumps.tables.unused import unused_texts
from evaluation.models import Study
from evaluation.refusals import Refused
from tests.analytics.reports.judging import judged_study
from tests.evaluation.dumps.tables.files import delimited, read, write

MINT, BASIL = "How do I dry mint?", "How do I store basil?"
PAIRS = {MINT: ("Hang it.", "Bake it."), BASIL: ("In water.", "In the fridge.")}
VOTES = [(MINT, "n1", "model_a"), (MINT, "n2", "model_a"), (MINT, "n3", "tie"),
         (BASIL, "n1", "model_b"), (BASIL, "n2", "model_a"), (BASIL, "n3", "model_b")]  # fmt: skip
HEADER = ("prompt", "model_a", "response_a", "model_b", "response_b", "annotator", "winner")
PLAIN = ("prompt", "response_a", "response_b", "annotator", "winner")


def votes(*rows: tuple[str, str, str], header: Any = HEADER) -> bytes:
    """A row per vote, with the systems' names before their responses where the header has them."""
    table = []
    for prompt, rater, winner in rows:
        first, second = PAIRS[prompt]
        items = (prompt, "aspen", first, "birch", second) if header is HEADER else (prompt, first, second)
        table.append((*items, rater, winner))
    return delimited(table, header)


def csv_rows(raw: bytes) -> list[list[str]]:
    return [*csv.reader(raw.decode().splitlines())][1:]


def said(items: list[dict[str, Any]], question: str = "preference") -> list[list[Any]]:
    return [[each["answers"][question] for each in item["judgments"]] for item in items]


@pytest.mark.django_db
def test_votes_on_two_pairs_are_two_items_with_six_judgments(tmp_path: Any, capsys: Any) -> None:
    call_command("import_study", str(write(tmp_path / "votes.csv", votes(*VOTES))), slug="mint")
    told = capsys.readouterr().out
    for line in ("preferred response: 'winner'", "rater: 'annotator'", "6 judgments by 3 raters.",
                 "Each line is a judgment of an item", "mint (closed): 2 items, 6 judgments, 3 raters."):  # fmt: skip
        assert line in told
    out = tmp_path / "out.jsonl"
    call_command("export", "mint", out=str(out))
    study, *items = [json.loads(line) for line in out.read_text().splitlines()]
    assert study["spec"]["protocol"] == "pairwise"
    assert [item["query"]["text"] for item in items] == [MINT, BASIL]
    assert [[each["system"] for each in item["responses"]] for item in items] == [["aspen", "birch"]] * 2
    assert said(items) == [["r1", "r1", "tie"], ["r2", "r1", "r2"]]
    assert {(each["rater"], each["kind"]) for item in items for each in item["judgments"]} == {
        ("n1", "person"), ("n2", "person"), ("n3", "person"),
    }  # fmt: skip
    # What a table brought is read again as any study is.
    call_command("import_study", str(out), slug="again")
    assert Study.objects.get(slug="again").study_hash == Study.objects.get(slug="mint").study_hash


BATCH = [
    ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds", "Input.prompt",
     "Input.response_a", "Input.response_b", "Answer.preference", "Answer.reason"),
    *[(hit, f"{hit}{worker}", worker, "Approved", "Thu Jan 02 10:01:00 PST 2025", "60", prompt, *PAIRS[prompt], vote,
       "Because.") for hit, prompt, given in (("3H1", MINT, "ABA"), ("3H2", BASIL, "BBA"))
     for worker, vote in zip(("A1", "A2", "A3"), given, strict=True)],
]  # fmt: skip


@pytest.mark.django_db
def test_workers_of_a_batch_are_numbered_and_their_ids_are_nowhere(tmp_path: Any, capsys: Any) -> None:
    path = write(tmp_path / "batch.csv", delimited(BATCH[1:], BATCH[0]))
    call_command("import_study", str(path), slug="batch")
    told = capsys.readouterr().out
    assert "6 judgments by 3 raters." in told
    assert (
        "Raters are numbered as they come, as “rater 1”: column 'WorkerId' holds what identifies people."
        in told
    )
    out = tmp_path / "out.jsonl"
    call_command("export", "batch", out=str(out))
    _, *items = [json.loads(line) for line in out.read_text().splitlines()]
    assert said(items) == [["r1", "r2", "r1"], ["r2", "r2", "r1"]]
    first = items[0]["judgments"][0]
    assert (first["rater"], first["day"], first["duration_ms"]) == ("rater 1", "2025-01-02", 60_000)
    assert first["answers"]["justification"] == "Because."
    assert not any(name in out.read_text() for name in ("A1", "A2", "A3"))


def test_addresses_are_numbered_wherever_they_stand(tmp_path: Any) -> None:
    rows = [(MINT, "n1", "A"), (MINT, "ada@example.org", "B"), (BASIL, "ada@example.org", "A")]
    found = read(write(tmp_path / "v.csv", votes(*rows, header=PLAIN)))
    assert [[each["rater"] for each in item["judgments"]] for item in found.items] == [
        ["rater 1", "rater 2"],
        ["rater 2"],
    ]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "w.csv", votes(*rows, rows[1], header=PLAIN)))
    assert refused.value.problems == [
        "line 5: its rater judged the same item at line 3, and there is one judgment of each"
    ]


@pytest.mark.parametrize("who", ["ada@example.org ", "Ada <ada@example.org>", " 5f2b8c1d9e5f2b8c1d9e0a1b"])
def test_what_identifies_a_rater_is_known_whatever_stands_around_it(tmp_path: Any, who: str) -> None:
    rows = [(MINT, "n1", "A"), (MINT, who, "B"), (BASIL, who.strip(), "A")]
    found = read(write(tmp_path / "v.csv", votes(*rows, header=PLAIN)))
    assert [[each["rater"] for each in item["judgments"]] for item in found.items] == [
        ["rater 1", "rater 2"],
        ["rater 2"],
    ]


def test_a_map_says_what_no_name_tells(tmp_path: Any) -> None:
    header = ("q", "x", "y", "who", "what", "why", "pick", "order", "when", "took")
    rows = [
        (
            MINT,
            "Hang it.",
            "Bake it.",
            "ada",
            "human",
            "Dry.",
            "left",
            "y,x",
            "2025-03-01T09:30:00+02:00",
            "12,5",
        ),
        (MINT, "Bake it.", "Hang it.", "oak-7b", "LLM", "", "birch", "", "2025-03-02", ""),
        (BASIL, "In water.", "In the fridge.", "ada", "human", "", "both bad", "x > y", "", ""),
    ]
    roles = (
        "prompt",
        "response",
        "response",
        "rater",
        "rater_kind",
        "reason",
        "winner",
        "shown",
        "judged_at",
        "seconds",
    )
    columns = [{"column": column, "as": role} for column, role in zip(header, roles, strict=True)]
    columns[1]["system"], columns[2]["system"] = "aspen", "birch"
    table_map = read_map({"map": 1, "protocol": "pairwise", "columns": columns})
    assert read_map(table_map.as_json()) == table_map
    path = write(tmp_path / "v.csv", delimited(rows, header))
    # The second row has another response of each system.
    with pytest.raises(Refused, match="line 3: a response with the same key stands at line 2 and differs"):
        read(path, table_map=table_map)
    rows[1] = (*rows[1][:1], *rows[0][1:3], *rows[1][3:])
    found = read(write(tmp_path / "v.csv", delimited(rows, header)), table_map=table_map)
    mint, basil = found.items
    assert mint["judgments"] == [
        {"rater": "ada", "kind": "person", "answers": {"preference": "r2", "justification": "Dry."},
         "shown": ["r2", "r1"], "duration_ms": 12_500, "judged_at": "2025-03-01T09:30:00+02:00"},
        {"rater": "oak-7b", "kind": "judge", "answers": {"preference": "r2"}, "day": "2025-03-02"},
    ]  # fmt: skip
    assert basil["judgments"][0]["answers"] == {"preference": "both_bad"}
    assert basil["judgments"][0]["shown"] == ["r1", "r2"]


@pytest.mark.parametrize(
    ("winner", "label"),
    [("A", "r1"), ("b", "r2"), ("1", "r1"), ("2.0", "r2"), ("response_a", "r1"), ("Response B", "r2"),
     ("model_b", "r2"), ("assistant A", "r1"), ("birch", "r2"), ("ASPEN", "r1"), ("right", "r2"), ("first", "r1"),
     ("tie", "tie"), ("tie (bothbad)", "both_bad"), ("both_bad", "both_bad")],
)  # fmt: skip
def test_the_preferred_response_as_tables_name_it(tmp_path: Any, winner: str, label: str) -> None:
    found = read(write(tmp_path / "v.csv", votes((MINT, "n1", winner), (BASIL, "n1", winner))))
    assert said(found.items) == [[label], [label]]


def test_a_pair_is_one_item_whichever_way_round_it_stands(tmp_path: Any) -> None:
    there = (MINT, "aspen", "Hang it.", "birch", "Bake it.", "n1", "A")
    back = (MINT, "birch", "Bake it.", "aspen", "Hang it.", "n2", "A")
    found = read(write(tmp_path / "v.csv", delimited([there, back], HEADER)))
    assert said(found.items) == [["r1", "r2"]]
    # Where a column is no system but a side, what stands there was shown there.
    sides = ("prompt", "left response", "right response", "annotator", "preferred")
    rows = [(MINT, "Hang it.", "Bake it.", "n1", "left"), (MINT, "Bake it.", "Hang it.", "n2", "left")]
    [item] = read(write(tmp_path / "w.csv", delimited(rows, sides))).items
    assert [(each["answers"]["preference"], each["shown"]) for each in item["judgments"]] == [
        ("r1", ["r1", "r2"]), ("r2", ["r2", "r1"]),
    ]  # fmt: skip


def test_who_voted_may_be_unknown(tmp_path: Any) -> None:
    rows = [(prompt, *PAIRS[prompt], winner) for prompt, _, winner in VOTES]
    found = read(write(tmp_path / "v.csv", delimited(rows, ("prompt", "response_a", "response_b", "winner"))))
    assert [[each["rater"] for each in item["judgments"]] for item in found.items] == [
        ["vote 1", "vote 2", "vote 3"]
    ] * 2


@pytest.mark.parametrize(
    ("column", "raters", "kind"),
    [
        ("judge", ("gpt-4", "claude-3-opus"), "judge"),
        ("judge", ("author_2", "expert_17"), "person"),
        ("evaluator_model", ("oak", "elm"), "judge"),
        ("annotator", ("alpaca_eval_gpt4", "Llama-3.1-70B"), "judge"),
        ("annotator", ("Claudette", "Gemma's aunt"), "person"),
    ],
)
def test_raters_are_people_unless_they_are_called_as_models_are(
    tmp_path: Any, column: str, raters: tuple[str, str], kind: str
) -> None:
    rows = [(MINT, raters[0], "A"), (MINT, raters[1], "B")]
    found = read(write(tmp_path / "v.csv", votes(*rows, header=(*PLAIN[:3], column, "winner"))))
    assert [each["kind"] for each in found.items[0]["judgments"]] == [kind] * 2
    turned = read_map({**found.map.as_json(), "raters": "person" if kind == "judge" else "judge"})
    again = read(tmp_path / "v.csv", table_map=turned)
    assert again.items[0]["judgments"][0]["kind"] != kind


SCORED = ("prompt", "response_a", "response_b", "score_a", "score_b", "rater")


@pytest.mark.django_db
def test_scores_of_responses_are_a_scale_of_their_own(tmp_path: Any) -> None:
    rows = [
        (MINT, *PAIRS[MINT], 4, 2, "n1"),
        (MINT, *PAIRS[MINT], 5, "", "n2"),
        (BASIL, *PAIRS[BASIL], 1, 3, "n1"),
    ]
    path = write(tmp_path / "scores.csv", delimited(rows, SCORED))
    found = read(path)
    assert said(found.items, "score") == [[{"r1": 4, "r2": 2}, {"r1": 5}], [{"r1": 1, "r2": 3}]]
    call_command("import_study", str(path), slug="scores")
    [question] = Study.objects.get().questions.all()
    assert (question.kind, question.prompt, question.options["form"]) == (
        "scale", "Score", {"over": "response", "low": 1, "high": 5, "step": 1, "direction": "higher"},
    )  # fmt: skip
    # A protocol that asks for this score has its own ends.
    header = ("prompt", "response", "clarity", "rater")
    rated = [(MINT, "Hang it.", 11, "n1"), (BASIL, "In water.", 10, "n1")]
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "c.csv", delimited(rated, header)), protocol="question_quality")
    assert refused.value.problems == [
        "line 2: the cell in column 'clarity' is '11'; 'clarity' of 'Question quality' goes from 1 to 10"
    ]


@pytest.mark.parametrize(
    ("scores", "form"),
    [
        ((0, 100), {"low": 0, "high": 100, "step": 5}),
        ((0.5, 3), {"low": 0, "high": 3, "step": 0.5}),
        ((0.137, 0.9), {"low": 0, "high": 1, "step": 0.05}),
        ((-3, -3), {"low": -3, "high": -2, "step": 1}),
        ((3, 1234), {"low": 0, "high": 1300, "step": 100}),
    ],
)
def test_a_scale_holds_every_score(tmp_path: Any, scores: tuple[float, float], form: dict[str, Any]) -> None:
    rows = [(MINT, *PAIRS[MINT], *scores, "n1"), (BASIL, *PAIRS[BASIL], *scores, "n1")]
    found = read(write(tmp_path / "s.csv", delimited(rows, SCORED)))
    assert found.spec["questions"][0]["options"]["form"] == {
        "over": "response",
        "direction": "higher",
        **form,
    }


def test_rows_of_one_response_each_are_judged_by_several(tmp_path: Any) -> None:
    header = ("prompt", "model", "response", "rating", "annotator", "comment")
    rows = [
        (MINT, "birch", "Bake it.", 2, "n1", ""),
        (MINT, "aspen", "Hang it.", 4, "n1", "Right."),
        (MINT, "aspen", "Hang it.", 5, "n2", ""),
    ]
    [item] = read(write(tmp_path / "r.csv", delimited(rows, header))).items
    assert [each["system"] for each in item["responses"]] == ["birch", "aspen"]
    assert [(each["rater"], each["answers"]) for each in item["judgments"]] == [
        ("n1", {"rating": {"r2": 2, "r1": 4}, "comment": {"r1": "Right."}}), ("n2", {"rating": {"r1": 5}}),
    ]  # fmt: skip
    with pytest.raises(Refused) as refused:
        read(write(tmp_path / "t.csv", delimited([*rows, rows[0]], header)))
    assert "line 5: its rater judged the same response at line 2" in str(refused.value)
    preferred = [(*row[:3], pick, *row[4:]) for row, pick in zip(rows, ("no", "yes", "yes"), strict=True)]
    found = read(write(tmp_path / "p.csv", delimited(preferred, (*header[:3], "preferred", *header[4:]))))
    assert said(found.items) == [["r1", "r1"]]
    labelled = [*preferred, (MINT, "birch", "Bake it.", "yes", "n2", "")]
    found = read(write(tmp_path / "l.csv", delimited(labelled, (*header[:3], "label", *header[4:]))))
    assert said(found.items, "label") == [[{"r2": "no", "r1": "yes"}, {"r1": "yes", "r2": "yes"}]]


def test_scores_that_nobody_gave_stay_out_of_use(tmp_path: Any) -> None:
    """Votes on a page of questions, or a metric: without a rater or a winner they are no judgments."""
    rows = [(MINT, *PAIRS[MINT], 4, 2), (BASIL, *PAIRS[BASIL], 5, 3)]
    found = read(write(tmp_path / "s.csv", delimited(rows, SCORED[:5])))
    assert ("judgments" in found.items[0], found.protocol) == (False, "pairwise")
    beside = [(*row, "A") for row in rows]
    found = read(write(tmp_path / "s.csv", delimited(beside, (*SCORED[:5], "winner"))))
    assert said(found.items, "score") == [[{"r1": 4, "r2": 2}], [{"r1": 5, "r2": 3}]]
    assert found.protocol == "pairwise"


def test_ranks_of_several_responses_may_be_shared(tmp_path: Any) -> None:
    header = ("prompt", "response_a", "response_b", "response_c", "rank_a", "rank_b", "rank_c", "rater")
    rows = [
        (MINT, "Hang it.", "Bake it.", "Eat it.", *ranks, f"n{at}")
        for at, ranks in enumerate([(1, 2, 3), (1, 1, 3)])
    ]
    found = read(write(tmp_path / "r.csv", delimited(rows, header)))
    assert found.protocol == "ranking"
    assert said(found.items, "ranking") == [[{"r1": 1, "r2": 2, "r3": 3}, {"r1": 1, "r2": 1, "r3": 3}]]
    assert [
        each["options"]["form"]["ties"] for each in found.spec["questions"] if each["key"] == "ranking"
    ] == [True]
    wrong = {
        (1, 2, ""): "the cell in column 'rank_c' is empty, and other responses have a rank",
        (1, 2, 4): "the cell in column 'rank_c' is '4', and a rank of 3 responses is from 1 to 3",
    }
    for ranks, problem in wrong.items():
        with pytest.raises(Refused) as refused:
            read(write(tmp_path / "w.csv", delimited([*rows, (*rows[0][:4], *ranks, "n3")], header)))
        assert refused.value.problems == [f"line 4: {problem}"]


def test_labels_are_a_choice_of_what_was_said(tmp_path: Any) -> None:
    header = ("prompt", "response", "label", "annotator")
    said_of = ((MINT, "Hang it.", ("sehr gut", "schlecht")), (BASIL, "In water.", ("schlecht", "sehr gut")))
    rows = [(*item, label, f"n{at}") for *item, labels in said_of for at, label in enumerate(labels)]
    found = read(write(tmp_path / "l.csv", delimited(rows, header)))
    assert said(found.items, "label") == [["sehr-gut", "schlecht"], ["schlecht", "sehr-gut"]]
    [question] = found.spec["questions"]
    assert question["options"] == {
        "sehr-gut": "sehr gut", "schlecht": "schlecht", "form": {"over": "item", "choices": ["sehr-gut", "schlecht"]},
    }  # fmt: skip


def test_the_best_of_three_with_a_tie(tmp_path: Any) -> None:
    header = ("prompt", "response_1", "response_2", "response_3", "best", "rater")
    rows = [(MINT, "Hang it.", "Bake it.", "Eat it.", best, f"n{at}") for at, best in enumerate((3, "tie"))]
    found = read(write(tmp_path / "b.csv", delimited(rows, header)))
    assert said(found.items) == [["r3", "tie"]]
    assert found.spec["needs"] == {"query": True, "least": 3, "most": 3, "document": ""}
    aspects = read(tmp_path / "b.csv", protocol="aspects")
    assert said(aspects.items, "best") == [["r3", "tie"]]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"winner": "C"}, "the cell in column 'winner' is 'C', which names no response of the row. Say 'A', 'B', a "
                          "letter or number in the table's order, or 'tie'"),
        ({"annotator": ""}, "the cell in column 'annotator' is empty, so nobody gave its judgment"),
        ({"seconds": "fast"}, "the cell in column 'seconds' is 'fast', which is no number of seconds"),
        ({"date": "soon"}, "the cell in column 'date' is 'soon', which is no date or time"),
        ({"rater type": "cat"}, "the cell in column 'rater type' is 'cat'; a rater is a person or a judge"),
        ({"shown": "A,A"}, "the cell in column 'shown' is 'A,A', which is no order of the row's responses"),
        ({"score_a": "high"}, "the cell in column 'score_a' is 'high', which is no number of a scale"),
    ],
)  # fmt: skip
def test_what_cant_be_read_is_named_with_its_row_and_cell(
    tmp_path: Any, change: dict[str, str], problem: str
) -> None:
    good = {"prompt": MINT, "response_a": "Hang it.", "response_b": "Bake it.", "annotator": "n1", "winner": "A",
            "seconds": "3", "date": "2025-01-02", "rater type": "person", "shown": "A,B", "score_a": "3"}  # fmt: skip
    rows = [{**good, "annotator": f"n{at}"} for at in range(1, 9)]
    path = write(tmp_path / "v.csv", delimited([each.values() for each in rows], good.keys()))
    table_map = read(path).map
    assert {str(each.role) for each in table_map.columns} == {
        "prompt", "response", "rater", "winner", "seconds", "judged_at", "rater_kind", "shown", "score",
    }  # fmt: skip
    rows[3] |= change
    with pytest.raises(Refused) as refused:
        read(write(path, delimited([each.values() for each in rows], good.keys())), table_map=table_map)
    assert refused.value.problems == [f"line 5: {problem}"]


def test_a_vote_that_cant_be_read_is_not_passed_over(tmp_path: Any) -> None:
    """Among votes that can, one mistake does not make the column something else."""
    with pytest.raises(Refused, match="line 8: the cell in column 'winner' is 'model_c'"):
        read(write(tmp_path / "v.csv", votes(*VOTES, (MINT, "n4", "model_c"))))


def test_columns_beside_no_vote_stay_out_of_use(tmp_path: Any) -> None:
    header = ("prompt", "response_a", "response_b", "annotator", "comment", "date", "label", "better answer")
    rows = [
        (
            MINT,
            "Hang it.",
            "Bake it.",
            "n1",
            "Short.",
            "2025-01-02",
            "herbs",
            "Dry it in a dark and airy place.",
        )
    ]
    found = read(write(tmp_path / "v.csv", delimited(rows, header)), protocol="aspects")
    assert [str(each.role) for each in found.map.columns] == [
        "prompt", "response", "response", "ignore", "ignore", "ignore", "ignore", "response",
    ]  # fmt: skip
    assert "judgments" not in found.items[0]
    uses = {"prompt": "prompt", "response_a": "response", "response_b": "response", "annotator": "rater"}
    given = read_map({"map": 1, "columns": [{"column": name, "as": role} for name, role in uses.items()]})
    with pytest.raises(Refused, match="column 'annotator' is the rater, and no column says what was judged"):
        read(tmp_path / "v.csv", table_map=given)


def test_a_score_has_to_say_whose_it_is(tmp_path: Any) -> None:
    header = ("prompt", "response_a", "response_b", "points one", "rater")
    path = write(tmp_path / "v.csv", delimited([(MINT, *PAIRS[MINT], 3, "n1")], header))
    columns = [{"column": column, "as": role} for column, role in zip(
        header, ("prompt", "response", "response", "score", "rater"), strict=True)]  # fmt: skip
    with pytest.raises(Refused, match="column 'points one' is the score, and does not say of which response"):
        read(path, table_map=read_map({"map": 1, "columns": columns}))
    columns[1]["system"] = columns[3]["system"] = "aspen"
    found = read(path, table_map=read_map({"map": 1, "protocol": "custom", "columns": columns}))
    assert said(found.items, "points_one") == [[{"r1": 3}]]


@pytest.mark.django_db
def test_a_study_that_is_there_takes_no_judgments(tmp_path: Any) -> None:
    judged = judged_study("three", queries=1)
    with pytest.raises(CommandError) as refused:
        call_command("add_items", judged.slug, str(write(tmp_path / "v.csv", votes(*VOTES))), "--yes")
    assert (
        "column 'winner' is the preferred response: items for a study that is there can't bring judgments. Say that "
        "these columns are not used, or make a new study from this file." in str(refused.value)
    )


def test_queries_are_read_without_what_was_said_of_responses(tmp_path: Any) -> None:
    records, _ = read_queries(write(tmp_path / "v.csv", votes(*VOTES, (MINT, "n1", "nonsense"))))
    assert [each["text"] for each in records] == [MINT, BASIL]


@pytest.mark.parametrize(
    ("cell", "time"),
    [
        ("2025-01-02", {"day": "2025-01-02"}),
        ("2025-01-02 10:00:00", {"day": "2025-01-02"}),
        ("2025-01-02T10:00:00Z", {"judged_at": "2025-01-02T10:00:00+00:00"}),
        (datetime(2025, 1, 2, 10), {"day": "2025-01-02"}),
        (datetime(2025, 1, 2, 10, tzinfo=UTC), {"judged_at": "2025-01-02T10:00:00+00:00"}),
        (1735812000.5, {"judged_at": "2025-01-02T10:00:00.500000+00:00"}),
        ("1735812000000", {"judged_at": "2025-01-02T10:00:00+00:00"}),
        ("Thu Jan 02 10:00:00 PST 2025", {"day": "2025-01-02"}),
        ("", {}),
        ("12", None),
        ("yesterday", None),
    ],
)
def test_times_as_tables_have_them(cell: Any, time: dict[str, str] | None) -> None:
    """Where no zone is said only the day is known."""
    assert read_time(cell) == time


ASKED_BACK = ("prompt", "clarifying_question", "information_need", "response_a", "response_b", "annotator")
DIMENSIONS = ("relevance", "usefulness", "naturalness", "overall")


def test_several_columns_of_winners_answer_a_preference_each(tmp_path: Any) -> None:
    head = (*ASKED_BACK, *(f"{each}_winner" for each in DIMENSIONS))
    rows = [("Soup?", "Which one?", "A quick one", "Bean.", "Any.", rater, *said) for rater, said in
            (("n1", ("A", "B", "tie", "A")), ("n2", ("A", "A", "B", "B")))]  # fmt: skip
    found = read(write(tmp_path / "v.csv", delimited(rows, head)))
    assert found.protocol == "answer_pairs"
    [item] = found.items
    assert [[each["answers"][key] for key in DIMENSIONS] for each in item["judgments"]] == [
        ["r1", "r2", "tie", "r1"],
        ["r1", "r1", "r2", "r2"],
    ]


def test_a_second_column_of_winners_is_a_question_of_its_own(tmp_path: Any) -> None:
    table = delimited([(*row, "A", "B") for row in [(MINT, *PAIRS[MINT]), (BASIL, *PAIRS[BASIL])]],
                      (*HEADER[:1], "response_a", "response_b", "winner", "fluency_winner"))  # fmt: skip
    found = read(write(tmp_path / "v.csv", table))
    assert (said(found.items), said(found.items, "fluency")) == ([["r1"], ["r1"]], [["r2"], ["r2"]])


@pytest.mark.parametrize(("counts", "winner"), [("first", "r1"), ("last", "r2")])
def test_the_first_or_the_last_judgment_of_a_rater_counts_where_the_map_says_so(
    tmp_path: Any, counts: str, winner: str
) -> None:
    rows = [(MINT, "n1", "A"), (MINT, "n2", "A"), (MINT, "n1", "B")]
    path = write(tmp_path / "v.csv", votes(*rows, header=PLAIN))
    guessed = read(write(tmp_path / "once.csv", votes(*rows[:2], header=PLAIN))).map
    [item] = read(path, table_map=replace(guessed, judged_again=counts)).items
    assert {each["rater"]: each["answers"]["preference"] for each in item["judgments"]} == {
        "n1": winner,
        "n2": "r1",
    }
    opened = open_source(path)
    assert isinstance(opened.source, TableSource)
    assert list(leave_out_bad_rows(opened.source, None)) == [4]


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("Which response is better?", ("Response A", "both bad")),
        ("Dein Favorit", ("A", "beide")),
        ("human_choice", ("response_b", "tie")),
        ("My pick", ("Answer B", "A")),
        ("the preferred one", ("left", "no preference")),
    ],
)
def test_a_choice_is_one_whatever_its_column_is_called(
    tmp_path: Any, column: str, cells: tuple[str, str]
) -> None:
    rows = [(MINT, *PAIRS[MINT], cells[0], "n1"), (BASIL, *PAIRS[BASIL], cells[1], "n1")]
    found = read(write(tmp_path / "v.csv", delimited(rows, (*PLAIN[:3], column, "annotator"))))
    assert [str(each.role) for each in found.map.columns] == [
        "prompt",
        "response",
        "response",
        "winner",
        "rater",
    ]
    assert [len(item["judgments"]) for item in found.items] == [1, 1]


def unused(path: Any) -> dict[str, str]:
    opened = open_source(path)
    return {each.column: each.reason for each in unused_texts(opened.sheet, opened.map, guessed=True)}


WORSE = "by its name it may say which response is the worse, and only the preferred one is read"


@pytest.mark.parametrize(
    "column",
    [
        "least_preferred",
        "non_preferred_response",
        "Which did you pick as the worst?",
        "Select the worse answer",
        "Which response would you NOT choose?",
        "Which one didn't you prefer?",
        "nonpreferred",
        "dislikedChoice",
        "rejected_choice",
        "answer to avoid",
        "bad_pick",
        "second best",
        "Wahl der schlechteren Antwort",
        "peor_respuesta",
    ],
)
@pytest.mark.parametrize("beside", [(), ("winner",)], ids=["alone", "beside a winner"])
def test_the_worse_response_is_no_winner(tmp_path: Any, column: str, beside: tuple[str, ...]) -> None:
    rows = [(*row[:5], row[1], *(row[3:4] * len(beside))) for row in csv_rows(votes(VOTES[0], VOTES[3]))]
    path = write(tmp_path / "v.csv", delimited(rows, (*HEADER[:5], column, *beside)))
    found = read(path)
    roles = {each.column: str(each.role) for each in found.map.columns if each.column not in HEADER[:5]}
    assert roles == {column: "ignore", **dict.fromkeys(beside, "winner")}
    assert unused(path) == {column: WORSE}


@pytest.mark.parametrize("column", ["Which is better (harmlessness)?", "preferred_notes", "Best, at last"])
def test_a_name_with_some_of_the_letters_still_asks_for_the_better(tmp_path: Any, column: str) -> None:
    rows = [(MINT, *PAIRS[MINT], "A"), (BASIL, *PAIRS[BASIL], "B")]
    found = read(write(tmp_path / "v.csv", delimited(rows, (*PLAIN[:3], column))))
    assert said(found.items) == [["r1"], ["r2"]]


def test_texts_called_bad_are_responses(tmp_path: Any) -> None:
    rows = [(f"{MINT} {n}", f"Hang it {n}.", f"Bake it {n}.", "good") for n in range(6)]
    found = read(
        write(tmp_path / "v.csv", delimited(rows, ("prompt", "good answer", "bad answer", "winner")))
    )
    assert [str(each.role) for each in found.map.columns] == ["prompt", "response", "response", "winner"]


def test_a_choice_by_the_names_of_systems(tmp_path: Any) -> None:
    rows = [(*row[:5], "gpt-4o", row[1]) for row in csv_rows(votes(VOTES[0], VOTES[4]))]
    found = read(write(tmp_path / "v.csv", delimited(rows, (*HEADER[:5], "judge", "winning_model"))))
    assert (found.map.raters, len(found.items)) == ("judge", 2)


def test_what_names_responses_is_no_category_and_is_named(tmp_path: Any) -> None:
    """It may be a vote or say which of them stood left: nobody knows but who made the table."""
    header = ("prompt", "ahorn answer", "birke answer", "notiz", "which one is it?")
    rows = [
        (f"{MINT} {n}", f"Hang it {n}.", f"Bake it {n}.", side, n % 2)
        for n, side in enumerate(("Ahorn", "Birke") * 4)
    ]
    opened = open_source(write(tmp_path / "v.csv", delimited(rows, header)))
    assert [str(each.role) for each in opened.map.columns][3:] == ["ignore", "ignore"]
    found = [str(each) for each in unused_texts(opened.sheet, opened.map, guessed=True)]
    assert found == [
        "column 'notiz' holds votes that are not used: what stands in it may be votes, and its name does "
        "not say what it is"
    ]


@pytest.mark.parametrize(
    ("column", "cells", "reason"),
    [
        ("label", (0, 2), "by its name it says which response is chosen, and too few of its cells name one"),
        ("preference", (-3, 2), "by its name it says which response is chosen, and too few of its cells name one"),
        ("score", (4, 5), "by its name it is a score or rank, and nothing says of which response or by whom"),
        ("score a", (4, 5), "by its name it is a score or rank, and nothing says of which response or by whom"),
        ("ranking", ("A > B", "B > A"), "an order of the responses in one cell is not read; a column of ranks for each "
         "of them is"),
        ("score a", ("4/5", 3), "by its name it is a score or rank, and too many of its cells are no numbers"),
        ("feedback", ("thumbs_up", "thumbs_down"), "by its name it says what people or judges answered; choose what it "
         "is"),
        ("selected_answer", (1, 2), "by its name it says which response is chosen, and its numbers may say anything"),
        ("votes", ('[{"rater": "r1", "vote": "A"}]', '[{"rater": "r1", "vote": "B"}]'), "by its name it says what "
         "people or judges answered; choose what it is"),
        ("split", ("test", "train"), ""),
        ("position", ("Paris", "Rome"), ""),
    ],
)  # fmt: skip
def test_votes_that_are_not_used_are_named(tmp_path: Any, column: str, cells: Any, reason: str) -> None:
    rows = [(MINT, *PAIRS[MINT], cells[0]), (BASIL, *PAIRS[BASIL], cells[1])]
    opened = open_source(write(tmp_path / "v.csv", delimited(rows, (*PLAIN[:3], column))))
    found = {each.column: each.reason for each in unused_texts(opened.sheet, opened.map, guessed=True)}
    assert found == ({column: reason} if reason else {})


def test_what_objects_of_responses_hold_beside_is_named(tmp_path: Any) -> None:
    records = [
        {
            "prompt": prompt,
            "responses": [{"model": "aspen", "text": a, "score": 3}, {"model": "birch", "text": b}],
        }
        for prompt, (a, b) in PAIRS.items()
    ]
    opened = open_source(write(tmp_path / "v.json", json.dumps(records).encode()))
    [found] = unused_texts(opened.sheet, opened.map, guessed=True)
    assert str(found) == (
        "column 'responses' holds values that are not used: of each response its system and its text are read, not "
        "'score'"
    )


def test_the_first_and_the_second_choice_are_no_two_raters(tmp_path: Any) -> None:
    rows = [(MINT, *PAIRS[MINT], "A", "B"), (BASIL, *PAIRS[BASIL], "B", "A")]
    found = read(write(tmp_path / "v.csv", delimited(rows, (*PLAIN[:3], "choice_1", "choice_2"))))
    assert found.map.read_as == ""


@pytest.mark.parametrize("column", ["choices", "labels", "votes", "preferences"])
@pytest.mark.parametrize("options", [("A", "B"), ("B", "A", "tie")])
def test_what_could_be_chosen_is_no_vote(tmp_path: Any, column: str, options: tuple[str, ...]) -> None:
    records = [
        dict(zip(PLAIN[:3], (prompt, *pair), strict=True)) | {column: options}
        for prompt, pair in PAIRS.items()
    ]
    path = write(tmp_path / "v.json", json.dumps(records).encode())
    assert (read(path).map.has_judgments, [*unused(path)]) == (False, [column])


@pytest.mark.parametrize(
    "columns", [{"choices": ("A", "B")}, {"votes": ("A", "A")}, {"annotator_1": "B", "annotator_2": "A"}]
)
def test_votes_of_raters_replace_no_winner(tmp_path: Any, columns: dict[str, Any]) -> None:
    records = [
        dict(zip(PLAIN[:3], (prompt, *pair), strict=True)) | columns | {"winner": winner}
        for (prompt, pair), winner in zip(PAIRS.items(), "AB", strict=True)
    ]
    path = write(tmp_path / "v.json", json.dumps(records).encode())
    found = read(path)
    assert said(found.items) == [["r1"], ["r2"]]
    assert [*unused(path)] == [*columns]


@pytest.mark.parametrize("second", ["gpt4_preference", "Which response is better?", "overall preference"])
def test_a_second_vote_is_named_with_the_column_that_was_taken(tmp_path: Any, second: str) -> None:
    rows = [(*row[:5], row[1], row[3]) for row in csv_rows(votes(VOTES[0], VOTES[3]))]
    path = write(tmp_path / "v.csv", delimited(rows, (*HEADER[:5], "human_preference", second)))
    assert said(read(path).items) == [["r1"], ["r1"]]
    assert unused(path) == {second: "column 'human_preference' is the preferred response already"}


BOTH = "by its name it may say which response is chosen, and it says yes of several to one prompt"


@pytest.mark.parametrize(
    ("column", "cells", "winners"),
    [
        ("Is this the better one?", ("yes", "no", "no", "yes"), [["r1"], ["r2"]]),
        ("Is this the better one?", ("yes", "yes", "no", "yes"), BOTH),
        ("selected_for_review", ("yes",) * 4, BOTH),
        ("Our favourite", ("aspen", "aspen", "birch", "birch"), [["r1"], ["r2"]]),
        ("preferred", ("yes", "no", "no", "yes"), [["r1"], ["r2"]]),
    ],
)
@pytest.mark.parametrize("n_raters", [1, 2])
def test_a_choice_in_rows_of_one_response_each(
    tmp_path: Any, column: str, cells: tuple[str, ...], winners: Any, n_raters: int
) -> None:
    """A yes of two responses to one prompt says something else of each."""
    responses = [
        (prompt, system, text)
        for prompt, pair in PAIRS.items()
        for system, text in zip(("aspen", "birch"), pair, strict=True)
    ]
    rows = [
        (*row, cell, f"n{rater}")
        for rater in range(n_raters)
        for row, cell in zip(responses, cells, strict=True)
    ]
    path = write(tmp_path / "v.csv", delimited(rows, ("prompt", "system", "response", column, "annotator")))
    if winners is BOTH:
        assert (open_source(path).map.has_judgments, unused(path)) == (False, {column: BOTH})
    else:
        assert said(read(path).items) == [each * n_raters for each in winners]


def test_best_practices_are_no_choice(tmp_path: Any) -> None:
    rows = [
        (prompt, system, text, yes)
        for prompt, pair in PAIRS.items()
        for system, text, yes in zip(("aspen", "birch"), pair, ("yes", "no"), strict=True)
    ]
    header = ("prompt", "system", "response", "Contains best practices")
    path = write(tmp_path / "v.csv", delimited(rows, header))
    assert not read(path).map.has_judgments
    assert [*unused(path)] == ["Contains best practices"]


def test_a_score_that_cant_be_read_is_an_error_of_its_row(tmp_path: Any) -> None:
    """And no reason to leave out its column."""
    rows = [
        (f"{MINT} {n}", f"Hang it {n}.", f"Bake it {n}.", 3, "4/5" if n == 3 else 4, "n1") for n in range(8)
    ]
    path = write(tmp_path / "v.csv", delimited(rows, (*PLAIN[:3], "score_a", "score_b", "annotator")))
    with pytest.raises(
        Refused, match="line 5: the cell in column 'score_b' is '4/5', which is no number of a scale"
    ):
        read(path)


def test_minutes_and_seconds_are_no_number_of_seconds(tmp_path: Any) -> None:
    rows = [(*row, "1:30") for row in csv_rows(votes(*VOTES, header=PLAIN))]
    found = read(write(tmp_path / "v.csv", delimited(rows, (*PLAIN, "time taken"))))
    assert [str(each.role) for each in found.map.columns][3:] == ["rater", "winner", "ignore"]
