"""Histograms and trees: the same picture on the page and in files, whatever is in it."""

import io
import re
from xml.dom import minidom

import numpy as np
import pytest
from django.template.loader import render_to_string
from django.utils.translation import override
from PIL import Image

from analytics.display.blocks import Block
from analytics.display.characters import drawn_letters
from analytics.display.histograms import Bar, histogram, histograms
from analytics.display.numbers import MINUS, NBSP, decimal
from analytics.display.plot_files import DPI, plot_files
from analytics.display.trees import Node, TreePlot
from analytics.figures.texts.length_differences import characters

COUNTS = (1, 4, 10, 6, 0, 2)


def of_lengths(counts=COUNTS, **options):
    bars = [Bar(-200.0 + 100 * at, -100.0 + 100 * at, n) for at, n in enumerate(counts)]
    options = {"hints": ("shorter", "longer"), "reference": 0.0, "unit": "characters"} | options
    return histogram(
        bars,
        what="Lengths",
        axis="Difference",
        counted=("item", "items"),
        caption="A <caption>.",
        form=characters,
        **options,
    )


def of_systems(names=("aspen", "birch"), counts=(COUNTS, (2, 8, 20, 12, 0, 4))):
    panels = [
        (name, [Bar(at / 10, (at + 1) / 10, n) for at, n in enumerate(of)])
        for name, of in zip(names, counts, strict=True)
    ]
    return histograms(
        panels, what="Scores", axis="Score", counted=("text", "texts"), caption="Scores.", form=decimal
    )


def tree(name="Factuality", deep=3):
    nodes = [Node(0, "All", "", "2", 0.5, 3_600)]
    nodes += [Node(depth, name, f"≤ {depth}", "3", 0.8, 1_000 // depth) for depth in range(1, deep + 1)]
    nodes += [Node(depth, name, f"> {depth}", "0", 0.25, 900) for depth in range(deep, 0, -1)]
    return TreePlot("Decision tree", "The tree.", tuple(nodes))


def svgs_of(plot):
    page = render_to_string("analytics/_report_plot.html", {"block": Block("A block", plot=plot)})
    return [minidom.parseString(svg).documentElement for svg in re.findall(r"<svg.*?</svg>", page, re.S)]  # noqa: S318 - our own


def numbers(elements, name):
    return [float(each.getAttribute(name)) for each in elements]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_bars_of_the_page_are_as_high_as_there_are_values(language):
    with override(language):
        wide, narrow = svgs_of(of_lengths())
    for svg in (wide, narrow):
        bars = svg.getElementsByTagName("rect")
        heights = numbers(bars, "height")
        # What is empty has no bar.
        assert np.array(heights) / heights[0] == pytest.approx([1, 4, 10, 6, 2], rel=0.02)
        left = numbers(bars, "x")
        assert left[4] - left[3] == pytest.approx(2 * (left[1] - left[0]), abs=0.3)
        assert (
            bars[2].getElementsByTagName("title")[0].firstChild.data == f"0 to 100{NBSP}characters: 10 items"
        )
        spoken = svg.getAttribute("aria-label")
        assert spoken.startswith(f"Lengths. below {MINUS}100{NBSP}characters: 1 item; {MINUS}100 to 0")
        assert spoken.endswith(f"300{NBSP}characters or more: 2 items.")


def test_several_histograms_have_the_same_scales():
    for svg in svgs_of(of_systems()):
        bars = svg.getElementsByTagName("rect")
        heights, left = np.array(numbers(bars, "height")), numbers(bars, "x")
        assert heights[5:] / heights[:5] == pytest.approx([2] * 5, rel=0.05)
        assert left[5:] == left[:5]
        told = [each.firstChild.data for each in svg.getElementsByTagName("text")]
        assert told.count("0.00") == 1
        assert {"aspen", "birch"} < set(told)
        spoken = svg.getAttribute("aria-label")
        assert "aspen: below 0.10: 1 text; " in spoken
        assert spoken.endswith("0.50 or more: 4 texts.")


def test_a_tree_has_each_decision_and_where_it_leads():
    wide, narrow = svgs_of(tree())
    for svg in (wide, narrow):
        told = [each.firstChild.data for each in svg.getElementsByTagName("text")]
        assert f"Factuality ≤ 1 and Factuality ≤ 2: 3: 80{NBSP}% of 500" in svg.getAttribute("aria-label")
        assert told[:4] == ["All", f"2: 50{NBSP}% of 3,600", "Factuality ≤ 1", f"3: 80{NBSP}% of 1,000"]
        assert len(told) == 2 * 7
        frames, bars = (
            [
                each
                for each in svg.getElementsByTagName("rect")
                if (each.getAttribute("class") == "frame") == framed
            ]
            for framed in (True, False)
        )
        shares = np.array(numbers(bars, "width")) / np.array(numbers(frames, "width"))
        assert shares == pytest.approx([0.5, 0.8, 0.8, 0.8, 0.25, 0.25, 0.25], abs=0.01)


def test_no_words_lie_upon_each_other_or_outside():
    """By the width of letters that the layouts go by."""
    far = [Bar(-1e6 * (4 - at), -1e6 * (3 - at), 10**7) for at in range(8)]
    wide = histogram(
        far,
        what="",
        axis="A" * 200,
        counted=("", ""),
        caption="",
        form=characters,
        hints=("B" * 99, "C" * 99),
        reference=0.0,
    )
    long = tree("A rather long name of an aspect " * 3)
    several = of_systems(("A" * 200, "B"), ([100_000] * 6, [1] * 6))
    for plot in (
        of_lengths(),
        of_lengths([100_000] * 6),
        wide,
        of_systems(),
        several,
        long,
        tree("中文" * 40),
    ):
        for picture in (plot.picture("wide"), plot.picture("narrow")):
            taken = []
            for each in picture.labels:
                width = drawn_letters(each.text) * (7.2 if each.quiet else 7.8)
                start = each.x - {"start": 0, "middle": width / 2, "end": width}[each.anchor]
                assert start >= -1
                assert start + width <= picture.width + 1
                assert 8 <= each.y <= picture.height - 2
                assert not any(
                    other == each.y and start < end and begin < start + width for other, begin, end in taken
                ), each.text
                taken.append((each.y, start, start + width))


@pytest.mark.parametrize(
    "plot", [of_lengths(), of_lengths([7]), of_systems(), tree(), tree("$x_1^$ \\frac \ud800 <b> 中文")]
)
def test_files_hold_the_whole_picture(plot):
    files = plot_files(plot)
    assert files == plot_files(plot)
    assert minidom.parseString(files["svg"]).documentElement.tagName == "svg"  # noqa: S318 - our own
    assert b"/Type3" not in files["pdf"]
    sheet = np.asarray(Image.open(io.BytesIO(files["png"])).convert("L"))
    edge = DPI // 72
    for strip in (sheet[:edge], sheet[-edge:], sheet[:, :edge], sheet[:, -edge:]):
        assert (strip == 255).all()
    # As many bars in the file as on the page, and in the accent's colour.
    drawn = len([box for box in plot.picture("wide").boxes if box.filled])
    assert files["svg"].count(b"fill: #1f5f5b") == drawn


def test_a_histogram_of_numbers_without_a_unit():
    plot = histogram(
        [Bar(0.0, 0.5, 3)], what="Scores", axis="Score", counted=("text", "texts"), caption="", form=decimal
    )
    assert plot.label == "Scores. 0.00 to 0.50: 3 texts."
