"""The weight of each aspect in the overall rating, how well the weights predict it, and what each aspect adds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analytics.display.blocks import Block
from analytics.display.group_plots import score_plot
from analytics.display.numbers import decimal
from analytics.display.tables import Builder, Table, TableCell, columns, words
from analytics.figures.aspect_figure import AspectFigure, NamedAspect, fully_rated, named_aspects
from analytics.figures.figure_input import AnswerInput
from analytics.figures.groups import GroupView
from analytics.figures.report_view import ReportView, group_head
from analytics.frames.aspects import AspectRatings, best_point, towards_best
from analytics.statistics.aspects.weights import AspectWeights, OverSplits, aspect_weights
from analytics.statistics.core.estimates import TidyDataError
from evaluation.protocols import QuestionSpec

ROWS = (
    ("held_out", "Pearson of fitted weights, held out"),
    ("r_squared", "R\N{SUPERSCRIPT TWO} of fitted weights, held out"),
)


@dataclass(frozen=True)
class OverallWeights:
    """The weights of the aspects, fitted to single ratings by one group; `undefined` says why there is no fit."""

    aspects: tuple[NamedAspect, ...]
    fit: AspectWeights | None
    undefined: str


class WeightsFigure(AspectFigure[OverallWeights]):
    place = 10
    deferred_as = "weights of the aspects"
    definition = (
        "The weight of each aspect's distance from its ideal in the overall rating, Pearson's correlation of "
        "weighted and equal-weight scores with it, held out by query over repeated splits, and what each aspect adds."
    )

    def record(
        self, given: AnswerInput, aspects: Sequence[QuestionSpec], rated: AspectRatings
    ) -> OverallWeights:
        """LFQA section 4.1."""
        rated, sign = fully_rated(rated), towards_best(given.question)
        try:
            fit = aspect_weights(
                rated.distances,
                sign * rated.overall,
                rated.query,
                ideal=sign * best_point(given.question),
                seed=given.terms.seed,
                resample=given.resample("aspect weights"),
            )
        except TidyDataError as reason:
            return OverallWeights(named_aspects(aspects), None, str(reason))
        return OverallWeights(named_aspects(aspects), fit, "")

    def intro(self, view: ReportView) -> str:
        return "How ratings of single aspects go together with the overall rating of the same things."

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.asked(self.key):
            groups = [(group, self.of(group)) for group in view.lead_first(question)]
            prompt = question.prompt
            plot = score_plot(
                [
                    (
                        aspect.prompt,
                        [(group, found.fit.weights[at]) for group, found in groups[:1] if found.fit],
                    )
                    for at, aspect in enumerate(groups[0][1].aspects)
                ]
                if groups[0][1].fit
                else [],
                what=f"Weights in {prompt}",
                axis="Weight",
                unit="points",
                caption="Points between an aspect's far end and its ideal.",
            )
            tables = (_weights(groups, prompt), _held_out(groups, prompt), _added(groups, prompt))
            yield Block(f"Weights of the aspects in {prompt}", tables=tables[:1], plot=plot)
            yield Block(f"{prompt} predicted from the aspects", tables=tables[1:], folded=True)

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "Weights of aspects are fitted by least squares without intercept on single ratings: the overall rating's "
            "distance from its ideal against each aspect's, which is a share of the longest one on its scale. Held out "
            "is a fifth of the queries, over 20 random splits; the first is that of the study's seed."
        )


FIGURE = WeightsFigure()
Groups = Sequence[tuple[GroupView, OverallWeights]]


def _weights(groups: Groups, prompt: str) -> Table:
    build = Builder(
        f"Points of {prompt} lost between an aspect's ideal and its far end.",
        columns(["Raters", *(each.prompt for each in groups[0][1].aspects), "n"]),
    )
    for group, found in groups:
        fit = found.fit
        cells = [
            build.coefficient(fit.weights[at]) if fit else build.number(None, decimal, found.undefined)
            for at, _ in enumerate(found.aspects)
        ]
        last = build.n(fit.weights[0]) if fit else words("")
        build.add(group_head(group), *cells, last)
    return build.build()


def _held_out(groups: Groups, prompt: str) -> Table:
    build = Builder(
        f"Scores from the aspects compared with the {prompt} that the same rater gave.",
        columns(["Raters", "Figure", "Value", "First split", "SD", "Least", "Greatest", "Splits"], names=2),
        foot="Cross-fitted: by weights that were fitted on the other four of five folds of queries. Held out: mean "
        "over the splits.",
    )
    for group, found in groups:
        if not found.fit:
            continue
        name, blank = group_head(group), words("")
        for key, label in (
            ("weighted", "Pearson of fitted weights, cross-fitted"),
            ("equal", "Pearson of equal weights"),
        ):
            build.add(name, words(label), build.coefficient(getattr(found.fit, key)), *([blank] * 5))
        for key, label in ROWS:
            build.add(name, words(label), *_over_splits(build, getattr(found.fit, key)))
    return build.build()


def _over_splits(build: Builder, splits: OverSplits) -> list[TableCell]:
    names = ("mean", "first", "standard_deviation", "least", "greatest")
    return [*(build.number(getattr(splits, name), decimal) for name in names), words(str(splits.n))]


def _added(groups: Groups, prompt: str) -> Table:
    build = Builder(
        f"Held-out R\N{SUPERSCRIPT TWO} of {prompt}: of an aspect by itself, and gained by adding it to all others.",
        columns(["Raters", "Aspect", "Alone", "SD", "Gain", "SD"], names=2),
        foot="Means and standard deviations over the splits.",
    )
    for group, found in groups:
        for aspect, each in zip(found.aspects, found.fit.added if found.fit else (), strict=False):
            build.add(
                group_head(group),
                words(aspect.prompt),
                *(
                    build.number(getattr(getattr(each, part), name), decimal)
                    for part in ("alone", "gain")
                    for name in ("mean", "standard_deviation")
                ),
            )
    return build.build()
