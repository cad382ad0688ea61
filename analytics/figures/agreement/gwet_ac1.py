"""Gwet's AC1 of every question that is answered with labels."""

from collections.abc import Iterable

from analytics.figures.coefficient_figure import CoefficientFigure
from analytics.figures.report_view import ReportView
from analytics.statistics.agreement.gwet_ac1 import GwetAC1, gwet_ac1


class GwetAC1Figure(CoefficientFigure[GwetAC1]):
    place = 40
    coefficient = staticmethod(gwet_ac1)
    name = "Gwet's AC\N{SUBSCRIPT ONE}"
    field = "ac1"
    foot = f"Where nearly all answers are the same, {name} stays close to the observed agreement and alpha does not."
    definition = (
        "Gwet's AC1 of preferences, choices, checklists and tags, with observed and chance agreement."
    )

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Gwet's AC1 is computed over all labels that a question offers; units that only one rater rated "
            "count towards agreement by chance only."
        )


FIGURE = GwetAC1Figure()
