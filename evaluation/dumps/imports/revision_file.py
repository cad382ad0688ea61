"""A file that says how a study is to be revised: the changed parts of a study's line."""

from pathlib import Path
from typing import Any

from evaluation.dumps.lines import BOM, MAX_LINE, parse_line
from evaluation.dumps.problems import shorten
from evaluation.dumps.schemas import schema_problems
from evaluation.refusals import Refused


def read_revision(path: Path) -> dict[str, Any]:
    """The parts of the spec that the file changes; Refused with every reason if it does not fit the schema."""
    try:
        with path.open("rb") as handle:
            raw = handle.read(MAX_LINE + 1)
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from None
    if len(raw) > MAX_LINE:
        raise Refused(f"{path} is longer than {MAX_LINE // 1_000_000} MB.")
    line = parse_line(raw.removeprefix(BOM), 1, 0)
    problems = [*line.problems, *([] if line.value is None else revision_problems(line.value))]
    if problems:
        raise Refused(*[f"{path.name}: {problem}" for problem in problems])
    spec: dict[str, Any] = line.value["spec"]
    return spec


def revision_problems(value: Any) -> list[str]:
    """Where the value is not what such a file has, a sentence each."""
    return [shorten(problem) for problem in schema_problems("revision", value)]
