"""How an item was shown, as a browser says it: numbers and known words alone."""

import json

import pytest

from evaluation.forms.input.screen_record import read_screen

PARTS = ["r1", "r2"]


def read(**found: object) -> dict[str, object]:
    return read_screen(json.dumps(found), PARTS, 60_000)


def test_what_is_well_formed_is_kept_and_no_time_is_longer_than_the_item_s() -> None:
    record = read(layout="tabs", docked=True, first="r2", in_view={"r1": 1200, "r2": 10**9})
    assert record == {"layout": "tabs", "docked": True, "first": "r2", "in_view": {"r1": 1200, "r2": 60_000}}


def test_a_page_that_was_translated_and_its_browser_s_code_are_kept() -> None:
    assert read(translated=True, browser="k3j9x0a") == {"translated": True, "browser": "k3j9x0a"}


def test_a_page_without_scripts_has_a_layout_of_its_own() -> None:
    assert read_screen("", PARTS, 60_000) == {"layout": "plain"}


@pytest.mark.parametrize(
    "found",
    [
        {"layout": "sideways", "docked": "yes", "first": "r9", "in_view": {"r9": 5, "r1": -1, "r2": "5"}},
        {"layout": ["tabs"], "docked": 1, "first": {}, "in_view": [1, 2]},
        {"translated": "yes", "browser": "A code of its own"},
        {"translated": False, "browser": ["a1"]},
        {"in_view": {"r1": True, "r2": 1.5}, "more": "x" * 50},
    ],
)
def test_what_is_malformed_is_dropped(found: dict[str, object]) -> None:
    assert read(**found) == {}


@pytest.mark.parametrize("text", ["{", "[]", "7", '"tabs"', "[" * 3_000, "x" * 5_000])
def test_what_is_no_record_is_nothing(text: str) -> None:
    assert read_screen(text, PARTS, 60_000) == {}
