"""docs/papers.md: every table and figure of each paper, figures that reports have, releases that can be reproduced."""

import re
from pathlib import Path

import pytest

from analytics.figures.registry import FIGURES
from analytics.reproduce.registry import REPRODUCTIONS
from evaluation.dumps import RELEASES

DOC = (Path(__file__).resolve().parents[3] / "docs" / "papers.md").read_text("utf-8")
# The last number of each paper's tables and figures.
PAPERS = {
    "AGENT-CQ": {"Table": 8, "Figure": 4},
    "CondAmbigQA": {"Table": 3, "Figure": 6},
    "ContextEval": {"Table": 15, "Figure": 8},
    "HREF": {"Table": 8, "Figure": 15},
    "LFQA": {"Table": 10, "Figure": 12},
}
NAMED = re.compile(r"\b(Table|Figure)s? (\d[\da-z]*(?:(?:, | and | to )\d[\da-z]*)*)")


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
def test_every_table_and_figure_has_a_line(paper):
    wanted = {(kind, number) for kind, last in PAPERS[paper].items() for number in range(1, last + 1)}
    assert numbered(section(paper)) == wanted


def test_every_figure_that_is_named_is_in_reports():
    folders = {key.partition("/")[0] for key in FIGURES}
    named = {key for key in re.findall(r"`([a-z_]+/[a-z_]+)`", DOC) if key.partition("/")[0] in folders}
    assert len(named) > 40
    assert named - set(FIGURES) == set()


def test_every_release_has_its_line():
    table = re.search(r"^\| Release \|.*?\n\n", DOC, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\| `(\w+)` \|", table[0], re.MULTILINE)) == set(REPRODUCTIONS)
    assert set(REPRODUCTIONS) <= set(RELEASES)
    assert set(re.findall(r"reproduce ([a-z_]+)", DOC)) <= set(REPRODUCTIONS)
