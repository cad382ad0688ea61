"""Drafted sets and settled ones on the lines of a dump, and queries that have no item yet."""

import csv
import io
import json

import orjson
import pyarrow.parquet as pq
import pytest

from evaluation.protocols.entries.sets import write_set
from evaluation.refusals import Refused
from tests.evaluation.dumps.build import content, export_bytes, nothing_left, read_in, write

pytestmark = pytest.mark.django_db
ARM = {"key": "all", "context_at_generation": False, "context_at_judging": False}
HEADER = {"assay": 1, "spec": {"protocol": "condition_calibration", "title": "Seasons", "arms": [ARM]}}
FRAGMENTS = [{"title": f"Title {n}", "snippet": f"Text {n}"} for n in (1, 2)]
NORTH = {"condition": "In the north", "answers": ["June"], "citations": [1]}
SOUTH = {
    "condition": "In the south",
    "citations": [2, {"title": "A book", "text": "So."}],
    "reason": "It says so.",
}
FROM_NOWHERE = {"origins": ["r1.e1"]}
SETTLED = [
    {"condition": "In the north", "answers": ["June"], "citations": [1], "reason": "", "origins": ["r1.e1"]},
    *({"condition": f"Case {n}", "answers": [], "citations": [], "reason": "", "origins": []} for n in range(2, 12)),
    {"condition": "Both", "answers": ["May", "July"], "citations": [1, 2], "reason": "", "origins": ["r1.e1", "r2.e1"]},
]  # fmt: skip


def item(*responses, key="summer", **changes):
    query = {"key": key, "text": "When does summer begin?", "documents": FRAGMENTS}
    return {"key": key, "arm": "all", "query": query, "responses": list(responses), **changes}


def drafted(*entries, system="maple", **changes):
    return {"system": system, "entries": list(entries), **changes}


JUDGED = item(
    drafted(NORTH, SOUTH),
    drafted(SOUTH, system="oak"),
    judgments=[
        {
            "rater": "ada",
            "kind": "person",
            "answers": {"entries": SETTLED, "checks": {"supported": 1, "covers": 0}},
        },
        {"rater": "bo", "kind": "person", "answers": {"checks": {"covers": 1}}},
    ],
)


def judged(path):
    return read_in(write(path / "in.jsonl", HEADER, JUDGED, item(key="open"), item(drafted(), key="empty")))


def test_sets_come_back_equal_and_as_entries(tmp_path):
    study = judged(tmp_path)
    exported = export_bytes(study)
    first = orjson.loads(exported.splitlines()[1])
    assert [each.get("entries") for each in first["responses"]] == [[NORTH, SOUTH], [SOUTH]]
    assert first["judgments"][0]["answers"]["entries"] == SETTLED
    assert orjson.loads(exported.splitlines()[3])["responses"] == [{"system": "maple", "entries": []}]
    (tmp_path / "again.jsonl").write_bytes(exported)
    again = read_in(tmp_path / "again.jsonl", slug="again")
    assert content(again) == content(study)
    assert export_bytes(again).splitlines()[1:] == exported.splitlines()[1:]


def test_a_draft_s_text_is_the_one_spelling_of_its_entries(tmp_path):
    sparse = write(
        tmp_path / "sparse.jsonl",
        HEADER,
        item(drafted({"condition": " In the north ", "answers": ["June", ""]})),
    )
    full = {"condition": "In the north", "answers": ["June"], "citations": [], "reason": ""}
    text = write_set([full | {"origins": []}])
    assert read_in(sparse, slug="sparse").items.get().responses.get().text == text
    as_text = write(tmp_path / "text.jsonl", HEADER, item({"system": "maple", "text": text}))
    study = read_in(as_text, slug="text")
    assert study.items.get().responses.get().text == text
    assert b'"entries":[{"answers":["June"],"condition":"In the north"}]' in export_bytes(study)


def test_another_spelling_is_kept_as_it_is(tmp_path):
    text = json.dumps([NORTH], indent=1)
    study = read_in(write(tmp_path / "in.jsonl", HEADER, item({"system": "maple", "text": text})))
    line = orjson.loads(export_bytes(study).splitlines()[1])
    assert line["responses"] == [{"system": "maple", "text": text}]


