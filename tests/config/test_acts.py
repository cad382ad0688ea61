"""The table of acts in docs/api.md: what it names exists, and nothing that changes something is missing."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests import openapi
from tests.config.addresses import ROUTES

ROOT = Path(__file__).resolve().parents[2]
APPS = ("evaluation", "analytics", "annotator", "judging")
COMMANDS = {name for name, app in get_commands().items() if app in APPS}
ROW = re.compile(r"^\| ([^`|]+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
PAGES = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route) for route in ROUTES}


def operations() -> dict[str, str]:
    """The method of each operation, by its id."""
    return {
        each["operationId"]: method
        for methods in openapi.committed()["paths"].values()
        for method, each in methods.items()
    }


OPERATIONS = operations()
KNOWN = {"page": PAGES, "operation": set(OPERATIONS), "command": COMMANDS}


def named() -> dict[str, set[str]]:
    """What the table names, by column."""
    text = (ROOT / "docs" / "api.md").read_text()
    _, _, after = text.partition("<!-- acts: ")
    rows = ROW.findall(after.partition("\n## ")[0])[2:]
    assert len(rows) > 60
    columns = zip(*(cells for _, *cells in rows), strict=True)
    return {
        column: {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
        for column, cells in zip(KNOWN, columns, strict=True)
    }


@pytest.mark.parametrize("column", KNOWN)
def test_what_the_table_names_exists(column: str) -> None:
    unknown = named()[column] - KNOWN[column]
    assert not unknown, f"docs/api.md, The acts: there is no {column} {', '.join(sorted(unknown))}"


def test_each_command_stands_in_a_row() -> None:
    missing = COMMANDS - named()["command"]
    assert not missing, f"docs/api.md, The acts: no row has the command {', '.join(sorted(missing))}"


def test_each_operation_that_changes_something_stands_in_a_row() -> None:
    changing = {name for name, method in OPERATIONS.items() if method != "get"}
    missing = changing - named()["operation"]
    assert not missing, f"docs/api.md, The acts: no row has the operation {', '.join(sorted(missing))}"
