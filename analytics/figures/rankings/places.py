"""Ranks by place on the screen: whether what was shown first was ranked first."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import P_COLUMNS, Builder, Table, columns, head
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.rankings.rankings import PlaceBias, place_bias
from evaluation.protocols import QuestionSpec

UNKNOWN_ORDER = "Undefined. The order in which the responses were shown is not known."


class PlacesFigure(Figure[PlaceBias]):
    heading = "rankings"
    place = 20
    definition = "Ranks by a response's place on the screen, with a test of each place against chance."

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "ranking"

    def compute(self, given: FigureInput) -> PlaceBias:
        assert isinstance(given, AnswerInput)
        tests = given.tests("places", given.items.system.shape[1])
        return place_bias(given.answers.as_ranks(), resample=given.resample("places"), tests=tests)

    def tests(self, record: PlaceBias) -> Iterator[FamilyTest]:
        for each in record.places:
            if each.test is not None:
                yield FamilyTest("rank by place on the screen", each.test)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead = view.lead(question)
            for group in view.lead_first(question):
                found, heading = self.of(group), view.title_for(group, "Place on the screen")
                folded, tag = group is not lead, tag_of(group)
                if found.places:
                    yield Block(heading, tables=(_places(found),), folded=folded, tag=tag)
                else:
                    yield Block(heading, (UNKNOWN_ORDER,), folded=folded, tag=tag)


FIGURE = PlacesFigure()


def _places(found: PlaceBias) -> Table:
    left_out = "; ".join(f"{part.n:,} {part.reason}" for part in found.left_out)
    build = Builder(
        "Responses by their place on the screen: mean rank minus the mean rank by chance (below 0: favoured), "
        "and share of first places with the share by chance, in percent. p: sign-flip test of the mean rank against "
        "chance, over queries.",
        columns(["Place", "Minus chance", *P_COLUMNS, "First places", "By chance", "n"]),
        foot=f"Not included: {left_out}." if left_out else "",
    )
    for each in found.places:
        build.add(
            head(f"{each.place + 1}."),
            build.coefficient(each.bias),
            *build.tested(each.test),
            build.share(each.first),
            build.number(each.chance, percent),
            build.n(each.bias),
        )
    return build.build()
