"""The overall rating from aspects beside the one that a judge gave directly: how each goes with people's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from analytics.display.blocks import Block
from analytics.display.numbers import percent
from analytics.display.tables import DASH, Builder, TableCell, columns, head, words
from analytics.figures.aspect_figure import overall_aspects
from analytics.figures.figure import Figure
from analytics.figures.figure_input import UNITS, AnswerInput, FigureInput
from analytics.figures.groups import QuestionView
from analytics.figures.needs import DerivedJudges
from analytics.figures.report_view import ReportView
from analytics.frames.arrays import AnswersFrame, response_places
from analytics.frames.aspects import (
    AspectRatings,
    aspect_ratings,
    fit_weights,
    folds_of_queries,
    towards_best,
    weight_problem,
    weighted_scores,
)
from analytics.frames.measures import picked_beside_others, picks_of_people
from analytics.statistics.core.estimates import Estimate, TidyDataError
from analytics.statistics.core.resampling import mean_estimate, mean_within
from analytics.statistics.core.tidy import Floats
from analytics.statistics.judges.measures import associate, preference_accuracy
from evaluation.models import Rater
from evaluation.protocols import Kind, Over, QuestionSpec

KEY = "judges/weighted_aspects"
KIND = "weighted"
WAYS = {
    "direct": "asked directly",
    "fitted": "weights fitted on people, cross-fitted",
    "fixed": "fixed weights",
    "equal": "equal weights",
}


@dataclass(frozen=True, eq=False)
class PeoplesWeights:
    """The weights of aspects (k,) that people's ratings determine, those without each of the `folds` (f, k), and the
    fold of each query that they were fitted on."""

    weights: Floats
    by_fold: Floats
    folds: Mapping[int, int]


# Of each frame, by the key of an overall rating, what people said, and by those of its aspects, too, their weights:
# the same beside every judge, and seconds' work for a million ratings. The ratings by aspect, millions of rows, are
# let go.
_overall_by_frame: WeakKeyDictionary[AnswersFrame, dict[str, AspectRatings]] = WeakKeyDictionary()
_weights_by_frame: WeakKeyDictionary[AnswersFrame, dict[tuple[str, ...], PeoplesWeights | None]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True, eq=False)
class Way:
    """One way to the overall rating, with a score (n,) for each row of the member's ratings, nan without one.

    `weights` are in the order of the aspects; of fitted ones those of all folds together, None where it was asked
    directly.
    """

    name: str
    scores: Floats
    weights: Sequence[float] | None


@dataclass(frozen=True)
class WayOfSystem:
    """The mean score of a system."""

    system: str
    mean: Estimate


@dataclass(frozen=True)
class WayToOverall:
    """Scores by one way, beside people's mean overall rating, and the share of people's picks that it rates above
    another response: None where they pick none.

    `weights` are points, in the order of the aspects, of fitted ones those of all folds together, though scores go by
    those of the other folds; None of the direct rating.
    """

    way: str
    weights: tuple[float, ...] | None
    by_system: tuple[WayOfSystem, ...]
    pearson: Estimate
    spearman: Estimate
    accuracy: Estimate | None


@dataclass(frozen=True)
class WaysToOverall:
    """Ways to the overall rating, from what the members of a judge of weighted aspects said."""

    members: tuple[str, ...]
    aspects: tuple[str, ...]
    ways: tuple[WayToOverall, ...]


class WeightedAspectsFigure(Figure[WaysToOverall]):
    needs = (DerivedJudges,)
    heading = "judges"
    place = 25
    deferred_as = "judges by weighted aspects"
    definition = (
        "The overall rating computed from aspects with fitted (cross-fitted), fixed and equal weights, compared "
        "with the one asked for directly: correlation with people's, and how often the response that people "
        "picked has the higher one."
    )

    def applies(self, question: QuestionSpec, form: str) -> bool:
        return form == "rated" and question.kind == Kind.SCALE

    def is_of(self, given: FigureInput) -> bool:
        assert isinstance(given, AnswerInput)
        return given.people is not None and bool(_aspects(given, self.need(given, DerivedJudges))[0])

    def compute(self, given: FigureInput) -> WaysToOverall | None:
        """Every way to the overall rating from what the members of a judge of weighted aspects said, or from what
        any judge that rated both said itself (LFQA section 5.3, there LLM and W-LLM)."""
        assert isinstance(given, AnswerInput)
        derived = self.need(given, DerivedJudges)
        frame, overall, about = given.frame, given.question, derived.about(given.group_key)
        aspects, keys = _aspects(given, derived)
        rated = aspect_ratings(frame, keys, overall, aspects, pooled=True)
        if not rated.complete.any():
            return None
        return WaysToOverall(
            tuple(group.label for group in frame.groups if group.key in keys),
            tuple(each.prompt for each in aspects),
            tuple(
                _record(given, rated, way)
                for way in _ways(given, rated, aspects, about)
                if np.isfinite(way.scores).any()
            ),
        )

    def blocks(self, view: ReportView) -> Iterator[Block]:
        for question in view.judged:
            groups = [group for group in question.groups if WeightedAspectsFigure.is_in(group)]
            if groups:
                yield _block(question, [WeightedAspectsFigure.of(group) for group in groups])

    def methods(self, view: ReportView) -> Iterable[str]:
        yield (
            "An overall rating from aspects is the ideal minus a weighted sum of the aspects' distances from "
            "their ideals. Weights are fitted by least squares without intercept on people's own ratings; each "
            "query is scored with weights fitted on the other four of five folds."
        )


FIGURE = WeightedAspectsFigure()


def _of_members(given: AnswerInput, about: Mapping[str, Any]) -> tuple[Sequence[QuestionSpec], list[str]]:
    """The aspects and the members' groups of a judge of weighted aspects; nothing of other derived judges."""
    if about.get("kind") != KIND or about["overall"] != given.question.key:
        return (), []
    known = {each.key: each for each in given.frame.questions}
    aspects = [known[key] for key in about["aspects"] if key in known]
    if len(aspects) < len(about["aspects"]) or weight_problem(given.question, aspects):
        return (), []
    return aspects, list(about["members"].values())


