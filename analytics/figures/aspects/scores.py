"""Measures and judges side by side as scores of an overall rating: their means by system, and their correlation."""

from collections.abc import Iterator, Mapping

from analytics.display.blocks import Block
from analytics.display.numbers import ended
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.aspect_figure import is_overall
from analytics.figures.figure import StudyFigure
from analytics.figures.groups import QuestionView
from analytics.figures.headings import HEADINGS
from analytics.figures.judges.measure_means import FIGURE as MEANS
from analytics.figures.judges.measures import MeasuresFigure
from analytics.figures.judges.ratings_vs_people import RatingsVsPeopleFigure
from analytics.figures.judges.weighted_aspects import WAYS, WeightedAspectsFigure
from analytics.figures.rating_records import Ratings
from analytics.figures.ratings.scales import ScalesFigure
from analytics.figures.report_view import ReportView
from analytics.statistics.core.estimates import Estimate

LATER = f"Judges are added once the figures of the section {HEADINGS['judges'].title} are computed."


class ScoresFigure(StudyFigure):
    heading = "aspects"
    place = 40
    beside = (
        ScalesFigure.key,
        RatingsVsPeopleFigure.key,
        WeightedAspectsFigure.key,
        MeasuresFigure.key,
        MEANS.key,
    )
    definition = (
        "Measures and judges side by side as scores of an overall rating: mean by system, and Pearson's "
        "correlation with people's."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        """LFQA Table 1."""
        for question in view.judged:
            # Of scales alone: an overall that is a choice between answers has no mean.
            if question.form != "rated" or not is_overall(question):
                continue
            found = _table(view, question)
            if len(found.rows) > (0 if _waits(view, question) else 1):
                yield Block(f"Scores beside people's {question.prompt}", tables=(found,), folded=True)


FIGURE = ScoresFigure()


def _table(view: ReportView, question: QuestionView) -> Table:
    """People's own ratings first, then measures, then what judges gave."""
    systems = list(view.systems)
    build = Builder(
        ended(
            f"Mean of each score by system, and Pearson's correlation with people's mean {question.prompt}"
        ),
        columns(["Score", "By", *(view.systems[key] for key in systems), "Pearson", "n"], names=2),
        foot=LATER if _waits(view, question) else "",
    )
    people = next((group for group in question.groups if group.kind == "person"), None)
    if people is None:
        return build.build()
    seen: list[tuple[str, str]] = []

    def add(name: str, by: str, means: Mapping[str, Estimate | None], pearson: Estimate | None) -> None:
        if (name, by) in seen:
            return
        seen.append((name, by))
        cells = [
            TableCell(DASH) if (mean := means.get(key)) is None else build.coefficient(mean)
            for key in systems
        ]
        last = (words(""), words("")) if pearson is None else (build.coefficient(pearson), build.n(pearson))
        build.add(head(name), words(by), *cells, *last)

    add(question.prompt, people.label, _by_system(ScalesFigure.of(people)), None)
    means = {
        (each.rater, each.measure): {row.system: row.mean for row in each.by_system}
        for record in MEANS.records(view)
        for each in record.measures
    }
    for measure in MeasuresFigure.of(people).measures if MeasuresFigure.is_in(people) else ():
        own = means.get((measure.rater, measure.measure), {})
        add(measure.label, measure.judge, own, measure.pearson)
    for group in question.groups:
        if group is not people and RatingsVsPeopleFigure.is_in(group) and ScalesFigure.is_in(group):
            compared = RatingsVsPeopleFigure.of(group)
            add(question.prompt, group.label, _by_system(ScalesFigure.of(group)), compared.pearson)
        if WeightedAspectsFigure.is_in(group):
            found = WeightedAspectsFigure.of(group)
            for way in found.ways:
                if way.way != "direct":
                    by_way = {each.system: each.mean for each in way.by_system}
                    add(f"From aspects, {WAYS[way.way]}", ", ".join(found.members), by_way, way.pearson)
    return build.build()


def _waits(view: ReportView, question: QuestionView) -> bool:
    """True of a large study with judges, which are not compared with people yet."""
    judged = any(group.kind != "person" and ScalesFigure.is_in(group) for group in question.groups)
    compared = {RatingsVsPeopleFigure.key, WeightedAspectsFigure.key}
    return judged and not compared.isdisjoint(view.report.get("deferred", ()))


def _by_system(found: Ratings) -> dict[str, Estimate | None]:
    return {each.system: each.mean for each in found.by_system}
