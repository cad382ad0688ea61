"""Columns that say which items are training or checks, and what is right there."""

import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_problems
from tests.analytics.reports.judging import judged_study
from tests.evaluation.dumps.tables.files import ROWS, delimited, read, write

HEADER = ("prompt", "zebra answer", "ant answer", "role", "gold", "gold note")
TABLE = [
    (ROWS[0][0], "Leek soup", "A bicycle", "Training", "zebra", "A bicycle is no soup."),
    (ROWS[1][0], "A lamp", "Pea soup", "attention_check", "ant | tie", ""),
    (ROWS[2][0], "Leek soup", "Pea soup", "", "", ""),
]


@pytest.mark.django_db
def test_training_and_checks_come_with_what_is_right(tmp_path: Any, capsys: Any) -> None:
    path = write(tmp_path / "soups.csv", delimited(TABLE, HEADER))
    call_command("import_study", str(path), slug="soups", protocol="pairwise")
    said = capsys.readouterr().out
    assert "role (training, attention): 'role'" in said
    assert "gold answer: 'gold'" in said
    study = Study.objects.get()
    items = {item.role: item for item in study.items.all()}
    # Ant comes before zebra, whichever column is the first.
    assert items["training"].gold == {"preference": ["r2"], "note": "A bicycle is no soup."}
    assert items["attention"].gold == {"preference": ["r1", "tie"]}
    assert items["main"].gold is None
    assert launch_problems(study) == []


@pytest.mark.parametrize("right", ["B", "2", "response b", "ant", "ANT answer"])
def test_the_right_response_is_named_as_the_table_names_it(right: str, tmp_path: Any) -> None:
    table = [(*row[:4], right if row[3] else "", "") for row in TABLE]
    found = read(write(tmp_path / "soups.csv", delimited(table, HEADER)), protocol="pairwise")
    assert [item.get("gold") for item in found.items] == [{"preference": ["r1"]}] * 2 + [None]


@pytest.mark.django_db
@pytest.mark.parametrize("right", ["tie (bothbad)", "both_bad", "Both bad"])
def test_both_may_be_bad(right: str, tmp_path: Any) -> None:
    """The draft offers it then; a study that does not refuses its lines."""
    header = ("prompt", "zebra answer", "ant answer", "role", "gold")
    path = write(
        tmp_path / "soups.csv", delimited([(*row[:4], right if row[3] else "") for row in TABLE], header)
    )
    call_command("import_study", str(path), slug="soups", protocol="pairwise")
    study = Study.objects.get()
    assert study.items.get(role="training").gold == {"preference": ["both_bad"]}
    assert study.questions.get(key="preference").options == {"tie": "Tie", "form": {"both_bad": True}}
    assert launch_problems(study) == []
    judged = judged_study("three", queries=1)
    wrong = re.escape("line 2 to 3: gold.preference: 'both_bad' is not one of r1, r2, tie")
    with pytest.raises(CommandError, match=wrong):
        call_command("add_items", judged.slug, str(path), "--yes")


def test_a_winner_column_can_be_the_gold(tmp_path: Any) -> None:
    """As the Chatbot Arena names its models: by their columns."""
    header = ("prompt", "model_a answer", "model_b answer", "role", "gold label")
    table = [(*TABLE[0][:4], "model_b"), (*TABLE[1][:4], "model_a"), (*TABLE[2][:4], "")]
    found = read(write(tmp_path / "soups.csv", delimited(table, header)), protocol="pairwise")
    assert [item.get("gold") for item in found.items][:2] == [{"preference": ["r2"]}, {"preference": ["r1"]}]


def test_gold_that_is_a_text_is_a_reference_as_before(tmp_path: Any) -> None:
    table = [(*row[:3], "", "Leek soup, of course", "") for row in TABLE]
    found = read(write(tmp_path / "soups.csv", delimited(table, HEADER)), protocol="pairwise")
    assert found.items[0]["query"]["references"] == ["Leek soup, of course"]
    assert "gold" not in found.items[0]


def test_other_protocols_take_gold_as_json(tmp_path: Any) -> None:
    header = ("prompt", "response", "role", "gold label")
    gold = '{"clarity": {"r1": [2, 3]}}'
    table = [(ROWS[0][0], "Leek soup", "training", gold), (ROWS[1][0], "Pea soup", "", "")]
    found = read(write(tmp_path / "soups.csv", delimited(table, header)), protocol="question_quality")
    assert found.items[0]["gold"] == {"clarity": {"r1": [2, 3]}}
    table[0] = (*table[0][:3], "true")
    with pytest.raises(Refused, match="'gold label' is 'true'; gold of 'Question quality' has to be JSON"):
        read(write(tmp_path / "soups.csv", delimited(table, header)), protocol="question_quality")


def test_words_that_mean_nothing_are_refused_with_their_line(tmp_path: Any) -> None:
    table = [*TABLE[:2], (*TABLE[2][:3], "", "birch", "")]
    with pytest.raises(Refused) as refused:
        read(
            write(tmp_path / "soups.csv", delimited(table, (*HEADER[:4], "gold label", "note"))),
            protocol="pairwise",
        )
    assert refused.value.problems == [
        "line 4: the cell in column 'gold label' is 'birch', which names no response of the item. Say 'zebra', 'ant' "
        "or 'tie'"
    ]
