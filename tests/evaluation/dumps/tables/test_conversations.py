"""Conversations in tables: their turns are the query's, and the last message is the response."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_study
from tests.evaluation.dumps.tables.files import delimited, parquet, read, write

ASKED = [
    {"role": "user", "content": "Which soup?"},
    {"role": "assistant", "content": "For how many?"},
    {"role": "user", "content": "Two."},
]
TURNS = [{"role": each["role"], "text": each["content"]} for each in ASKED]


def reply(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def as_json(path: Path, records: Any) -> Path:
    return write(path, json.dumps(records).encode())


@pytest.mark.django_db
def test_a_column_of_conversations_becomes_transcripts(tmp_path: Path) -> None:
    path = as_json(
        tmp_path / "talks.json", [{"prompt": ASKED, "response_a": "Leek.", "response_b": "Pea."}] * 2
    )
    call_command("import_study", str(path), slug="talks", protocol="pairwise")
    study = Study.objects.get()
    launch_study(study)
    stimulus = study.items.first().stimulus  # type: ignore[union-attr]
    assert [(turn["role"], turn["text"]) for turn in stimulus["query"]["turns"]] == [
        (turn["role"], turn["text"]) for turn in TURNS
    ]


def test_what_was_said_before_the_responses_is_the_query(tmp_path: Path) -> None:
    columns = {"chosen": [[*ASKED, reply("Leek.")]], "rejected": [[*ASKED, reply("Pea.")]]}
    found = read(write(tmp_path / "train.parquet", parquet(columns)))
    [item] = found.items
    assert item["query"]["turns"] == TURNS
    assert [each["text"] for each in item["responses"]] == ["Leek.", "Pea."]


def test_conversations_that_part_earlier_are_refused(tmp_path: Path) -> None:
    other = [*ASKED[:1], reply("Any nuts?"), *ASKED[2:]]
    path = as_json(
        tmp_path / "t.json", [{"chosen": [*ASKED, reply("Leek.")], "rejected": [*other, reply("Pea.")]}] * 2
    )
    with pytest.raises(Refused, match="'chosen', 'rejected' differ before their last message"):
        read(path)


def test_one_message_is_a_text(tmp_path: Path) -> None:
    path = as_json(
        tmp_path / "t.json", [{"prompt": ASKED[:1], "response_a": "Leek.", "response_b": "Pea."}] * 2
    )
    assert read(path).items[0]["query"]["text"] == "Which soup?"


@pytest.mark.parametrize("name", ["conversation", "history", "text"])
@pytest.mark.parametrize("write_cell", [json.dumps, repr], ids=["JSON", "as Python writes it"])
def test_what_ends_with_the_persons_turn_is_the_prompt_whatever_it_is_called(
    tmp_path: Path, name: str, write_cell: Any
) -> None:
    rows = [(write_cell(ASKED), "Leek.", "Pea.")] * 3
    found = read(write(tmp_path / "t.csv", delimited(rows, (name, "response_a", "response_b"))))
    assert found.items[0]["query"]["turns"] == TURNS
    assert [each["text"] for each in found.items[0]["responses"]] == ["Leek.", "Pea."]


@pytest.mark.parametrize(
    "prompt", ["[{'a': 1}, and so on: what is it?", "[{'a': {[1]: 2}}]", "[{'a': {{}: 2}}]"]
)
def test_what_only_begins_as_a_list_of_python_is_a_text(tmp_path: Path, prompt: str) -> None:
    rows = [(prompt, "A list.", "Code.")] * 3
    found = read(write(tmp_path / "t.csv", delimited(rows, ("prompt", "response_a", "response_b"))))
    assert found.items[0]["query"]["text"] == rows[0][0]
