"""Fleiss' kappa of every question that is answered with labels."""

from analytics.figures.coefficient_figure import OF_LABELS, CoefficientFigure
from analytics.statistics.agreement.coefficients import FleissKappa, fleiss_kappa


class FleissKappaFigure(CoefficientFigure[FleissKappa]):
    place = 45
    coefficient = fleiss_kappa
    name = "Fleiss' \N{GREEK SMALL LETTER KAPPA}"
    definition = f"Fleiss' kappa {OF_LABELS}"
    method = (
        "Fleiss' kappa is computed of however many raters a unit has; units that only one rater rated count "
        "towards agreement by chance only."
    )


FIGURE = FleissKappaFigure()
