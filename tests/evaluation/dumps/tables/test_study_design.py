"""Tables for studies that say themselves what an item has: documents, claims, responses of their systems."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

import evaluation.demo
from evaluation.dumps.imports.draft_items import import_items
from evaluation.dumps.tables.row_notes import row_notes
from evaluation.dumps.tables.source import TableSource, arms_of, open_source
from evaluation.dumps.tables.study_design import design_of
from evaluation.dumps.tables.table_map import read_map
from evaluation.models import Study, StudyMember
from evaluation.refusals import Refused
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_mapped_tables import send, words
from tests.evaluation.dumps.tables.files import delimited, write

pytestmark = pytest.mark.django_db
DEMO = Path(evaluation.demo.__file__).with_name("custom.jsonl")
ARTICLES = [f"The bridge number {n} was opened in 1894 and carried trams for sixty years." for n in range(4)]
SUMMARIES = [
    [f"{word} bridge {n} opened in 1894, with trams on it." for word in ("A", "The", "Some")]
    for n in range(4)
]


@pytest.fixture
def summaries(tmp_path: Any) -> Study:
    """A draft whose items are a document ("News article") and three summaries of alder, birch and cedar."""
    call_command("import_study", str(DEMO), slug="summaries")
    return Study.objects.get(slug="summaries")


def table(tmp_path: Any, header: tuple[str, ...], *more: Any) -> Path:
    rows = [(article, *texts, *more) for article, texts in zip(ARTICLES, SUMMARIES, strict=True)]
    return write(tmp_path / "t.csv", delimited(rows, header))


def brought(study: Study, path: Path, **options: Any) -> Study:
    opened = open_source(
        path, protocol=study.protocol, arms=arms_of(study), design=design_of(study), **options
    )
    assert import_items(opened.source, study) == len(ARTICLES)
    return study


@pytest.mark.parametrize(
    "header", [("Article", "Alder", "birch", "cedar"), ("cedar", "birch", "alder", "news_article")]
)
def test_columns_are_what_the_design_calls_so(
    summaries: Study, tmp_path: Any, header: tuple[str, ...]
) -> None:
    ordered = header if header[0] == "Article" else ("news_article", "cedar", "birch", "alder")
    brought(summaries, table(tmp_path, ordered))
    item = summaries.items.get(key="1")
    assert (item.query.text, item.query.document) == ("", ARTICLES[0])
    found = dict(item.responses.values_list("system__key", "text"))
    named = [name.lower() for name in ordered[1:]]
    assert found == dict(zip(named, SUMMARIES[0], strict=True))


def test_what_is_missing_is_said_once_and_asked_for(summaries: Study, tmp_path: Any, owner: Any) -> None:
    header = ("text", "alder", "birch", "cedar")
    path = table(tmp_path, header)
    columns = [{"column": "alder", "as": "response"}, {"column": "birch", "as": "response"}]
    table_map = read_map({"map": 1, "columns": columns})
    with pytest.raises(Refused) as refused:
        brought(summaries, path, table_map=table_map)
    there = "Its columns are 'text', 'alder', 'birch', 'cedar'."
    assert refused.value.problems == [
        f"lines 2 to 5: no column is the document (News article), which every item of this study needs. {there}",
        f"lines 2 to 5: an item of this study has 3 responses, and 2 columns are responses. {there}",
    ]
    StudyMember.objects.create(study=summaries, user=owner, role="owner")
    client = signed_in(owner)
    where = send(client, reverse("admin:evaluation_study_upload", args=[summaries.slug]), path.read_bytes())
    given = {
        "per": "item",
        "header": "on",
        "as-0": "ignore",
        "as-1": "response",
        "as-2": "response",
        "as-3": "response",
    }
    assert client.post(where, {**given, "show": "1"}).status_code == 302
    assert "no column is the document (News article)" in words(client.get(where))
    assert client.post(where, {**given, "as-0": "document", "show": "1"}).status_code == 302
    shown = words(client.get(where))
    assert "no column is the document" not in shown
    assert "The first items as participants will see them" in shown


def test_claims_belong_to_their_responses(summaries: Study, tmp_path: Any) -> None:
    options = {"form": {"over": "claim"}}
    summaries.questions.create(key="supported", kind="checklist", prompt="Supported?", options=options)
    with pytest.raises(Refused, match="no column is the claims, which a question of this study is about"):
        brought(summaries, table(tmp_path, ("article", "alder", "birch", "cedar")))
    header = ("article", "alder", "birch", "cedar", "alder claims", "claims of birch")
    claims = ('["It opened in 1894.", "It carried trams."]', "It opened.\nTrams used it.")
    item = brought(summaries, table(tmp_path, header, *claims)).items.get(key="1")
    assert dict(item.responses.values_list("system__key", "claims")) == {
        "alder": ["It opened in 1894.", "It carried trams."], "birch": ["It opened.", "Trams used it."], "cedar": [],
    }  # fmt: skip


def test_turns_come_from_conversations_and_are_asked_for(summaries: Study, tmp_path: Any, owner: Any) -> None:
    summaries.needs = {"query": True, "least": 2, "most": 2, "document": ""}
    summaries.save()
    summaries.questions.all().delete()
    summaries.questions.create(
        key="clear", kind="checklist", prompt="Clear?", options={"form": {"over": "turn"}}
    )
    said = [{"role": "user", "content": "Name a tree"}, {"role": "assistant", "content": "Oak."}]
    talks = [[*said, {"role": "user", "content": f"And number {n}?"}] for n in range(4)]
    StudyMember.objects.create(study=summaries, user=owner, role="owner")
    client = signed_in(owner)
    upload = reverse("admin:evaluation_study_upload", args=[summaries.slug])
    rows = [{"said": talk[-1]["content"], "alder": "Elm", "birch": "Ash"} for talk in talks]
    data = {
        "per": "item",
        "header": "on",
        "as-0": "prompt",
        "as-1": "response",
        "as-2": "response",
        "show": "1",
    }
    where = send(client, upload, json.dumps(rows).encode(), "plain.json")
    client.post(where, data)
    assert "has no turns of a conversation" in words(client.get(where))
    rows = [{"said": talk, "alder": "Elm", "birch": "Ash"} for talk in talks]
    brought(summaries, write(tmp_path / "talks.json", json.dumps(rows).encode()))
    item = summaries.items.get(key="2")
    assert [turn["text"] for turn in item.query.turns] == ["Name a tree", "Oak.", "And number 1?"]
    assert dict(item.responses.values_list("system__key", "text")) == {"alder": "Elm", "birch": "Ash"}


def test_where_nothing_is_asked_each_row_is_an_item_of_its_own(summaries: Study, tmp_path: Any) -> None:
    summaries.needs = {"query": False, "least": 3, "most": 3, "document": ""}
    summaries.save()
    rows = write(tmp_path / "t.csv", delimited(SUMMARIES, ("alder", "birch", "cedar")))
    brought(summaries, rows)
    assert [*summaries.items.order_by("key").values_list("query__text", flat=True)] == [""] * 4
    assert summaries.queries.count() == 4
    opened = open_source(
        rows, protocol=summaries.protocol, arms=arms_of(summaries), design=design_of(summaries)
    )
    assert isinstance(opened.source, TableSource)
    assert row_notes(opened.source) == []


def test_a_new_study_needs_what_its_table_has(tmp_path: Any) -> None:
    """With a form of its own it is a draft without questions, whose items fit it."""
    header = ("document", "response_a", "response_b", "response_c")
    call_command("import_study", str(table(tmp_path, header)), slug="own", protocol="custom")
    study = Study.objects.get()
    assert (study.status, study.items.count()) == ("draft", 4)
    assert study.needs == {"query": False, "least": 3, "most": 3, "document": "document"}
