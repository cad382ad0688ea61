"""The common part of figures of ratings, choices and checklists: their record, its tests, and tables of means."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from analytics.display.blocks import Block
from analytics.display.numbers import decimal, in_percent, mean_with_interval, p_value
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head
from analytics.figures import where
from analytics.figures.document import FigureFinding
from analytics.figures.families import CLAIMS, FamilyTest
from analytics.figures.figure import Figure
from analytics.figures.figure_input import AnswerInput, FigureInput, several
from analytics.figures.groups import GroupView, QuestionView
from analytics.figures.needs import SystemKinds
from analytics.figures.quantities import Quantity
from analytics.figures.rating_records import Ratings, SystemRatings, ValueShare, ratings, system_beyond_chance
from analytics.figures.report_view import (
    SYSTEM_KINDS,
    ReportView,
    anchor_of,
    legend_of,
    number,
    plain_share,
    tag_of,
)
from analytics.figures.strip import estimate_fact, leading_fact
from analytics.statistics.core.estimates import Estimate
from analytics.statistics.core.matched import mean_sums
from analytics.statistics.ratings.scales import MeanValue
from evaluation.facts import Fact
from evaluation.protocols import Kind

# The figures whose tests are one family.
RATED = (
    "conditions/attribute_values",
    "ratings/choices",
    "ratings/scales",
    "ratings/tags",
    "ratings/yes_shares",
)
WEIGHTS = "A mean weights every rating equally; it is not the mean of the raters' means."


AnyRatings = TypeVar("AnyRatings", bound=Ratings)


class RatingFigure(Figure[AnyRatings]):
    """A figure whose record has mean, distribution, and both by system and by what else tells apart."""

    needs = (SystemKinds,)
    place = 10
    finding_place = 20
    beside = RATED

    def compute(self, given: FigureInput) -> Any:
        assert isinstance(given, AnswerInput)
        return ratings(given, self.need(given, SystemKinds))

    def quantities(self, given: FigureInput) -> Iterator[Quantity]:
        """The mean over all and by system; of a checklist, the share of yes. Names have none."""
        assert isinstance(given, AnswerInput)
        if given.has_labels:
            return
        values = given.values
        name = "Share of yes" if given.question.kind == Kind.CHECKLIST else "Mean"
        yield Quantity(name, mean_sums(values.value, values.query, unit="ratings", within=given.ends))
        for code, system in several(values.system, given.items.systems):
            own = values.where(values.system == code)
            sums = mean_sums(own.value, own.query, unit="ratings", within=given.ends)
            yield Quantity(name, sums, systems=(system,))

    def tests(self, record: AnyRatings) -> Iterator[FamilyTest]:
        for each in record.best_and_worst:
            yield FamilyTest(CLAIMS, each.test)

    def settle(self, record: AnyRatings) -> Mapping[str, Any]:
        return {f"{end}_system": system_beyond_chance(record, end) for end in ("best", "worst")}

    def findings(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[FigureFinding]:
        """The system that is rated above every other, and the one below; of two systems the first alone."""
        found = self.of(group)
        means = {each.system: each.mean for each in found.by_system if each.mean}
        ends = (("rated", "above", found.best_system), ("rated_last", "below", found.worst_system))
        for kind, how, told in ends:
            if told is None:
                continue
            yield {
                "kind": kind,
                "system": told.system,
                "about": view.system(told.system),
                "heading": f"Rated {how} every other",
                "text": f"Its mean is {mean_with_interval(means[told.system])}; the next, "
                f"{view.system(told.next)}, has {mean_with_interval(means[told.next])}. Tested against each over "
                f"{told.n:,} or more shared queries: at most {p_value(told.p_value)} after correction for "
                f"{told.tests:,} tests.",
                "anchor": anchor_of(question),
            }

    def facts(self, view: ReportView, group: GroupView, question: QuestionView) -> Iterator[Fact]:
        """The highest mean of a system where more is better; otherwise the mean of all, or the share of yes."""
        found, prompt = self.of(group), question.prompt
        if found.mean is None:
            return
        mean = found.mean.mean
        if question.kind == "checklist":
            yield estimate_fact(group, "Share of yes", mean, in_percent, prompt)
            return
        top = question.points[-1].value
        about_systems = question.over != "value" and len(found.by_system) > 1
        if about_systems and question.ideal in (None, top) and question.direction != "lower":
            means = [(each.system, each.mean) for each in found.by_system if each.mean]
            ahead = found.best_system is not None
            yield leading_fact(view, group, "Highest mean", means, decimal, prompt=prompt, ahead=ahead)
            return
        yield estimate_fact(group, "Mean", mean, decimal, prompt)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield WEIGHTS


def rows_of(view: ReportView, found: Sequence[Ratings]) -> Iterator[tuple[str, str, str]]:
    """(label, factor, key) of systems and, where there are several, of kinds of systems."""
    systems = {each.system for figures in found for each in figures.by_system}
    for key, label in view.systems.items():
        if key in systems:
            yield label, "system", key
    for kind in sorted({each.kind for figures in found for each in figures.by_kind}):
        yield SYSTEM_KINDS.get(kind, kind), "kind", kind


def mean_of(figures: object, factor: str, key: str) -> Estimate | None:
    """The mean, of a system, kind, setting or category, in a record that has them by it; None where it has none."""
    parts = getattr(figures, f"by_{factor}")
    found: Estimate | None = next((each.mean for each in parts if getattr(each, factor) == key), None)
    return found


def mean_cell(build: Builder, question: QuestionView, figures: Ratings, factor: str, key: str) -> TableCell:
    found = mean_of(figures, factor, key)
    if found is None:
        return TableCell(DASH)
    system = key if factor == "system" else None
    return where.rated(build.coefficient(found), question, found.n, system=system)


def distribution_table(view: ReportView, question: QuestionView, group: GroupView, figures: Ratings) -> Table:
    """Number of times that each point was given, by system and of all."""
    points = [number(point.number) for point in question.points]
    build = Builder(
        "How often each rating was given, in percent; mean, standard deviation and number of ratings.",
        columns(["System" if figures.by_system else "Ratings", *points, "Mean", "SD", "n"]),
        foot=legend_of(question),
    )
    assert figures.mean is not None
    rows: list[tuple[str | None, tuple[ValueShare, ...], SystemRatings | MeanValue]] = [
        *((each.system, each.distribution, each) for each in figures.by_system),
        (None, figures.distribution, figures.mean),
    ]
    for system, shares, means in rows:
        mean = means.mean
        assert mean is not None
        build.add(
            head("All" if system is None else view.systems[system]),
            *(
                where.rated(plain_share(each.share), question, each.n, system=system, value=each.value)
                for each in shares
            ),
            where.rated(build.coefficient(mean), question, mean.n, system=system),
            deviation(means.standard_deviation),
            where.rated(build.n(mean), question, mean.n, system=system),
            of=where.of(group, system=system),
        )
    return build.build()


def deviation(value: float | None) -> TableCell:
    return TableCell(DASH if value is None else f"{value:.2f}")


def finer(
    view: ReportView, questions: Sequence[QuestionView], figure: type[RatingFigure[Any]]
) -> Iterator[Block]:
    """By setting and by category, of the leading group and of the groups that people are of."""
    for group in (view.leading, *view.parts):
        yield from _finer(view, questions, figure, group)


def _finer(
    view: ReportView, questions: Sequence[QuestionView], figure: type[RatingFigure[Any]], group: GroupView
) -> Iterator[Block]:
    asked = [
        (question, figure.of(found))
        for question, found in view.answered(questions, group)
        if figure.is_in(found)
    ]
    for factor, title in (("arm", "Setting"), ("category", "Category")):
        names = list(
            dict.fromkeys(
                getattr(each, factor) for _, figures in asked for each in getattr(figures, f"by_{factor}")
            )
        )
        if not names:
            continue
        build = Builder(
            f"Mean by {title.lower()}.", columns([title, *(question.prompt for question, _ in asked)])
        )
        for name in names:
            label = view.all_arms.get(name, name) if factor == "arm" else name or "none"
            cells = (mean_cell(build, question, figures, factor, name) for question, figures in asked)
            build.add(head(label), *cells, of=where.of_part(group, factor, name))
        folded = factor == "category" or group is not view.leading
        heading = view.title_for(group, f"By {title.lower()}")
        yield Block(heading, tables=(build.build(),), folded=folded, tag=tag_of(group))
