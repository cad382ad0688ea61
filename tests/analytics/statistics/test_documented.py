"""The list of statistics in docs/statistics.md names every function, and for every interval how often it covers."""

import importlib
import inspect
import pkgutil
import re
from collections import Counter
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from analytics import statistics
from analytics.statistics.core.estimates import Estimate

PAGE = (Path(__file__).parents[3] / "docs" / "statistics.md").read_text()
EXPLAINED, _, LIST = PAGE.partition("\n## List of statistics\n")
COLUMNS = ["Statistic", "Formula and conventions", "Source", "Function", "Coverage"]
# One of these columns makes a table of figures one of coverage.
OF_COVERAGE = {"mean", "now: mean", "all looks hold"}
SAYS_WHY_NOT = re.compile(r"no interval|exact")
FIGURE = re.compile(r"\*([^*]+)\*")
FUNCTION = re.compile(r"`([a-z_]+\.\w+\.\w+)`")


class Row(NamedTuple):
    """A row of the list: what it is of, its functions, and what it says of their coverage."""

    statistic: str
    functions: list[str]
    coverage: str

    @property
    def figures(self) -> list[str]:
        return FIGURE.findall(self.coverage)


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page, each a list of rows of cells, without the line below the header."""
    found = re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE)
    return [
        [line.strip("| ").split(" | ") for n, line in enumerate(table.splitlines()) if n != 1]
        for table in found
    ]


def listed() -> list[Row]:
    rows = []
    for header, *body in tables(LIST):
        assert header == COLUMNS
        for cells in body:
            assert len(cells) == len(COLUMNS), f"{cells[0]} has {len(cells)} cells"
            assert all(map(str.strip, cells)), f"{cells[0]} has an empty cell"
            rows.append(Row(cells[0], FUNCTION.findall(cells[3]), cells[4]))
    return rows


def simulated() -> list[str]:
    """The rows of all coverage tables."""
    names = []
    for header, *body in tables(EXPLAINED):
        if header[0] == "Figure" and OF_COVERAGE & set(header):
            names += [cells[0] for cells in body]
    return names


def functions() -> dict[str, Any]:
    """Every public function by its name below `analytics.statistics`."""
    found = {}
    for module in pkgutil.walk_packages(statistics.__path__, f"{statistics.__name__}."):
        for name, each in vars(importlib.import_module(module.name)).items():
            # One whose results are cached is wrapped.
            function = inspect.unwrap(each) if callable(each) else each
            if inspect.isfunction(function) and function.__module__ == module.name and name[0] != "_":
                found[f"{module.name}.{name}".removeprefix(f"{statistics.__name__}.")] = function
    return found


def holds_estimate(kind: Any) -> bool:
    """True of `Estimate`, of a dataclass with such a field, and of what is made of either."""
    if kind is Estimate:
        return True
    parts = get_type_hints(kind).values() if is_dataclass(kind) else get_args(kind)
    return any(map(holds_estimate, parts))


def test_the_list_names_every_function_once() -> None:
    named = Counter(FUNCTION.findall(LIST))
    assert [name for name, times in named.items() if times > 1] == []
    known = functions()
    assert known.keys() - named.keys() == set(), "not in the list of statistics in docs/statistics.md"
    assert named.keys() - known.keys() == set(), "in the list, but no function"


def test_every_function_stands_under_its_folder() -> None:
    for part in LIST.split("\n### ")[1:]:
        heading = part.partition("\n")[0]
        folders = {name.partition(".")[0] for name in FUNCTION.findall(part)}
        assert {f"analytics/statistics/{folder}" for folder in folders} == {heading}


def test_every_row_of_the_list_has_a_function() -> None:
    assert [row.statistic for row in listed() if not row.functions] == []


def test_coverage_that_the_list_names_was_simulated() -> None:
    known = set(simulated())
    for row in listed():
        assert set(row.figures) <= known, f"{row.statistic} names a coverage that no table has"


def test_coverage_that_was_simulated_is_of_a_function() -> None:
    names = simulated()
    assert len(names) == len(set(names)) > 100
    claimed = {figure for row in listed() for figure in row.figures}
    assert set(names) - claimed == set(), "simulated, but of no function in the list"


def test_every_estimate_has_a_coverage_or_says_why_not() -> None:
    row_of = {name: row for row in listed() for name in row.functions}
    estimates = [name for name, each in functions().items() if holds_estimate(get_type_hints(each)["return"])]
    assert len(estimates) > 80
    for name in estimates:
        row = row_of.get(name)
        assert row, f"{name} gives an interval, so that it needs a row and not only a mention"
        assert row.figures or SAYS_WHY_NOT.search(row.coverage), f"{name}: how often does its interval cover?"


def test_links_of_the_list_lead_to_headings() -> None:
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#([^)]+)\)", LIST)
    assert len(links) > 20
    assert set(links) <= anchors
