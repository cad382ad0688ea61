"""The list of statistics in docs/statistics.md names every function, and for every interval how often it covers."""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
import scipy

from analytics import figures as figure_modules
from analytics import statistics
from analytics.statistics.core.estimates import Estimate
from benchmarks.coverage import ALL_DESIGNS
from benchmarks.looks import CASES
from benchmarks.simulated import Design

PAGE = (Path(__file__).parents[3] / "docs" / "statistics.md").read_text()
EXPLAINED, _, LIST = PAGE.partition("\n## List of statistics\n")
COLUMNS = ["Statistic", "Formula and conventions", "Source", "Function", "Coverage"]
# One of these columns makes a table of figures one of coverage.
OF_COVERAGE = {"mean", "now: mean", "all looks hold"}
NUMBERS = re.compile(r"|-?[\d.,]+%?(?:, -?[\d.]+)*")
SAYS_WHY_NOT = re.compile(r"no interval|exact")
FIGURE = re.compile(r"\*([^*]+)\*")
FUNCTION = re.compile(r"`([a-z_]+\.\w+\.\w+)`")
# A year, a section, a table or an equation; or nobody's but ours.
CITED = re.compile(r"\d|^ours\b")
DIFFERENCES = "Differences from the papers"
DIFFERS = "([differs](#differences-from-the-papers))"
# Imported by figures though neither a statistic nor an array.
NO_STATISTICS = {
    "core.estimates.plain": "makes a record of what was found",
    "core.estimates.present": "the parts that were left out, without empty ones",
    "core.values.n_distinct": "a count of raters or items",
}
# Whose interval it is that was simulated, of rows that give it another meaning.
MADE_BY = {
    "Cohen's h beside one half": "preferences.win_rates.expected_win_rates",
    "Alpha as a function of sums": "core.matched.matched_difference",
    "Bootstrap over queries": "preferences.strengths.strengths_of",
    "Fit beside a person": "replacement.difference.judge_minus_people",
    "Kappa of several raters": "agreement.kappa.cohen_kappa",
    "Looks at a pair": "planning.confidence_sequence.confidence_sequence",
    "Mean nDCG@k": "core.resampling.mean_estimate",
    "Measure against mean answers": "judges.ratings_vs_people.correlations",
    "Self-preference": "replacement.difference.judge_minus_people",
    "Settings of systems": "core.resampling.mean_estimate",
    "Standing": "preferences.win_rates.expected_win_rates",
    "Tie rate": "core.matched.matched_difference",
}


