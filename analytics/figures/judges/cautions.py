"""Cautions to be read before the figures of a judge."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.figures.figure import StudyFigure
from analytics.figures.report_view import ReportView


class CautionsFigure(StudyFigure):
    heading = "judges"
    place = 0
    definition = (
        "What to know before reading a judge's figures: that it saw the reference, or that none of its replies "
        "could be read."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        sentences = tuple(sentence for judge in view.judges for sentence in judge["caveats"])
        if sentences:
            yield Block(text=sentences, notice=True)


FIGURE = CautionsFigure()