def _aspects(given: AnswerInput, derived: DerivedJudges) -> tuple[Sequence[QuestionSpec], list[str]]:
    """The aspects, and the groups whose ratings of them are read."""
    about = derived.about(given.group_key)
    if about:
        return _of_members(given, about)
    if given.group.kind != Rater.Kind.JUDGE or given.group.heuristic:
        return (), []
    return overall_aspects(given, derived), [given.group_key]


def _overall_of_people(given: AnswerInput) -> AspectRatings:
    """The means of people's overall ratings, without aspects."""
    known = _overall_by_frame.setdefault(given.frame, {})
    if given.question.key not in known:
        known[given.question.key] = _of_people(given, (), pooled=True)
    return known[given.question.key]


def _weights_of_people(given: AnswerInput, aspects: Sequence[QuestionSpec]) -> PeoplesWeights | None:
    """None where people's ratings determine none."""
    known = _weights_by_frame.setdefault(given.frame, {})
    key = (given.question.key, *(each.key for each in aspects))
    if key not in known:
        people = _of_people(given, aspects)
        try:
            found = fit_weights(people, given.question, given.terms.seed)
        except TidyDataError:
            known[key] = None
        else:
            known[key] = PeoplesWeights(found.weights, found.fold_weights, folds_of_queries(people, found))
    return known[key]


def _of_people(given: AnswerInput, aspects: Sequence[QuestionSpec], *, pooled: bool = False) -> AspectRatings:
    return aspect_ratings(given.frame, {Rater.Kind.PERSON}, given.question, aspects, pooled=pooled)


def _ways(
    given: AnswerInput, rated: AspectRatings, aspects: Sequence[QuestionSpec], about: Mapping[str, Any]
) -> Iterator[Way]:
    overall, keys = given.question, [each.key for each in aspects]

    def weighted(name: str, weights: Floats, by_row: Floats | None = None) -> Way:
        scores = weighted_scores(rated.distances, weights if by_row is None else by_row, overall)
        return Way(name, scores, weights.tolist())

    yield Way("direct", rated.overall, None)
    if (found := _weights_of_people(given, aspects)) is not None:
        choices = np.vstack([found.by_fold, found.weights])
        fold = np.array(
            [found.folds.get(query, len(choices) - 1) for query in rated.query.tolist()], dtype=np.int64
        )
        yield weighted("fitted", found.weights, choices[fold])
    if about.get("by") == "fixed" and set(keys) <= set(about["weights"]):
        yield weighted("fixed", np.array([about["weights"][key] for key in keys]))
    equal = (overall.points[-1] - overall.points[0]) / len(keys)
    yield weighted("equal", np.full(len(keys), equal))


