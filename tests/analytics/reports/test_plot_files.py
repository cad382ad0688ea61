"""Plots as files: the same figure as on the page, the same bytes each time, and no text that breaks them."""

import io
import re
import struct
from xml.dom import minidom

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from PIL import Image

from analytics.display.characters import one_line
from analytics.display.group_plots import short_percent
from analytics.display.layout import drawings
from analytics.display.numbers import decimal
from analytics.display.plot_files import DPI, WIDTH, font_families, plot_files
from analytics.display.plots import Mark, PlotRow, dot_plot

MARKS = (
    Mark("person", "People", 0.5, 0.3, 0.7),
    Mark("judge", "Cedar", 0.55, 0.5, 0.62),
    Mark("simulated", "Simulated raters", 0.4),
    Mark("judge", "Elm", None),
)


def plot(*rows, **options):
    given_rows = rows or (PlotRow("No context", MARKS),)
    options = {"what": "Win rate", "within": (0.0, 1.0)} | options
    return dot_plot(given_rows, caption="A caption.", form=short_percent, **options)


def root_of(svg):
    return minidom.parseString(svg).documentElement.tagName  # noqa: S318 - our own file


@pytest.fixture(scope="module")
def files():
    return plot_files(plot(reference=0.5, hints=("Birch", "Aspen")))


def test_each_format_is_what_it_says(files):
    assert list(files) == ["svg", "pdf", "png"]
    assert files["pdf"].startswith(b"%PDF-")
    assert files["png"].startswith(b"\x89PNG")
    assert root_of(files["svg"]) == "svg"


def test_the_same_plot_gives_the_same_bytes(files):
    assert plot_files(plot(reference=0.5, hints=("Birch", "Aspen"))) == files
    for date in (b"CreationDate", b"dc:date"):
        assert all(date not in each for each in files.values())


def test_fonts_are_embedded_and_a_png_has_300_dots_an_inch(files):
    assert b"/FontFile2" in files["pdf"]
    assert b"/Type3" not in files["pdf"]
    assert b"<text" not in files["svg"]
    width, _ = struct.unpack(">II", files["png"][16:24])
    assert width == pytest.approx(WIDTH / 72 * DPI, abs=1)


def test_the_file_has_the_marks_of_the_page(files):
    """Positions differ by the sheet alone: a share of the scale is the same share in both."""
    (wide, _), svg = drawings(plot(reference=0.5, hints=("Birch", "Aspen"))), files["svg"].decode()
    dots = [dot for line in wide.lines for dot in line.dots if dot.x]
    found = [float(x) for x in re.findall(r'<use [^>]*x="([\d.]+)" y="[\d.]+" style="fill: #', svg)]
    assert len(found) == len(dots) == 3
    shown = [float(dot.x) for dot in dots]
    share = (shown[1] - shown[0]) / (shown[0] - shown[2])
    assert (found[1] - found[0]) / (found[0] - found[2]) == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize("judges", [("Cedar",), ("Cedar", "Elm" * 30)])
@pytest.mark.parametrize("label", ["Here", "A label that stands above its line, as long as it is"])
def test_no_text_is_clipped(label, judges):
    """Nothing is drawn within a point of the sheet's edges, where labels of ticks were cut off."""
    marks = tuple(Mark("judge", judge, 0.1, -0.2, 0.8) for judge in judges)
    shown = dot_plot(
        [PlotRow(label, marks)], what="Difference " * 20, caption="", form=decimal, hints=("A" * 90, "B" * 90)
    )
    sheet = np.asarray(Image.open(io.BytesIO(plot_files(shown)["png"])).convert("L"))
    edge = DPI // 72
    for strip in (sheet[:edge], sheet[-edge:], sheet[:, :edge], sheet[:, -edge:]):
        assert (strip == 255).all()


def test_the_file_has_names_and_the_axis_title(monkeypatch):
    """Letters are outlines in the file: what is asked of the renderer is what is looked at."""
    texts = []
    drawn = Axes.text
    monkeypatch.setattr(Axes, "text", lambda self, *at, **how: texts.append(at[2]) or drawn(self, *at, **how))
    plot_files(plot(PlotRow("Here", MARKS), unit="%"))
    assert "Win rate, %" in texts
    assert {"People", "Cedar", "Elm"} < set(texts)
    assert not any("%" in text for text in texts if text != "Win rate, %")


@pytest.mark.parametrize("named", [False, True])
def test_text_of_any_script_breaks_nothing(named):
    texts = (
        "$x_1^$ \\frac",
        "العربية",
        "中文",
        "a\x00b\nc",
        "<b>&amp;",
        "\ud800",
        "\N{PILE OF POO}" * 90,
        "",
    )
    rows = [
        PlotRow(text, (Mark("judge", f"{text}!" if named else "Cedar", 0.4, 0.3, 0.5),)) for text in texts
    ]
    files = plot_files(plot(*rows, what="\x01<what>", hints=("\x07$", "}" * 200)))
    assert root_of(files["svg"]) == "svg"


@given(st.text(max_size=60))
def test_a_label_is_one_line_of_characters_that_can_be_drawn(text):
    cleaned = one_line(text)
    assert len(cleaned.splitlines()) <= 1
    assert cleaned == one_line(cleaned)
    assert cleaned.isprintable() or not cleaned.isascii()
    cleaned.encode()


def test_what_the_bundled_font_lacks_is_drawn_by_another_or_as_a_box():
    assert font_families(["Plain", "Без", "←"]) == ["DejaVu Sans"]
    assert font_families(["\U000e0fff"])[-1] == "Last Resort High-Efficiency"
