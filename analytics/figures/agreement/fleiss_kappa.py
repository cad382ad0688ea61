"""Fleiss' kappa of every question that is answered with labels."""

from collections.abc import Iterable

from analytics.figures.coefficient_figure import CoefficientFigure
from analytics.figures.report_view import ReportView
from analytics.statistics.agreement.fleiss_kappa import FleissKappa, fleiss_kappa


class FleissKappaFigure(CoefficientFigure[FleissKappa]):
    place = 45
    coefficient = staticmethod(fleiss_kappa)
    name = "Fleiss' \N{GREEK SMALL LETTER KAPPA}"
    field = "kappa"
    definition = (
        "Fleiss' kappa of preferences, choices, checklists and tags, with observed and chance agreement."
    )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Fleiss' kappa is computed of however many raters a unit has; units that only one rater rated count "
            "towards agreement by chance only."
        )


FIGURE = FleissKappaFigure()