class Row(NamedTuple):
    """A row of the list: what it is of, its functions, and what it says of their coverage."""

    statistic: str
    formula: str
    source: str
    functions: list[str]
    coverage: str

    @property
    def figures(self) -> list[str]:
        return FIGURE.findall(self.coverage)


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<= )\|(?= )", line[1:-1])]


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page, each a list of rows of cells, without the line below the header."""
    found = re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE)
    return [[cells_of(line) for n, line in enumerate(table.splitlines()) if n != 1] for table in found]


def listed() -> list[Row]:
    rows = []
    for header, *body in tables(LIST):
        assert header == COLUMNS
        for cells in body:
            assert len(cells) == len(COLUMNS), f"{cells[0]} has {len(cells)} cells"
            assert all(cells), f"{cells[0]} has an empty cell"
            rows.append(Row(*cells[:3], FUNCTION.findall(cells[3]), cells[4]))
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


def hints_of(of: Any) -> dict[str, Any]:
    """With scipy, which modules import for their types alone."""
    return get_type_hints(of, localns={"scipy": scipy})


def parts_of(kind: Any) -> Iterator[Any]:
    """A type and all that it is made of: of a dataclass its fields."""
    yield kind
    for part in hints_of(kind).values() if is_dataclass(kind) else get_args(kind):
        yield from parts_of(part)


def is_statistic(kind: Any) -> bool:
    """True of results: records and numbers, but no arrays, which are what results are made from."""
    parts = list(parts_of(kind))
    return not any(get_origin(part) is np.ndarray for part in parts) and (
        any(map(is_dataclass, parts)) or {int, float} & set(parts) != set()
    )


def imported_by_figures() -> set[str]:
    """The functions of `analytics.statistics` that the modules of `analytics.figures` import."""
    found = set()
    for path in Path(figure_modules.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(statistics.__name__):
                module = str(node.module).removeprefix(f"{statistics.__name__}.")
                found |= {f"{module}.{each.name}" for each in node.names}
    return found


def estimates_in(found: Any) -> Iterator[Estimate]:
    if isinstance(found, Estimate):
        yield found
    elif is_dataclass(found):
        for field in fields(found):
            yield from estimates_in(getattr(found, field.name))
    elif isinstance(found, dict | list | tuple):
        for each in found.values() if isinstance(found, dict) else found:
            yield from estimates_in(each)


def makers_in(design: Design) -> dict[str, set[str]]:
    """The functions whose result each simulated figure is, or a part of it; of what is put together, all that ran."""
    names = {each.__code__: name for name, each in functions().items()}
    results: list[tuple[str, Any]] = []

    def watch(frame: Any, event: str, result: Any) -> None:
        if event == "return" and frame.f_code in names:
            results.append((names[frame.f_code], result))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        simulated_figures = design.figures(np.random.default_rng(1), 15, 1, design.values[1])
    finally:
        sys.setprofile(before)
    makers = defaultdict(set)
    for name, result in results:
        for each in estimates_in(result):
            makers[id(each)].add(name)
    every = {name for name, _ in results}
    return {name: makers.get(id(each), every) for name, each in simulated_figures.items()}


@cache
def makers() -> dict[str, set[str]]:
    """{row of a coverage table: functions that it is of}, by one small simulated study of each design."""
    found = {case.name: {"planning.confidence_sequence.confidence_sequence"} for case in CASES}
    for design in ALL_DESIGNS:
        found |= makers_in(design)
    return found


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


def test_every_row_of_the_list_has_a_formula_and_a_source() -> None:
    for row in listed():
        assert len(re.findall(r"\w+", row.formula)) > 1, f"{row.statistic} has no formula"
        assert CITED.search(row.source), f"{row.statistic} cites no year, section or table, and is not ours"


def test_results_that_figures_show_stand_in_a_row() -> None:
    """What gives a number or a record of them is a statistic; only what gives arrays is a building block."""
    in_rows = {name for row in listed() for name in row.functions}
    shown, results = imported_by_figures(), set()
    for name, each in functions().items():
        kind = hints_of(each)["return"]
        if is_statistic(kind) and (name in shown or any(map(is_dataclass, parts_of(kind)))):
            results.add(name)
    assert len(results) > 90
    assert results - NO_STATISTICS.keys() - in_rows == set(), "statistics among the building blocks"
    assert NO_STATISTICS.keys() & in_rows == set()


def test_coverage_that_a_row_names_is_of_its_functions() -> None:
    for row in listed():
        own = {*row.functions, MADE_BY.get(row.statistic)}
        for figure in row.figures:
            assert makers()[figure] & own, f"{row.statistic}: {figure} is of {sorted(makers()[figure])}"


def test_every_difference_from_a_paper_is_that_of_a_statistic() -> None:
    part = EXPLAINED.partition(f"\n## {DIFFERENCES}\n")[2].partition("\n## ")[0]
    ((header, *body),) = tables(part)
    assert header == ["Paper", "Statistic", "Its own reading", "Ours"]
    assert len(body) > 15
    for cells in body:
        assert FIGURE.search(cells[1]) or cells[1].startswith("none: "), f"{cells[0]}: which figure differs?"
    named = {name for cells in body for name in FIGURE.findall(cells[1])}
    assert named == {row.statistic for row in listed() if DIFFERS in row.source}


def test_coverage_that_the_list_names_was_simulated() -> None:
    known = set(simulated())
    for row in listed():
        assert set(row.figures) <= known, f"{row.statistic} names a coverage that no table has"


def test_coverage_is_in_numbers() -> None:
    """Of every figure the truths and, at least of the interval that it has now, how often that holds them."""
    for header, *body in tables(EXPLAINED):
        if header[0] != "Figure" or not OF_COVERAGE & set(header):
            continue
        now = next(at for at, name in enumerate(header) if name in OF_COVERAGE)
        for cells in body:
            assert len(cells) == len(header), f"{cells[0]} has {len(cells)} cells"
            for name, cell in zip(header[1:], cells[1:], strict=True):
                assert NUMBERS.fullmatch(cell), f"{cells[0]}, {name}: {cell}"
            share = float(cells[now].removesuffix("%"))
            assert cells[now].endswith("%"), f"{cells[0]} has no coverage"
            assert 50 < share <= 100, f"{cells[0]}: {share}"


def test_coverage_that_was_simulated_is_of_a_function() -> None:
    names = simulated()
    assert len(names) == len(set(names)) > 100
    claimed = {figure for row in listed() for figure in row.figures}
    assert set(names) - claimed == set(), "simulated, but of no function in the list"


def test_every_estimate_has_a_coverage_or_says_why_not() -> None:
    row_of = {name: row for row in listed() for name in row.functions}
    estimates = [name for name, each in functions().items() if Estimate in parts_of(hints_of(each)["return"])]
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
