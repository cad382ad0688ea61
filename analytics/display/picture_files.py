"""A picture on a sheet of its own, in the letters and colours of every plot's file."""

from typing import TYPE_CHECKING

from analytics.display.pictures import LineKind, Picture
from analytics.display.sheets import ACCENT, INK, LINE, QUIET, SIZE, SMALL, WIDTH, font_families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN = 8.0  # around the picture, in its own pixels


def picture_figure(picture: Picture) -> "Figure":
    """The picture as wide as a text column, in points."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    figure = Figure(dpi=72, facecolor="white")
    width, height = picture.width + 2 * MARGIN, picture.height + MARGIN
    figure.set_size_inches(WIDTH / 72, WIDTH / 72 * height / width)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-MARGIN, picture.width + MARGIN), ylim=(picture.height, -MARGIN))
    axes.set_axis_off()
    for line in picture.lines:
        above = line.kind is LineKind.REFERENCE
        (drawn,) = axes.plot(
            [line.x1, line.x2], [line.y1, line.y2], color=LINE if line.kind is LineKind.GRID else QUIET,
            linewidth=1 if above else 0.75, linestyle=(0, (1, 2)) if above else "solid", zorder=3 if above else 1,
        )  # fmt: skip
        if above:
            # Seen before bars, too.
            drawn.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    for box in picture.boxes:
        colours = (ACCENT, "none") if box.filled else ("none", QUIET)
        shape = Rectangle(
            (box.x, box.y), box.width, box.height, facecolor=colours[0], edgecolor=colours[1], linewidth=0.75
        )
        axes.add_patch(shape)
    families = font_families(each.text for each in picture.labels)
    for each in picture.labels:
        axes.text(
            each.x, each.y, each.text, fontsize=SMALL if each.quiet else SIZE, color=QUIET if each.quiet else INK,
            fontfamily=families, ha={"start": "left", "end": "right", "middle": "center"}[each.anchor],
            va="baseline", parse_math=False, zorder=4,
        )  # fmt: skip
    return figure
