"""Picks by place on the screen: whether what was shown first is picked more often."""

from collections.abc import Iterator

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import P_COLUMNS, Builder, Table, columns, head
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.ratings.places import PickedPlaces, picked_places
from evaluation.protocols import QuestionSpec


class PickedPlacesFigure(Figure[PickedPlaces]):
    heading = "bias"
    place = 50
    deferred_as = "picks by place on the screen"
    beside = ("ratings/places",)
    definition = (
        "Best picks by place on the screen: the share that went to what was shown there, beside chance, with a "
        "test of each place."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "picks"

    def compute(self, given: FigureInput) -> PickedPlaces | None:
        """None where the order in which responses were shown is not known."""
        assert isinstance(given, AnswerInput)
        offered = np.count_nonzero(given.items.system >= 0, axis=1)[given.answers.item]
        found = picked_places(
            given.answers.as_picks(),
            given.answers.shown,
            offered,
            resample=given.resample("places"),
            tests=given.tests("places", given.items.system.shape[1]),
        )
        return found if found.places else None

    def tests(self, record: PickedPlaces) -> Iterator[FamilyTest]:
        for each in record.places:
            if each.test is not None:
                yield FamilyTest("place on the screen", each.test)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            for group in view.lead_first(question):
                heading = f"{question.prompt}: {view.title_for(group, 'Place on the screen')}"
                yield Block(heading, tables=(_shares(self.of(group)),), folded=True, tag=tag_of(group))


FIGURE = PickedPlacesFigure()


def _shares(found: PickedPlaces) -> Table:
    left_out = "; ".join(f"{part.n:,} {part.reason}" for part in found.left_out)
    build = Builder(
        "Share of picks that went to the response shown at each place, and the share by chance, in percent. p: "
        "sign-flip test against that share, over queries.",
        columns(["Place", "Picked", "By chance", *P_COLUMNS, "n"]),
        foot=f"Not included: {left_out}." if left_out else "",
    )
    for each in found.places:
        build.add(
            head(f"{each.place + 1}."),
            build.share(each.share),
            build.number(each.chance, percent),
            *build.tested(each.test),
            build.n(each.share),
        )
    return build.build()
