"""Markdown of tables, against a golden file, and what names may not do in it."""

from dataclasses import replace
from pathlib import Path

from analytics.display.blocks import Block, Section
from analytics.display.numbers import MINUS, decimal, percent, points
from analytics.display.plots import Mark, PlotRow, dot_plot
from analytics.display.tables import Builder, columns, head, words
from analytics.reports.markdown import _table, escape, section_markdown
from analytics.statistics.core.estimates import Estimate, LeftOut

GOLDEN = (Path(__file__).parent / "golden_table.md").read_text("utf-8")


def estimate(value, low=None, high=None, n=0, left_out=0, undefined=""):
    parts = (LeftOut("items without a majority", left_out),) if left_out else ()
    return Estimate(value, low, high, n, "items", left_out=parts, undefined=undefined)


def test_a_table_is_what_it_was():
    build = Builder("Items won, in percent.", columns(["Pair", "Setting", "First", "n", "p"], names=2))
    full = estimate(0.4024, 0.2929, 0.5122, 82, 18)
    empty = estimate(None, n=0, left_out=100, undefined="No item has a majority.")
    bare = estimate(-0.025, n=7, undefined="An interval needs at least two queries.")
    build.add(head("aspen vs birch"), words("No context"), build.share(full), build.n(full), build.p(0.0419))
    build.add(
        head("aspen vs birch"),
        words("Context", "flip"),
        build.share(empty),
        build.n(empty),
        build.p(None, "One of the two arms has no item."),
    )
    build.add(head("birch vs cedar"), words("No context"), build.share(bare), build.n(bare), build.p(1e-9))
    assert "\n\n".join(_table(build.build())) + "\n" == GOLDEN


def test_a_heading_of_nothing_but_a_plot_is_left_out():
    plot = dot_plot([PlotRow("Here", (Mark("person", "People", 0.4),))], what="", caption="", form=decimal)
    build = Builder("", columns(["Raters", "n"]))
    build.add(head("People"), words("4"))
    blocks = (Block("Curve", plot=plot), Block("Rates", tables=(build.build(),), plot=plot))
    text = "\n".join(section_markdown(Section("judges", "Judges", "Judges", blocks)))
    assert "### Rates" in text
    assert "Curve" not in text


def test_rows_of_one_head_are_spanned_by_it():
    build = Builder("", columns(["Pair", "Setting"], names=2))
    for pair, setting in (("a", "1"), ("a", "2"), ("b", "1")):
        build.add(head(pair), words(setting))
    assert [row[0].span for row in build.build().rows] == [2, 0, 1]


def test_reasons_are_told_apart_by_number_only_where_a_single_row_has_several():
    build = Builder("", columns(["Raters", "n"]))
    both = replace(estimate(0.5, n=5), left_out=(LeftOut("ties", 2), LeftOut("unknown orders", 3)))
    build.add(head("People"), build.n(both))
    assert build.build().foot == "Not included: 2 ties; 3 unknown orders."
    build.add(head("Judges"), build.n(both))
    assert build.build().foot == "Not included: ties; unknown orders."


def test_names_from_files_cannot_become_markup():
    assert escape("a|b *c*\n# d <script>") == r"a\|b \*c\* \# d \<script\>"


def test_numbers():
    assert percent(-0.0001) == "0.0"
    assert percent(-0.125) == f"{MINUS}12.5"
    assert decimal(-0.004) == "0.00"


def test_a_sum_in_another_order_is_written_alike():
    # 12.25 and 2.125 lie between two numbers that could be written; their last bits must not choose.
    below, above = 0.1225 - 1e-15, 0.1225 + 1e-15
    assert percent(below) == percent(above)
    assert decimal(2.125 - 4e-15) == decimal(2.125 + 4e-15)
    assert points(-below) == points(above)
