"""Judgments that count, by rater."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, count, head, words
from analytics.figures import where
from analytics.figures.figure import StudyFigure
from analytics.figures.report_view import ReportView

# More rows than this are in the JSON only, and more than that are opened by who wants them.
MAX_RATERS, MOST_OPEN = 50, 12
KINDS = {"person": "person", "judge": "judge", "simulated": "simulated"}


class JudgmentsFigure(StudyFigure):
    heading = "raters"
    place = 90
    definition = "Judgments that count, by rater."

    def intro(self, view: ReportView) -> str:
        return "Raters are listed by pseudonym, imported ones by the name they were published under."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        found = view.report["raters"]
        beyond = len(found) - MAX_RATERS
        build = Builder(
            "Judgments that count, by rater.",
            columns(["Rater", "Kind", "Judgments"], names=2),
            foot=f"{beyond:,} more raters are in the JSON." if beyond > 0 else "",
        )
        for rater in found[:MAX_RATERS]:
            tag = "simulated" if rater["kind"] == "simulated" else ""
            build.add(
                head(rater["label"]),
                words("" if tag else KINDS[rater["kind"]], tag),
                count(rater["judgments"], "items"),
                of=where.of_rater(rater["rater"]),
            )
        folded = "agreement/kappa" in view.figures or len(found) > MOST_OPEN
        yield Block("Judgments by rater", tables=(build.build(),), folded=folded)


FIGURE = JudgmentsFigure()
