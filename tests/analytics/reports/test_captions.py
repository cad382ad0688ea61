"""Captions that stand by themselves: each says whose figures it has, and no two of a report are the same; demo studies'
are asked with their goldens.
"""

import re
from collections import Counter
from dataclasses import replace

import pytest

from analytics.display.blocks import Block, Section
from analytics.display.tables import Builder, columns, head, words
from analytics.figures.report_view import ReportView
from analytics.reports.build import build_report
from analytics.reports.captions import with_contexts
from analytics.reports.paper.archive import contents, plots_of, tables_of
from analytics.reports.paper.latex_table import latex_table
from evaluation.filters import TOGETHER, Filters
from tests.analytics.reports import goldens

pytestmark = pytest.mark.django_db
CAPTION = re.compile(r"^\\caption\{(.*)\}\\label\{", re.M)


def repeated(captions):
    return [caption for caption, times in Counter(captions).items() if times > 1]


def assert_none_repeated(report, latex):
    """`latex` is the whole report's."""
    tables = [caption for table in tables_of(report) for caption in CAPTION.findall(latex_table(table))]
    assert len(tables) >= len(tables_of(report)) > 5
    assert repeated(tables) == []
    assert repeated(plot.full_caption for plot in plots_of(report)) == []
    every = CAPTION.findall(latex)
    assert len(every) == len(tables) + len(plots_of(report))


def test_a_caption_names_its_group_where_another_has_the_same_table():
    report = build_report(goldens.paired_study(), replicates=20, filters=Filters(judges=TOGETHER))
    captions = {table.key: CAPTION.findall(latex_table(table))[0] for table in tables_of(report)}
    for people, judges in (
        ("flips", "flips-judges-together-flips"),
        ("raters-pairs-of-raters", "raters-judges-together-pairs-of-raters"),
    ):
        assert captions[people].startswith("People. ")
        assert captions[judges].startswith("Judges together: ")
    listed = contents(report)
    assert "| People. Pair flips: " in listed
    assert "| Judges together: flips. Pair flips: " in listed


VIEW = ReportView(
    {
        "study": {"systems": [], "arms": []},
        "groups": [
            {
                "key": key,
                "label": label,
                "kind": kind,
                "heuristic": False,
                "raters": 2,
                "judgments": 0,
                "items": 0,
            }
            for key, label, kind in (("people", "People", "person"), ("gpt", "GPT-4", "judge"))
        ],
        "judges": [],
        "raters": [],
        "records": [],
        "questions": [],
    }
)


def table(caption, *names):
    build = Builder(caption, columns(["Raters", "Question"], names=2))
    for name in names or ("aspen",):
        build.add(head(name), words("x"))
    return build.build()


def captions(*blocks):
    """In a section for each list of (heading, table)."""
    sections = [
        Section(f"s{at}", f"Section {at}", "", tuple(Block(heading, tables=(t,)) for heading, t in found))
        for at, found in enumerate(blocks)
    ]
    return [
        table.full_caption
        for section in with_contexts(sections, VIEW)
        for block in section.blocks
        for table in block.tables
    ]


def test_a_caption_of_its_own_needs_nothing_in_front():
    assert captions([("Means", table("Mean ratings.")), ("", table("Ties."))]) == ["Mean ratings.", "Ties."]


def test_a_group_s_name_is_never_lost():
    assert captions([("GPT-4: means", table("Mean ratings."))]) == ["GPT-4: means. Mean ratings."]
    assert captions([("", table("Mean ratings.")), ("GPT-4: means", table("Mean ratings."))]) == [
        "People. Mean ratings.", "GPT-4: means. Mean ratings.",
    ]  # fmt: skip


def test_a_table_of_several_groups_is_not_called_the_leading_one_s():
    both = table("Mean ratings.", "People", "GPT-4")
    assert captions([("All", both), ("GPT-4: means", table("Mean ratings."))])[0] == "Mean ratings."


def test_the_question_tells_equal_captions_apart_and_after_it_the_section_and_a_number():
    ties = table("Ties.")
    assert captions([("Which is better?", ties), ("Which is longer?", ties)]) == [
        "Which is better? Ties.", "Which is longer? Ties.",
    ]  # fmt: skip
    assert captions([("Shares", ties)], [("Shares", ties)]) == [
        "Section 0. Shares. Ties.", "Section 1. Shares. Ties.",
    ]  # fmt: skip
    assert captions([("", ties), ("", ties)]) == ["Section 0. No. 1. Ties.", "Section 0. No. 2. Ties."]


def test_a_caption_that_begins_with_its_heading_does_not_say_it_twice():
    assert captions([("GPT-4: means", table("GPT-4: means by system."))]) == ["GPT-4: means by system."]


def test_the_parts_of_a_wide_table_keep_its_context():
    names = [f"category {at}" for at in range(30)]
    build = Builder("Shares.", columns(["System", *names]))
    build.add(head("aspen"), *(words("a rather long cell") for _ in names))
    found = CAPTION.findall(latex_table(replace(build.build(), key="wide", context="GPT-4: shares.")))
    assert len(found) > 1
    assert all(each.startswith("GPT-4: shares. Shares. Part ") for each in found)
