"""The refusals of a registry: each names the entry, and what it lacks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from types import ModuleType

import pytest

from evaluation.registry import EntryRefused, Registry, entries_in


@dataclass
class Tool:
    key: str
    label: str = "Hammer"
    weight: int = 0


@pytest.fixture
def tools():
    parts = {"key": "its name", "label": "what it is called", "weight": "what it weighs"}
    return Registry(
        "tool", parts, [Tool("hammer")], check=lambda each: ["a handle"] if each.weight > 9 else []
    )


def test_entries_are_a_mapping_in_the_order_of_their_registration(tools):
    saw = Tool("saw")
    with tools.registered(saw):
        assert (list(tools), len(tools), "saw" in tools, tools["saw"]) == (["hammer", "saw"], 2, True, saw)
    assert list(tools) == ["hammer"]
    assert tools.get("saw") is None


def test_an_unknown_key_is_told_what_there_is(tools):
    with pytest.raises(KeyError, match="no tool 'saw'; there are: hammer"):
        tools["saw"]


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (Tool("saw", label=""), r"The tool 'saw' is incomplete: it lacks label \(what it is called\)\."),
        (
            Tool("saw", label="", weight=None),
            r"lacks label \(what it is called\), weight \(what it weighs\)\.",
        ),
        (Tool(""), r"The tool in Tool is incomplete: it lacks key \(its name\)\."),
        (Tool("saw", weight=10), r"The tool 'saw' is incomplete: it lacks a handle\."),
        (Tool("hammer"), "There are two of the tool 'hammer'"),
    ],
)
def test_an_entry_that_lacks_something_is_refused_by_name(tools, entry, sentence):
    with pytest.raises(EntryRefused, match=sentence):
        tools.register(entry)
    assert list(tools) == ["hammer"]


def test_entries_are_found_at_first_use_and_once_however_many_ask_at_once():
    calls = []

    def find():
        calls.append("found")
        yield Tool("hammer")
        yield Tool("saw")

    tools = Registry("tool", {"key": "its name"}, find)
    assert calls == []
    start = Barrier(8)

    def ask(number):
        start.wait()
        return list(tools)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == [["hammer", "saw"]] * 8
    assert calls == ["found"]


def test_entries_that_cannot_all_be_taken_are_refused_whenever_one_asks():
    tools = Registry("tool", {"key": "its name"}, lambda: [Tool("hammer"), Tool("hammer")])
    for _ in range(2):
        with pytest.raises(EntryRefused, match="There are two of the tool 'hammer'"):
            tools["hammer"]


def test_a_module_without_its_entry_is_named(tmp_path, monkeypatch):
    (tmp_path / "toolbox").mkdir()
    (tmp_path / "toolbox" / "saw.py").write_text("LABEL = 'Saw'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    package = ModuleType("toolbox")
    package.__path__ = [str(tmp_path / "toolbox")]
    monkeypatch.setitem(__import__("sys").modules, "toolbox", package)
    with pytest.raises(EntryRefused, match=r"The module toolbox\.saw has no TOOL\."):
        entries_in(package, "TOOL")
    assert entries_in(package, "LABEL") == ["Saw"]
