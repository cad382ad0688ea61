"""Values in lines `name: value`."""

from collections.abc import Sequence

from judging.parsing.json_values import Values
from judging.parsing.rationale import without_heading
from judging.parsing.rejection import reject
from judging.parsing.wrappers import MARKUP
from judging.prompting.cells import AnswerCell, line_name
from judging.prompting.settings import Settings


def values_from_lines(text: str, cells: Sequence[AnswerCell], settings: Settings) -> tuple[Values, str]:
    """The values of lines `name: value`, which stand together, in any order, where the prompt put them."""
    paths = _paths(cells)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    given = [(number, *_split(line)) for number, line in enumerate(lines) if _split(line)[0] in paths]
    if len({name for _, name, _ in given}) != len(given):
        reject("The reply answers a question more than once.")
    if not given:
        reject("The reply is neither the JSON object nor the lines that were asked for.")
    if len(given) != len(paths):
        reject(f"The reply has {len(given)} of the {len(paths)} lines that were asked for.")
    first, last = given[0][0], given[-1][0]
    before, after = lines[:first], lines[last + 1 :]
    if last - first + 1 != len(given) or (after and settings.rationale != "after") or (
        before and settings.rationale != "before"
    ):  # fmt: skip
        reject("The reply says more than it was asked for, or in another place.")
    return {paths[name]: value for _, name, value in given}, without_heading([*before, *after])


def has_lines(text: str, cells: Sequence[AnswerCell]) -> bool:
    """True if any line of the text gives a value that is asked for."""
    paths = _paths(cells)
    return any(_split(line.strip())[0] in paths for line in text.splitlines())


def _paths(cells: Sequence[AnswerCell]) -> dict[str, tuple[str, ...]]:
    return {line_name(cell): cell.path for cell in cells}


def _split(line: str) -> tuple[str, str]:
    """Name and value, whichever of them is in bold."""
    name, colon, value = line.partition(":")
    name, value = name.strip(), value.strip()
    # "**name:** value" and "**name: value**": what began in the name ends in the value.
    if name.startswith("**") and not name.endswith("**"):
        value = value.removeprefix("**").removesuffix("**").strip()
    return (name.strip(MARKUP), value) if colon else ("", "")
