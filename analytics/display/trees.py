"""Decision trees, a row per node: the decision at the left, where it leads at the right."""

from collections.abc import Iterator
from dataclasses import dataclass

from analytics.display.captioned import Captioned
from analytics.display.group_plots import short_percent
from analytics.display.pictures import WIDTHS, Box, Line, LineKind, Picture

INDENT = 20.0
ROW, STACKED_ROW = 30.0, 46.0  # from one node to the next; on a phone a node has two lines
TOP = 30.0
BAR_HEIGHT = 9.0
BAR_START, BAR_WIDTH = 296.0, 120.0
NARROW_BAR = 90.0
AFTER = 8.0  # from a bar to its words


@dataclass(frozen=True)
class Node:
    """Of `n` ratings that arrive here, the `share` is at `level`; `depth` decisions lie above.

    The last of these has the `aspect` within a `limit`, such as "> 2.5"; the root has none, and is called so.
    """

    depth: int
    aspect: str
    limit: str
    level: str
    share: float
    n: int

    @property
    def decision(self) -> str:
        return f"{self.aspect} {self.limit}".strip()

    @property
    def outcome(self) -> str:
        return f"{self.level}: {short_percent(self.share)} of {self.n:,}"


@dataclass(frozen=True)
class TreePlot(Captioned):
    """A tree's nodes from the root on, each before those below it."""

    nodes: tuple[Node, ...]

    @property
    def label(self) -> str:
        """Everything that it shows, as it is spoken: each node with all decisions that lead there."""
        return f"{self.what}. {'; '.join(self._paths())}."

    def _paths(self) -> Iterator[str]:
        path: list[str] = []
        for node in self.nodes:
            path = [*path[: node.depth], node.decision]
            yield f"{' and '.join(path[1:] or path)}: {node.outcome}"

    def picture(self, form: str) -> Picture:
        """Its layout for a width."""
        found = Picture(form, WIDTHS[form])
        stacked = form == "narrow"
        row = STACKED_ROW if stacked else ROW
        found.height = int(TOP + row * (len(self.nodes) - 1) + (30 if stacked else 14))
        above: list[float] = []
        for at, node in enumerate(self.nodes):
            x, y = INDENT * node.depth, TOP + row * at
            if node.depth:
                # Down from the node above, and across to this one.
                trunk = x - INDENT + 6
                found.lines.append(Line(trunk, above[node.depth - 1] + 7, trunk, y - 4, LineKind.BRANCH))
                found.lines.append(Line(trunk, y - 4, x - 3, y - 4, LineKind.BRANCH))
            above[node.depth :] = [y]
            self._draw(found, node, x, y, stacked)
        return found

    def _draw(self, found: Picture, node: Node, x: float, y: float, stacked: bool) -> None:
        start, width, line = (x, NARROW_BAR, y + 17) if stacked else (BAR_START, BAR_WIDTH, y)
        # Beside the bar a decision ends where the bar begins. The limit tells a node from its sibling.
        until = None if stacked else BAR_START - AFTER
        found.write(x, y, node.aspect, quiet=False, until=until, after=f" {node.limit}" if node.limit else "")
        for part, filled in ((1.0, False), (node.share, True)):
            box = Box(start, line - BAR_HEIGHT, round(width * part, 1), BAR_HEIGHT, node.outcome, filled)
            found.boxes.append(box)
        found.write(start + width + AFTER, line, node.outcome)
