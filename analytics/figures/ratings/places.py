"""Ratings by place on the screen: whether what was shown first is rated differently from what was shown last."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.tables import P_COLUMNS, Builder, Table, columns, head
from analytics.figures.families import FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput
from analytics.figures.report_view import ReportView, tag_of
from analytics.statistics.ratings.places import PlaceMeans, place_means
from evaluation.protocols import Over, QuestionSpec


class RatingPlacesFigure(Figure[PlaceMeans]):
    heading = "bias"
    place = 60
    deferred_as = "ratings by place on the screen"
    beside = ("preferences/picked_places",)
    definition = (
        "Ratings of responses by their place on the screen: the mean at each place, and its difference from the same "
        "raters' means on the items, with a test."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.over in (
            Over.RESPONSE,
            Over.FOLLOW_UP_RESPONSE,
            Over.TURN_RESPONSE,
        )

    def compute(self, given: FigureInput) -> PlaceMeans | None:
        """None where the order is not known, or never more than one response was shown."""
        assert isinstance(given, AnswerInput)
        found = place_means(
            given.values,
            given.answers.shown,
            within=given.ends,
            resample=given.resample("places"),
            tests=given.tests("places", given.items.system.shape[1]),
        )
        return found if len(found.places) > 1 else None

    def tests(self, record: PlaceMeans) -> Iterator[FamilyTest]:
        for each in record.places:
            if each.test is not None:
                yield FamilyTest("place on the screen", each.test)

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            lead = view.lead(question)
            for group in view.lead_first(question):
                found = self.of(group)
                yield Block(
                    f"{question.prompt}: {view.title_for(group, 'Place on the screen')}",
                    tables=(_means(found),),
                    plot=score_plot(
                        [(f"{each.place + 1}.", [(group, each.difference)]) for each in found.places],
                        what=f"Rating by place less the rater's mean: {question.prompt}",
                        axis="Rating less the rater's mean on the item",
                        caption="Ratings at each place on the screen less the same rater's mean on the item.",
                    )
                    if group is lead
                    else None,
                    folded=True,
                    tag=tag_of(group),
                )


FIGURE = RatingPlacesFigure()


def _means(found: PlaceMeans) -> Table:
    left_out = "; ".join(f"{part.n:,} {part.reason}" for part in found.left_out)
    build = Builder(
        "Mean rating of responses by their place on the screen, and its difference from the mean that the same rater "
        "gave on the item. p: sign-flip test of no difference, over queries.",
        columns(["Place", "Mean", "Difference", *P_COLUMNS, "n"]),
        foot=f"Not included: {left_out}." if left_out else "",
    )
    for each in found.places:
        build.add(
            head(f"{each.place + 1}."),
            build.coefficient(each.mean),
            build.coefficient(each.difference),
            *build.tested(each.test),
            build.n(each.mean),
        )
    return build.build()