def test_an_entry_is_a_row_of_the_table(tmp_path):
    study = judged(tmp_path)
    rows = list(csv.DictReader(io.StringIO(export_bytes(study, "csv").decode())))
    entries = [row for row in rows if row["kind"] == "entries"]
    assert [row["part"] for row in entries] == [f"e{n}" for n in range(1, 13)]
    assert [json.loads(row["text"]) for row in entries] == SETTLED
    assert [row["system"] for row in entries] == ["maple", *[""] * 11]
    table = pq.read_table(io.BytesIO(export_bytes(study, "parquet"))).to_pylist()
    assert [row["text"] for row in table if row["kind"] == "entries"] == [row["text"] for row in entries]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (item(drafted(NORTH, text="[]")), "responses: 'maple' has both text and entries"),
        (item({"system": "maple"}), "responses[0]: 'text' is a required property"),
        (item({"system": "maple", "text": "Summer."}), "responses.r1: this must be a list of entries"),
        (item(drafted(NORTH | {"citations": [3]})), "responses.r1.e1.citations: 3 is not the number of a fragment"),
        (item(drafted(NORTH | {"citations": [0]})), "0 is less than the minimum of 1"),
        (item(drafted(NORTH, {})), "responses.r1.e2: this entry is empty"),
        (item(drafted(NORTH | {"origins": []})), "'origins' was unexpected"),
        (item(drafted(NORTH | {"reason": "x" * 20_000})), "responses: 'maple': entries.e1: this is longer than"),
        (
            item(judgments=[{"rater": "ada", "kind": "person", "answers": {"entries": [NORTH | FROM_NOWHERE]}}]),
            "answers: entries.e1.origins: no drafted entry is called 'r1.e1'",
        ),
        (
            item(judgments=[{"rater": "ada", "kind": "person", "answers": {"entries": {"e1": "x"}}}]),
            "judgments[0]: answers: entries: this must be a list of entries",
        ),
        (item(drafted(NORTH), gold={"entries": {"r1.e2": "edited"}}), "gold.entries: no such part: 'r1.e2'"),
    ],
)  # fmt: skip
def test_sets_that_are_none_are_refused_with_their_place(line, said, tmp_path):
    with pytest.raises(Refused) as refused:
        read_in(write(tmp_path / "bad.jsonl", HEADER, line))
    assert any(problem.startswith("line 2: ") and said in problem for problem in refused.value.problems)
    assert nothing_left()


def test_other_protocols_have_texts(tmp_path):
    plain = {"assay": 1, "spec": {"protocol": "aspects", "title": "Soups", "arms": [ARM]}}
    with pytest.raises(Refused, match="'maple' has entries, and responses of aspects are texts"):
        read_in(write(tmp_path / "bad.jsonl", plain, item(drafted(NORTH))))


# --- queries without items ------------------------------------------------------------------------------------------

ALONE = {"key": "winter", "text": "When does winter begin?", "source": "Almanac", "category": "calendar"}


def test_queries_without_items_stand_on_the_study_s_line(tmp_path):
    study = read_in(write(tmp_path / "in.jsonl", HEADER | {"queries": [ALONE]}, item()))
    assert sorted(study.queries.values_list("key", "source")) == [("summer", ""), ("winter", "Almanac")]
    exported = export_bytes(study)
    [alone] = orjson.loads(exported.splitlines()[0])["queries"]
    assert {name: value for name, value in alone.items() if value} == ALONE
    (tmp_path / "again.jsonl").write_bytes(exported)
    again = read_in(tmp_path / "again.jsonl", slug="again")
    assert export_bytes(again).replace(b'"again"', b'"soups"') == exported


@pytest.mark.parametrize(
    ("queries", "line", "said"),
    [
        ([ALONE, ALONE], 1, "query 'winter' appears twice"),
        ([{"key": "x"}], 1, "queries[0]: 'text' is a required property"),
        ([ALONE | {"key": "summer"}], 2, "a query with the same key stands at line 1 and differs"),
    ],
)
def test_queries_that_clash_are_refused(queries, line, said, tmp_path):
    with pytest.raises(Refused) as refused:
        read_in(write(tmp_path / "bad.jsonl", HEADER | {"queries": queries}, item()))
    assert [f"line {line}: {said}" in problem for problem in refused.value.problems] == [True]
    assert nothing_left()
