"""Judges that give probabilities: the Brier score, and how often what they predict comes true."""

from collections.abc import Iterable, Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import percent, score
from analytics.display.tables import Builder, columns, head
from analytics.figures.beside_people import TITLE, is_single_judge
from analytics.figures.figure import Figure
from analytics.figures.figure_input import PAIRS, FigureInput, PairInput
from analytics.figures.report_view import PairView, ReportView, group_head
from analytics.statistics.core.tidy import SECOND
from analytics.statistics.judges.calibration import Calibration, calibration
from analytics.statistics.preferences.win_rates import item_scores
from evaluation.protocols import QuestionSpec


class CalibrationFigure(Figure[Calibration]):
    heading = "judges"
    place = 18
    deferred_as = "calibration of judges"
    stops_with = ("win_rate",)
    beside_people = True
    definition = (
        "Calibration of judges that give probabilities: the Brier score against people's mean score of the second "
        "response, beside that of always predicting people's mean, the expected calibration error, and what came true "
        "of the probabilities in ten bins."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == PAIRS

    def is_of(self, given: FigureInput) -> bool:
        assert isinstance(given, PairInput)
        # Grades are not among them.
        return is_single_judge(given) and bool(np.isfinite(given.group.judgments.number).any())

    def compute(self, given: FigureInput) -> Calibration:
        assert isinstance(given, PairInput)
        assert given.people is not None
        judgments, items = given.group.judgments, given.items
        predicted = np.full(len(items), np.nan)
        predicted[judgments.item] = judgments.number
        observed = item_scores(given.people.group.judgments, len(items))[:, SECOND]
        return calibration(predicted, observed, items.query, resample=given.resample("calibration"))

    def title(self, view: ReportView) -> str:
        return TITLE

    def blocks(self, view: ReportView) -> Iterable[Block]:
        return view.per_pair(self._of_pair)

    def _of_pair(self, view: PairView) -> Iterator[Block]:
        for group in (each for each in view.judging if self.is_in(each)):
            found = self.of(group)
            whole = Builder(
                "Brier score of the probability that the second response is better, against people's mean score of it "
                "(0 is perfect); that of always predicting people's mean; and the mean distance of predicted and "
                "observed.",
                columns(["Judge", "Brier score", "Always the mean", "Calibration error", "n"]),
            )
            whole.add(
                group_head(group),
                whole.figure(found.brier, score),
                whole.number(found.base, score, found.brier.undefined),
                whole.number(found.error, score, found.brier.undefined),
                whole.n(found.brier),
            )
            curve = Builder(
                "Reliability: of the items whose probabilities lie in a bin, the mean probability and people's mean "
                "score of the second response, in percent.",
                columns(["Probabilities", "Predicted", "Observed", "n"]),
            )
            for each in found.bins:
                curve.add(
                    head(f"{percent(each.low)} to {percent(each.high)}"),
                    curve.number(each.predicted, percent),
                    curve.share(each.observed),
                    curve.n(each.observed),
                )
            yield Block(
                f"Calibration of {group.label}",
                tables=(whole.build(), curve.build(compact=True)),
                folded=True,
            )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "A judge's probabilities that the second response is better are held against people's mean score of it "
            "(a tie is one half): the Brier score is the mean squared distance, and the calibration error the mean "
            "distance of both means over ten bins of equal width."
        )


FIGURE = CalibrationFigure()