def _record(given: AnswerInput, rated: AspectRatings, way: Way) -> WayToOverall:
    people = _overall_of_people(given)
    ours, theirs = rated.beside(people)
    there = np.isfinite(way.scores[ours])
    ours, theirs = ours[there], theirs[there]
    resample = given.resample(f"weighted aspects {way.name}")
    unit = UNITS[given.question.over]
    found = associate(
        way.scores[ours], people.overall[theirs], rated.query[ours], resample=resample, unit=unit
    )
    return WayToOverall(
        way.name,
        None if way.weights is None else tuple(way.weights),
        _by_system(given, rated, way),
        found.pearson,
        found.spearman,
        _accuracy(given, rated, way),
    )


def _by_system(given: AnswerInput, rated: AspectRatings, way: Way) -> tuple[WayOfSystem, ...]:
    """The mean score of each system, of what is of one."""
    items = given.frame.items
    if given.question.over == Over.RESPONSE:
        system = items.system[rated.item, response_places(rated.parts)[rated.part]]
    else:
        system = items.only_system[rated.item]
    estimated = mean_estimate
    # What was asked for directly lies within its scale, and has the interval of its other means.
    if way.name == "direct" and given.ends is not None:
        estimated = partial(mean_within, within=given.ends)
    rows = []
    for code, key in enumerate(items.systems):
        mine = (system == code) & np.isfinite(way.scores)
        if mine.any():
            mean = estimated(
                way.scores[mine],
                rated.query[mine],
                unit=UNITS[given.question.over],
                resample=given.resample(f"mean by weighted aspects {way.name}, {key}"),
                empty="The system has no score.",
            )
            rows.append(WayOfSystem(key, mean))
    return tuple(rows)


def _accuracy(given: AnswerInput, rated: AspectRatings, way: Way) -> Estimate | None:
    """None where people pick no response."""
    picks = picks_of_people(given.frame)
    if given.question.over != Over.RESPONSE or picks is None:
        return None
    scores = np.full(given.frame.items.system.shape, np.nan)
    # Sums of the same ratings in another order may differ in their last bits, which must not break a tie.
    scores[rated.item, response_places(rated.parts)[rated.part]] = np.round(way.scores, 9)
    chosen, other, query = picked_beside_others(picks, scores * towards_best(given.question))
    if not (np.isfinite(chosen) & np.isfinite(other)).any():
        return None
    return preference_accuracy(
        chosen, other, query, resample=given.resample(f"picks by weighted aspects {way.name}")
    )


def _block(question: QuestionView, records: Iterable[WaysToOverall]) -> Block:
    """Judges of the same members' ratings have most ways in common; each stands once."""
    build = Builder(
        f"{question.prompt}: judges' ratings, asked for directly or computed from aspects, compared with "
        "people's mean.",
        columns(["Judge", "Overall rating", "Weights", "Pearson", "Spearman", "Accuracy", "n"], names=3),
        foot="Accuracy: how often the response that a person picked is rated above another one; equal ratings count "
        "half. Fitted weights are those fitted on all folds together.",
    )
    seen: list[Any] = []
    for found in records:
        for way in found.ways:
            same = (found.members, found.aspects, way.way, way.weights)
            if same in seen:
                continue
            seen.append(same)
            accuracy = way.accuracy
            build.add(
                head(", ".join(found.members)),
                words(WAYS[way.way]),
                words(_weights(found.aspects, way.weights)),
                build.coefficient(way.pearson),
                build.coefficient(way.spearman),
                TableCell(DASH) if accuracy is None else build.figure(accuracy, percent),
                build.n(way.pearson),
            )
    return Block(f"{question.prompt} from aspects", tables=(build.build(),))


def _weights(aspects: Sequence[str], weights: Sequence[float] | None) -> str:
    if weights is None:
        return ""
    return ", ".join(f"{aspect} {weight:.3g}" for aspect, weight in zip(aspects, weights, strict=True))
