"""Gwet's AC1 of every question that is answered with labels."""

from analytics.figures.coefficient_figure import OF_LABELS, CoefficientFigure
from analytics.statistics.agreement.coefficients import GwetAC1, gwet_ac1


class GwetAC1Figure(CoefficientFigure[GwetAC1]):
    place = 40
    coefficient = gwet_ac1
    name = "Gwet's AC\N{SUBSCRIPT ONE}"
    foot = f"Where nearly all answers are the same, {name} stays close to the observed agreement and alpha does not."
    definition = f"Gwet's AC1 {OF_LABELS}"
    method = (
        "Gwet's AC1 is computed over all labels that a question offers; units that only one rater rated "
        "count towards agreement by chance only."
    )


FIGURE = GwetAC1Figure()
