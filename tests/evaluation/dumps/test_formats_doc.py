"""docs/formats.md can't drift from the schemas, the columns and the commands."""

import re
from pathlib import Path

import orjson
import pytest
from django.core.management import load_command_class
from django.db import connection

from evaluation.dumps.exports.answer_table import COLUMNS
from evaluation.dumps.formats import FORMATS
from evaluation.dumps.imports.header import QUESTION_DEFAULTS
from evaluation.dumps.published import RELEASES
from evaluation.dumps.schemas import load_schema, schema_problems
from evaluation.dumps.tables.column_names import ColumnRole
from evaluation.models import Judgment
from evaluation.protocols import QuestionSpec
from evaluation.protocols.requirements.questions import find_question_problems
from tests.evaluation.dumps.build import ARM, header, judgment, read_in, with_judgments, write

DOC = (Path(__file__).resolve().parents[3] / "docs" / "formats.md").read_text("utf-8")


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", DOC, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def table(text: str) -> list[str]:
    """The names in the first column."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_columns():
    assert table(section("XLSX, CSV and Parquet: one row per answer")) == list(COLUMNS)


@pytest.mark.parametrize(
    ("title", "fields"),
    [
        ("The study's line", load_schema("study")["properties"]),
        ("An item's line", load_schema("item")["properties"]),
        ("A judgment", load_schema("item")["$defs"]["judgment"]["properties"]),
    ],
)
def test_fields(title, fields):
    assert sorted(table(section(title))) == sorted(fields)


@pytest.mark.parametrize("name", ["spec", "rules", "system", "rater"])
def test_nested_fields_of_the_study(name):
    described = set(re.findall(r"`(\w+)`", section("The study's line")))
    assert set(load_schema("study")["$defs"][name]["properties"]) - {"format"} <= described


@pytest.mark.parametrize("name", ["query", "context", "response"])
def test_nested_fields_of_an_item(name):
    described = set(re.findall(r"`(\w+)`", section("An item's line")))
    assert set(load_schema("item")["$defs"][name]["properties"]) <= described


def test_enumerations():
    properties = load_schema("item")["$defs"]["judgment"]["properties"]
    for name in ("kind", "source", "outcome"):
        row = re.search(rf"^\| `{name}` \| (.*) \|$", section("A judgment"), re.MULTILINE)
        assert all(value in row[1] for value in properties[name]["enum"])


def test_roles_of_a_table_s_columns():
    roles = load_schema("map")["properties"]["columns"]["items"]["properties"]["as"]["enum"]
    assert sorted(roles) == sorted(ColumnRole)
    assert sorted(table(section("What a column can be"))) == sorted({*roles} - {"ignore"})


def test_releases_and_formats():
    first_cells = re.findall(r"^\| `(\w+)` \|", section("Published releases"), re.MULTILINE)
    assert sorted(first_cells) == sorted(RELEASES)
    assert f"[--format {'|'.join(FORMATS)}]" in DOC


@pytest.mark.parametrize(
    "name",
    [
        "import_study",
        "import_published",
        "import_scores",
        "export",
        "export_settled",
        "derive_resolver",
        "revise",
        "verify",
    ],
)
def test_command_lines(name):
    line = re.search(rf"^manage\.py {name} (.*)$", DOC, re.MULTILINE)[1]
    parser = load_command_class("evaluation", name).create_parser("manage.py", name)
    own = {
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and action.dest not in _common()
    }
    assert own == set(re.findall(r"--[a-z-]+", line))


def _common() -> set[str]:
    from evaluation.management.base import AssayCommand

    class Plain(AssayCommand):
        pass

    return {action.dest for action in Plain().create_parser("manage.py", "plain")._actions}


def test_the_example_of_shares_is_valid():
    (text,) = re.findall(r'^```\n("shares".*?)```', DOC, re.MULTILINE | re.DOTALL)
    spec = {"arms": [ARM], **orjson.loads(f"{{{text}}}")}
    assert schema_problems("study", {"assay": 1, "spec": spec}) == []


@pytest.mark.django_db
def test_the_example_is_valid_and_means_what_is_said(tmp_path):
    examples = (orjson.loads(text) for text in re.findall(r"```json\n(.*?)```", DOC, re.DOTALL))
    table_map, study_line, item_line, question, revision = examples
    assert schema_problems("map", table_map) == []
    assert find_question_problems(QuestionSpec.from_json({**QUESTION_DEFAULTS, **question})) == []
    assert schema_problems("study", study_line) == schema_problems("item", item_line) == []
    assert schema_problems("revision", revision) == []
    study = read_in(write(tmp_path / "example.jsonl", study_line, item_line))
    answers = study.judgments.get().answers
    assert answers.get(question="preference").label == "r1"
    assert study.items.get().stimulus["responses"][0]["text"].startswith("For the two of you")


@pytest.mark.django_db
def test_the_queries_to_copy_give_the_answers(tmp_path):
    said = {"preference": "r2", "justification": "A recipe that works."}
    read_in(write(tmp_path / "soups.jsonl", header(), with_judgments(judgment("ada", answers=said))))
    one, by_rater, reasons = re.findall(
        r"^--.*\n([^;]+);", section("In the database: the view `answers`"), re.MULTILINE
    )
    stored = Judgment.objects.get()
    with connection.cursor() as cursor:
        cursor.execute(one.replace("17", str(stored.pk)))
        assert sorted(cursor.fetchall()) == [
            ("justification", "", None, None, said["justification"]),
            ("preference", "", "r2", None, None),
        ]
        cursor.execute(by_rater)
        assert cursor.fetchall() == [(stored.rater.pseudonym, "r2", 1)]
        cursor.execute(reasons)
        assert cursor.fetchall() == [(stored.pk, said["justification"])]
