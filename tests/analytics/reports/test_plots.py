"""Geometry of dot plots: values map to coordinates, and nothing leaves the plot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.display.group_plots import PlottedRaters, legend, share_plot
from analytics.display.layout import drawings
from analytics.display.numbers import decimal
from analytics.display.plots import Mark, PlotRow, PlotScale, dot_plot, nice_scale
from analytics.statistics.core.estimates import Estimate

SHARES = st.floats(0, 1)
ESTIMATE = Estimate(0.5, 0.3, 0.7, 9, "items")


def percent(value):
    return f"{value * 100:.0f} %"


def plot(*rows, **options):
    return dot_plot(rows, what="Win rate", caption="A caption.", form=percent, **options)


def drawn(*rows, **options):
    return drawings(plot(*rows, **options))


def test_values_map_linearly_and_beyond_the_scale_to_its_ends():
    scale = PlotScale(0.2, 0.8, (0.2, 0.5, 0.8))
    assert scale.position(0.2, 100, 400) == 100
    assert scale.position(0.5, 100, 400) == pytest.approx(250)
    assert scale.position(0.95, 100, 400) == 400
    assert scale.position(-1, 100, 400) == 100


@given(st.lists(SHARES, min_size=1, max_size=20))
def test_a_scale_covers_its_values_with_few_round_ticks(values):
    scale = nice_scale(values, within=(0, 1))
    assert scale.low <= min(values) + 1e-9
    assert max(values) <= scale.high + 1e-9
    assert 0 <= scale.low < scale.high <= 1 or len(set(values)) == 1
    assert 2 <= len(scale.ticks) <= 7


def test_ticks_are_round():
    assert nice_scale([0.31, 0.69], within=(0, 1)).ticks == (0.3, 0.4, 0.5, 0.6, 0.7)
    assert nice_scale([-1.7, 2.2]).ticks == (-2, -1, 0, 1, 2, 3)


def test_dots_and_intervals_stand_where_their_values_are():
    row = PlotRow("No context", (Mark("person", "People", 0.5, 0.3, 0.7),))
    wide, narrow = drawn(row, within=(0.0, 1.0))
    ticks = {tick.text: float(tick.x) for tick in wide.ticks}
    (dot,) = wide.lines[0].dots
    assert float(dot.x1) == ticks["30 %"]
    assert float(dot.x2) == ticks["70 %"]
    assert float(dot.x) == ticks["50 %"]
    assert (wide.form, narrow.form) == ("wide", "narrow")


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=8))
def test_nothing_leaves_the_drawing(triples):
    rows = [
        PlotRow(f"Row {at}", (Mark("person", "People", sorted(each)[1], min(each), max(each)),))
        for at, each in enumerate(triples)
    ]
    for drawing in drawn(*rows, within=(0.0, 1.0), reference=0.5):
        for line in drawing.lines:
            for dot in line.dots:
                assert 0 <= float(dot.x1) <= float(dot.x) <= float(dot.x2) <= drawing.width
                assert 0 <= float(dot.y) <= float(drawing.bottom) <= drawing.height


def test_an_undefined_figure_has_no_dot_and_says_so():
    both = plot(PlotRow("Here", (Mark("person", "People", None), Mark("judge", "Cedar", 0.4))))
    undefined, defined = drawings(both)[0].lines[0].dots
    assert (undefined.x, undefined.title) == ("", "People undefined")
    assert (defined.x1, defined.x2) == ("", "")
    assert both.label == "Win rate. Here: People undefined, Cedar 40 %."


def test_each_kind_has_its_form():
    kinds = ("person", "judge", "simulated")
    row = PlotRow("Here", tuple(Mark(kind, kind, 0.4, 0.3, 0.5) for kind in kinds))
    dots = drawn(row)[0].lines[0].dots
    assert [bool(dot.diamond) for dot in dots] == [False, False, True]
    assert len({dot.y for dot in dots}) == 3


def test_long_labels_stand_above_their_line():
    label = "Claude-3.5-Sonnet vs Llama-3.1-405B"
    wide = drawn(PlotRow(label, (Mark("person", "People", 0.4),)))[0]
    assert float(wide.lines[0].label_y) < float(wide.lines[0].dots[0].y)


def test_hints_name_the_two_directions_and_are_cut_where_too_long():
    row = PlotRow("Here", (Mark("person", "People", 0.4),))
    left, right = drawn(row, reference=0.5, hints=("Birch", "A" * 60))[0].hints
    assert left.text == "← Birch"
    assert right.text == "A" * 21 + "… →"


def test_named_marks_have_their_name_beside_them_in_both_layouts():
    names = ("Cedar", "A judge with a very long name, mini", "A judge with a very long name, large")
    row = PlotRow("No context", tuple(Mark("judge", name, 0.4, 0.3, 0.5) for name in names))
    for drawing in drawn(row, row, within=(0.0, 1.0)):
        lines = drawing.lines
        assert lines[0].dots[0].name == "Cedar"
        # A name that is cut keeps its end, by which it differs from that of the same family.
        assert lines[0].dots[1].name.startswith("A judge")
        assert lines[0].dots[1].name.endswith("mini")
        assert len({dot.name for dot in lines[0].dots}) == 3
        # The row's own label is above its names, and each name is on the height of its mark.
        assert float(lines[0].label_y) < float(lines[0].dots[0].name_y) - 10
        assert all(abs(float(dot.name_y) - float(dot.y)) < 6 for line in lines for dot in line.dots)
        assert float(lines[0].dots[1].name_y) < float(lines[1].label_y)
        assert all(float(dot.x1) > 100 for dot in lines[0].dots)


def test_marks_are_named_where_several_raters_have_the_same_form():
    people, cedar, elm = (
        Mark(kind, who, 0.4) for kind, who in (("person", "People"), ("judge", "Cedar"), ("judge", "Elm"))
    )
    assert not plot(PlotRow("Here", (people, cedar))).named
    assert plot(PlotRow("Here", (people, cedar, elm))).named
    assert plot(PlotRow("Here", (cedar,)), PlotRow("There", (elm,))).named
    # A row of one judge that bears its name.
    assert not plot(PlotRow("Cedar", (cedar,)), PlotRow("Elm", (elm,))).named
    assert all(dot.name == "" for dot in drawn(PlotRow("Here", (people, cedar)))[0].lines[0].dots)


def test_the_legend_lists_no_names_that_stand_beside_their_marks():
    cedar, elm = (Mark("judge", who, 0.4) for who in ("Cedar", "Elm"))
    assert legend([Mark("person", "People", 0.4), cedar]) == "Filled dots: people; open dots: Cedar"
    assert legend([Mark("person", "People", 0.4), cedar, elm]) == "Filled dots: people; open dots: judges"


def test_the_axis_says_what_it_measures_and_the_ticks_leave_out_the_unit():
    shares = share_plot(
        [("Here", [(PlottedRaters("person", "People"), ESTIMATE)])],
        what="Share of picks: Which do you like best?",
        axis="Share of picks",
        caption="Share of picks.",
    )
    for drawing in drawings(shares):
        assert drawing.axis.text == "Share of picks, %"
        assert [tick.text for tick in drawing.ticks] == ["30", "40", "50", "60", "70"]
    assert "People 50 % (30 % to 70 %)" in shares.label.replace("\N{NO-BREAK SPACE}", " ")
    assert drawn(PlotRow("Here", (Mark("person", "People", 0.4),)))[0].axis.text == "Win rate"


@pytest.mark.parametrize("judges", [("Cedar",), ("Cedar", "Elm" * 30)])
@pytest.mark.parametrize("word", ["Here", "unabridged " * 12])
def test_no_text_leaves_the_picture(word, judges):
    """Widths are those of a wide font: 7 pixels a letter at 12 pixels, 7.6 at 13."""
    marks = tuple(Mark("judge", judge, 0.1, -0.2, 0.8) for judge in judges)
    shown = dot_plot(
        [PlotRow(word, marks)], what=f"Difference {word}", caption="", form=decimal, hints=(word, word)
    )
    for drawing in drawings(shown):
        for text in (*drawing.ticks, drawing.axis, *drawing.hints):
            width = len(text.text) * 7
            left = float(text.x) - width * {"start": 0, "middle": 0.5, "end": 1}[text.anchor]
            assert left >= 0
            assert left + width <= drawing.width
            assert float(text.y) <= drawing.height
        for line in drawing.lines:
            assert len(line.label) * 7.6 <= drawing.width
            assert all(len(dot.name) * 7 <= float(dot.x1) for dot in line.dots)
