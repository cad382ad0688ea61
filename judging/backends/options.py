"""Options: the settings that only one kind of judge has, declared by its backend and kept in `Judge.options`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_OPTION_TEXT = 10_000


class Input(StrEnum):
    """The kinds of value that an option takes, and with that the field in which it is entered."""

    TEXT = "text"
    LINES = "lines"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    JSON = "json"


def unchecked(value: Any) -> Any:
    return value


@dataclass(frozen=True, kw_only=True)
class JudgeOption:
    """One option. `clean` gives the value as it is stored; ValueError with a sentence where it can't be."""

    key: str
    label: str
    help: str = ""
    input: Input = Input.TEXT
    default: Any = ""
    # {value: its words}, of a choice.
    choices: Mapping[str, str] | None = None
    clean: Callable[[Any], Any] = unchecked
    # Why no run can start while it is empty; '' where one can.
    needed: str = ""
    # What there is to choose, as a sentence for the form when it is drawn.
    hint: Callable[[], str] = str


class OptionsRefused(ValueError):
    """Options that a kind of judge does not take; `by_key` has the sentences of each."""

    def __init__(self, by_key: Mapping[str, list[str]]) -> None:
        self.by_key = by_key
        super().__init__(" ".join(sentence for each in by_key.values() for sentence in each))


def clean_options(options: Iterable[JudgeOption], given: Any) -> dict[str, Any]:
    """The value of each option, its default where none is given; OptionsRefused names what is wrong."""
    if not isinstance(given, Mapping):
        raise OptionsRefused({"": ["The options must be an object of names and values."]})
    known = {option.key: option for option in options}
    problems = {key: [f"There is no option {key!r}."] for key in given if key not in known}
    found = {}
    for key, option in known.items():
        try:
            found[key] = _clean(option, given[key]) if key in given else option.default
        except ValueError as problem:
            problems[key] = [f"{option.label}: {problem}"]
    if problems:
        raise OptionsRefused(problems)
    return found


def missing_options(options: Iterable[JudgeOption], given: Mapping[str, Any]) -> list[str]:
    """Why a judge with these values can't run yet, as sentences."""
    return [option.needed for option in options if option.needed and not given.get(option.key)]


def _clean(option: JudgeOption, value: Any) -> Any:
    if value is None and option.default is None:
        return None  # nothing is chosen, where that is possible
    match option.input:
        case Input.TEXT:
            if not isinstance(value, str) or len(value) > MAX_OPTION_TEXT:
                raise ValueError(f"a text of at most {MAX_OPTION_TEXT:,} characters is needed.")
            value = value.strip()
        case Input.LINES:
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise ValueError('a list of texts is needed, such as ["one", "two"].')
            value = [line for each in value if (line := each.strip())]
        case Input.NUMBER:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError("a number is needed.")
        case Input.FLAG:
            if not isinstance(value, bool):
                raise ValueError("true or false is needed.")
        case Input.CHOICE:
            if not isinstance(value, str) or value not in (option.choices or {}):
                raise ValueError(f"one of {', '.join(map(repr, option.choices or ()))} is needed.")
    return option.clean(value)
