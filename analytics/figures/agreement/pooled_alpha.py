"""Krippendorff's alpha of an overall rating and its aspects all at once, beside the one of each question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.tables import Builder, columns, words
from analytics.figures.aspect_figure import overall_aspects
from analytics.figures.figure import Figure
from analytics.figures.figure_input import UNITS, AnswerInput, FigureInput, points_of
from analytics.figures.needs import DerivedJudges
from analytics.figures.report_view import ReportView, group_head
from analytics.statistics.agreement.alpha import Level
from analytics.statistics.agreement.value_alpha import alpha_of_pooled
from analytics.statistics.core.estimates import Estimate
from evaluation.protocols import Kind, QuestionSpec

LEVELS: tuple[Level, ...] = ("interval", "ordinal")
CAUTION = (
    "Where scales differ, such as \N{MINUS SIGN}1 to 1 and 0 to 3, most of the variation is between questions, which "
    "all raters see alike: such an alpha is no measure of agreement on any of them."
)


@dataclass(frozen=True)
class AlphaAtLevel:
    """Krippendorff's alpha at a level of measurement."""

    level: Level
    alpha: Estimate


@dataclass(frozen=True)
class PooledAlpha:
    """Alpha of the scales named, the overall one first, pooled."""

    questions: tuple[str, ...]
    levels: tuple[AlphaAtLevel, ...]


class PooledAlphaFigure(Figure[PooledAlpha]):
    needs = (DerivedJudges,)
    heading = "agreement"
    place = 21
    deferred_as = "agreement over all scales at once"
    definition = (
        "Krippendorff's alpha of an overall rating and its aspects all at once, pooled as they are, at the interval "
        "and the ordinal level; labelled as pooled, since scales that differ raise it."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def is_of(self, given: FigureInput) -> bool:
        """Of an overall rating by several raters."""
        assert isinstance(given, AnswerInput)
        return given.has_several_raters and bool(overall_aspects(given, self.need(given, DerivedJudges)))

    def compute(self, given: FigureInput) -> PooledAlpha | None:
        """LFQA section 3.3 and appendix B."""
        assert isinstance(given, AnswerInput)
        answered = [
            each
            for each in (given.question, *overall_aspects(given, self.need(given, DerivedJudges)))
            if each.key in given.group.answers and len(given.group.answers[each.key].value)
        ]
        if given.question not in answered or len(answered) < 2:
            return None
        parts = [given.group.answers[each.key].as_values() for each in answered]
        points = sorted({point for each in answered for point in points_of(each)})
        levels = (
            AlphaAtLevel(
                level,
                alpha_of_pooled(
                    parts,
                    level=level,
                    points=points,
                    resample=given.resample(f"pooled {level}"),
                    unit=f"ratings of {UNITS[given.question.over]}",
                ),
            )
            for level in LEVELS
        )
        return PooledAlpha(tuple(each.key for each in answered), tuple(levels))

    def blocks(self, view: ReportView) -> Iterator[Block]:
        build = Builder(
            "Krippendorff's \N{GREEK SMALL LETTER ALPHA} of several scales at once, pooled: each rated thing on each "
            "scale is a unit of its own.",
            columns(["Raters", "Overall rating and its aspects", "Interval", "Ordinal", "n"], names=2),
            foot=CAUTION,
        )
        prompts = {question.key: question.prompt for question in view.questions}
        for group in view.groups_of_several:
            for _, records in view.answered(view.asked(self.key), group):
                found = self.of(records)
                estimates = [each.alpha for each in found.levels]
                build.add(
                    group_head(group),
                    words(", ".join(prompts[key] for key in found.questions)),
                    *(build.coefficient(each) for each in estimates),
                    build.n(estimates[0]),
                )
        if build.rows:
            yield Block("Agreement over all scales at once, pooled", tables=(build.build(),), folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield "Alpha over several scales at once pools their ratings as they are, and is not comparable with others."


FIGURE = PooledAlphaFigure()
