"""docs/protocols: a page per protocol whose questions, items and place in the README are the project's."""

import json
import re
from pathlib import Path

import pytest

from evaluation.protocols import PROTOCOLS

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "evaluation" / "demo"


def page_of(key):
    return (ROOT / "docs" / "protocols" / f"{key}.md").read_text("utf-8")


def examples(page):
    """(the demo's file, the item as the page shows it), of every example."""
    return [
        (file, json.loads(block))
        for file, block in re.findall(r"<!-- demo: (\S+) -->\n```json\n(.*?)\n```", page, re.DOTALL)
    ]


def shown_of(shown, item):
    """True if all that is shown is in the item, lists in their order; a page may cut an item short."""
    if isinstance(shown, dict):
        return isinstance(item, dict) and all(
            key in item and shown_of(each, item[key]) for key, each in shown.items()
        )
    if isinstance(shown, list):
        left = iter(item)
        return all(any(shown_of(each, other) for other in left) for each in shown)
    return shown == item


@pytest.mark.parametrize("key", PROTOCOLS)
def test_a_page_names_the_questions_and_their_kinds(key):
    rows = re.findall(r"^\| `(\w+)` \| (\w+)", page_of(key).partition("## An item")[0], re.MULTILINE)
    assert rows == [(question.key, str(question.kind)) for question in PROTOCOLS[key].default_questions()]


@pytest.mark.parametrize("key", PROTOCOLS)
def test_a_page_shows_an_item_of_the_demo(key):
    found = examples(page_of(key))
    assert found
    for file, shown in found:
        lines = [json.loads(line) for line in (DEMO / file).read_text("utf-8").splitlines()]
        assert lines[0]["spec"]["protocol"] == key
        (item,) = (line for line in lines[1:] if line["key"] == shown["key"])
        assert shown_of(shown, item)


@pytest.mark.parametrize("page", ["README.md", "docs/protocols/README.md"])
def test_every_protocol_is_on_the_map(page):
    text = (ROOT / page).read_text("utf-8")
    for key in PROTOCOLS:
        assert f"{key}.md)" in text


def test_every_page_is_of_a_protocol():
    assert {path.stem for path in (ROOT / "docs" / "protocols").glob("*.md")} == {*PROTOCOLS, "README"}
