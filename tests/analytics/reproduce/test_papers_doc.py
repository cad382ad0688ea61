"""docs/papers.md: all tables, figures and algorithms of the papers, figures of reports, releases to be reproduced."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from analytics.figures.registry import FIGURES
from analytics.reproduce.registry import REPRODUCTIONS
from evaluation.dumps.published import RELEASES

DOCS = Path(__file__).resolve().parents[3] / "docs"
DOC = (DOCS / "papers.md").read_text("utf-8")
# The last number of each paper's tables, figures and algorithms.
PAPERS = {
    "AGENT-CQ": {"Table": 8, "Figure": 4, "Algorithm": 3},
    "CondAmbigQA": {"Table": 3, "Figure": 6},
    "ContextEval": {"Table": 15, "Figure": 8},
    "HREF": {"Table": 8, "Figure": 15, "Algorithm": 1},
    "LFQA": {"Table": 10, "Figure": 12},
}
NAMED = re.compile(r"\b(Table|Figure|Algorithm)s? (\d[\da-z]*(?:(?:, | and | to )\d[\da-z]*)*)")


def section(title):
    return DOC.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def numbered(text):
    """{(kind, number)} of the tables and figures that the first column names, ranges spelled out."""
    found = set()
    for cell in re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE):
        for kind, numbers in NAMED.findall(cell):
            last = 0
            for joint, number in re.findall(r"( to )?(\d+)", numbers):
                found |= {(kind, each) for each in range(last + 1 if joint else int(number), int(number) + 1)}
                last = int(number)
    return found


def test_numbers_are_read_with_their_ranges():
    text = "| Tables 2 and 3 | a |\n| Figures 9 to 11, Table 5 | b |\n| Figure 4b, section 3.1 | Table 8 |"
    assert numbered(text) == {
        ("Table", 2), ("Table", 3), ("Table", 5), ("Figure", 4), ("Figure", 9), ("Figure", 10), ("Figure", 11),
    }  # fmt: skip


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_figure_and_algorithm_has_a_line(paper):
    wanted = {(kind, number) for kind, last in PAPERS[paper].items() for number in range(1, last + 1)}
    assert numbered(section(paper)) == wanted


def test_every_figure_that_is_named_is_in_reports():
    folders = {key.partition("/")[0] for key in FIGURES}
    named = {key for key in re.findall(r"`([a-z_]+/[a-z_]+)`", DOC) if key.partition("/")[0] in folders}
    assert len(named) > 40
    assert named - set(FIGURES) == set()


def rows_of(paper):
    """Its rows: what the paper has, what it shows, and what gives it."""
    found = re.findall(r"^\| (.*?) \| (.*?) \| (.*) \|$", section(paper), re.MULTILINE)
    return [row for row in found if row[0] != "In the paper" and set(row[0]) != {"-"}]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_line_names_something_that_is_there(paper):
    """A figure of reports, a command, a page of the docs, a part of the report, or that there is nothing to compute."""
    commands, rows = set(get_commands()), rows_of(paper)
    assert len(rows) > 10
    for what, _, given in rows:
        figures = set(re.findall(r"`([a-z_]+/[a-z_]+)`", given)) & set(FIGURES)
        called = set(re.findall(r"manage\.py (\w+)", given))
        assert called <= commands, what
        pages = re.findall(r"\]\(([\w/]+\.md)", given)
        assert all((DOCS / page).is_file() for page in pages), what
        said = any(
            word in given for word in ("nothing to compute", "written anew", "the study's", "the screen")
        )
        assert figures or called or pages or "`reproduce " in given or "`entry_" in given or said, what


@pytest.mark.parametrize("paper", PAPERS)
def test_what_a_reproduction_is_said_to_give_is_among_its_tables(paper):
    for what, _, given in rows_of(paper):
        for release in re.findall(r"`reproduce (\w+)", given):
            missing = numbered(f"| {what} |") - printed_by(release)
            assert not missing, f"{release} prints no {missing} of {paper}"


def printed_by(release):
    """{(kind, number)} of the tables and figures that a reproduction's titles name in brackets."""
    module = ast.parse(inspect.getsource(inspect.getmodule(type(REPRODUCTIONS[release]))))
    # What it says that it lacks stands in the class, and its docstring is an expression.
    lacking = [each for each in ast.walk(module) if isinstance(each, ast.Expr)]
    lacking += [
        each
        for each in ast.walk(module)
        if isinstance(each, ast.Assign) and "missing" in ast.dump(each.targets[0])
    ]
    left_out = {
        id(each)
        for part in lacking
        if not isinstance(getattr(part, "value", None), ast.Yield)
        for each in ast.walk(part)
    }
    texts = [
        each.value
        for each in ast.walk(module)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in left_out
    ]
    return set().union(
        *(numbered(f"| {bracket} |") for text in texts for bracket in re.findall(r"\((.*?)\)", text))
    )


def test_every_release_has_its_line():
    table = re.search(r"^\| Release \|.*?\n\n", DOC, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\| `(\w+)` \|", table[0], re.MULTILINE)) == set(REPRODUCTIONS)
    assert set(REPRODUCTIONS) <= set(RELEASES)
    assert set(re.findall(r"reproduce ([a-z_]+)", DOC)) <= set(REPRODUCTIONS)
