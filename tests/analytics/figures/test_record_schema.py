"""The schema of a record is made from its dataclass: what `plain` writes of one, and nothing else, is valid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

from analytics.figures.record_schema import record_schema
from analytics.statistics.core.estimates import plain
from analytics.statistics.core.tidy import Floats


@dataclass(frozen=True)
class Soup:
    """Of one pot."""

    name: str
    warmth: float | None
    of: Literal["leek", "pea"]


@dataclass(frozen=True)
class Soups:
    """All that was cooked,
    and by whom.

    Not said here.
    """

    pots: tuple[Soup, ...]
    cooks: Sequence[str]
    by_day: Mapping[str, int]
    first: Soup | None
    span: tuple[int, str]


FOUND = Soups((Soup("a", 1.5, "leek"), Soup("b", None, "pea")), ["ann"], {"mon": 3}, None, (1, "x"))


def problems(record):
    return list(Draft202012Validator(record_schema(Soups)).iter_errors(record))


def test_what_plain_writes_is_valid():
    Draft202012Validator.check_schema(record_schema(Soups))
    assert problems(plain(FOUND)) == []
    assert record_schema(Soups)["description"] == "All that was cooked, and by whom."


@pytest.mark.parametrize(
    "wrong",
    [
        {"cooks": "ann"}, {"by_day": {"mon": "three"}}, {"first": {"name": "a"}}, {"more": 1}, {"span": [1, "x", 2]},
        {"pots": [{"name": "a", "warmth": None, "of": "beef"}]},
    ],
)  # fmt: skip
def test_anything_else_is_not(wrong):
    assert problems(plain(FOUND) | wrong)
    assert problems({key: value for key, value in plain(FOUND).items() if key != "cooks"})


def test_a_docstring_that_python_makes_up_says_nothing():
    @dataclass(frozen=True)
    class Bowl:
        full: bool

    assert record_schema(Bowl)["description"] == ""


def test_what_has_no_json_is_refused():
    @dataclass(frozen=True)
    class Pan:
        handle: complex

    with pytest.raises(TypeError, match="no JSON for"):
        record_schema(Pan)


class Menu(TypedDict):
    """As it hangs on the wall."""

    day: Annotated[str, {"enum": ["mon", "tue"]}, "of the week"]
    soups: Annotated[list[Annotated[int, {"minimum": 1}]], {"minItems": 1}]
    price: float | None
    guest: NotRequired[Soup]


@pytest.mark.parametrize(
    ("menu", "valid"),
    [
        ({"day": "mon", "soups": [1, 2], "price": None}, True),
        ({"day": "mon", "soups": [1], "price": 2.5, "guest": plain(Soup("a", None, "pea"))}, True),
        ({"day": "sun", "soups": [1], "price": None}, False),
        ({"day": "mon", "soups": [], "price": None}, False),
        ({"day": "mon", "soups": [0], "price": None}, False),
        ({"day": "mon", "soups": [1]}, False),
        ({"day": "mon", "soups": [1], "price": None, "guest": None}, False),
        ({"day": "mon", "soups": [1], "price": None, "host": 1}, False),
    ],
)
def test_a_typed_dict_is_described_with_its_notes(menu, valid):
    schema = record_schema(Menu)
    assert schema["properties"]["day"]["description"] == "of the week"
    assert Draft202012Validator(schema).is_valid(menu) is valid


def test_an_array_is_a_list():
    @dataclass(frozen=True)
    class Row:
        values: Floats

    assert record_schema(Row)["properties"]["values"] == {"type": "array"}
