"""Measures and judges side by side as scores of an overall rating: their means by system, and their correlation."""

from collections.abc import Iterator

from analytics.display.blocks import Block
from analytics.display.numbers import ended
from analytics.display.tables import DASH, Builder, Table, TableCell, columns, head, words
from analytics.figures.aspect_figure import is_overall
from analytics.figures.figure import Record, StudyFigure
from analytics.figures.headings import HEADINGS
from analytics.figures.judges.weighted_aspects import WAYS
from analytics.figures.report_view import ReportView

MEASURES, MEANS = "judges/measures", "judges/measure_means"
RATED, COMPARED, WEIGHTED = "ratings/scales", "judges/ratings_vs_people", "judges/weighted_aspects"
LATER = f"Judges are added once the figures of the section {HEADINGS['judges'].title} are computed."


class ScoresFigure(StudyFigure):
    heading = "aspects"
    place = 40
    beside = (RATED, COMPARED, WEIGHTED, MEASURES, MEANS)
    definition = (
        "Measures and judges side by side as scores of an overall rating: mean by system, and Pearson's "
        "correlation with people's."
    )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        """LFQA Table 1."""
        for question in view.judged:
            # Of scales alone: an overall that is a choice between answers has no mean.
            if question["form"] != "rated" or not is_overall(question):
                continue
            found = _table(view, question)
            if len(found.rows) > (0 if _waits(view, question) else 1):
                yield Block(f"Scores beside people's {question['prompt']}", tables=(found,), folded=True)


FIGURE = ScoresFigure()


def _table(view: ReportView, question: Record) -> Table:
    """People's own ratings first, then measures, then what judges gave."""
    systems = list(view.systems)
    build = Builder(
        ended(
            f"Mean of each score by system, and Pearson's correlation with people's mean {question['prompt']}"
        ),
        columns(["Score", "By", *(view.systems[key] for key in systems), "Pearson", "n"], names=2),
        foot=LATER if _waits(view, question) else "",
    )
    people = next((group for group in question["groups"] if group["kind"] == "person"), None)
    if people is None:
        return build.build()
    seen: list[tuple[str, str]] = []

    def add(name: str, by: str, means: Record, pearson: Record | None) -> None:
        if (name, by) in seen:
            return
        seen.append((name, by))
        cells = [build.coefficient(means[key]) if key in means else TableCell(DASH) for key in systems]
        last = (words(""), words("")) if pearson is None else (build.coefficient(pearson), build.n(pearson))
        build.add(head(name), words(by), *cells, *last)

    add(question["prompt"], people["label"], _by_system(people[RATED]), None)
    means = {
        (each["rater"], each["measure"]): _by_system(each)
        for record in view.records_of(MEANS)
        for each in record["measures"]
    }
    for each in people.get(MEASURES, {"measures": ()})["measures"]:
        add(each["label"], each["judge"], means.get((each["rater"], each["measure"]), {}), each["pearson"])
    for group in question["groups"]:
        if group is not people and COMPARED in group and RATED in group:
            add(question["prompt"], group["label"], _by_system(group[RATED]), group[COMPARED]["pearson"])
        for way in group.get(WEIGHTED, {"ways": ()})["ways"]:
            if way["way"] != "direct":
                by = ", ".join(group[WEIGHTED]["members"])
                add(f"From aspects, {WAYS[way['way']]}", by, _by_system(way), way["pearson"])
    return build.build()


def _waits(view: ReportView, question: Record) -> bool:
    """True of a large study with judges, which are not compared with people yet."""
    judged = any(group["kind"] != "person" and RATED in group for group in question["groups"])
    return judged and not {COMPARED, WEIGHTED}.isdisjoint(view.report.get("deferred", ()))


def _by_system(record: Record) -> Record:
    return {each["system"]: each["mean"] for each in record["by_system"]}
