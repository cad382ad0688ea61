"""Aspects beside an overall rating: how far each was rated from its ideal, answer by answer.

Read by the report and by the judge that weighs aspects, so that both go by the same numbers.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.frames.arrays import AnswerGroup, Answers, AnswersFrame
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import Bools, Floats, Ints, sorted_codes
from analytics.statistics.ratings.weighted_overall import (
    WeightedOverall,
    distance_from_ideal,
    weighted_overall,
)
from evaluation.protocols import Kind, QuestionSpec

# A scale with such a key is the overall rating of the others about the same things.
OVERALL_KEYS = ("overall", "acceptability")


@dataclass(frozen=True, eq=False)
class AspectRatings:
    """One row (n,) for what a rater said of one thing: `item` is a row of the study's items, `part` codes `parts`.

    `given` (n, k) are the ratings of the aspects and `distances` (n, k) those from their ideals, `overall` (n,) is the
    overall rating; nan where not given.
    """

    item: Ints
    query: Ints
    part: Ints
    parts: tuple[str, ...]
    given: Floats
    distances: Floats
    overall: Floats

    def where(self, mask: Bools) -> "AspectRatings":
        rows = ("item", "query", "part", "given", "distances", "overall")
        return replace(self, **{name: getattr(self, name)[mask] for name in rows})

    def beside(self, other: "AspectRatings") -> tuple[Ints, Ints]:
        """Rows here and there that are of the same thing, of pooled raters."""
        here = [
            (item, self.parts[part])
            for item, part in zip(self.item.tolist(), self.part.tolist(), strict=True)
        ]
        there = {
            (item, other.parts[part]): row
            for row, (item, part) in enumerate(zip(other.item.tolist(), other.part.tolist(), strict=True))
        }
        rows = [(row, there[thing]) for row, thing in enumerate(here) if thing in there]
        one, two = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        return one, two

    @property
    def complete(self) -> Bools:
        """True where every aspect was rated."""
        return np.asarray(np.isfinite(self.distances).all(axis=1))


def best_point(question: QuestionSpec) -> float:
    """The ideal of a scale, or its better end."""
    if question.ideal is not None:
        return question.ideal
    return question.points[-1] if question.direction == "higher" else question.points[0]


def towards_best(overall: QuestionSpec) -> float:
    """1 where the highest point of the overall scale is the best, -1 where the lowest is."""
    return 1.0 if best_point(overall) == overall.points[-1] else -1.0


def weight_problem(overall: QuestionSpec | None, aspects: Sequence[QuestionSpec]) -> str:
    """Why these scales can't be weighted into an overall rating, as a sentence; empty where they can."""
    if overall is None or overall.kind != Kind.SCALE:
        return "The overall question must be one of the study's scales."
    if best_point(overall) not in (overall.points[0], overall.points[-1]):
        return f"The ideal of {overall.key!r} must be one of its ends: aspects only take away from it."
    if not aspects:
        return f"No other scale is about the same units as {overall.key!r}."
    wrong = [each.key for each in aspects if each.kind != Kind.SCALE or each.over != overall.over]
    if wrong or overall.key in [each.key for each in aspects]:
        first = (wrong or [overall.key])[0]
        return f"An aspect must be another scale about the same units as {overall.key!r}; {first!r} is not."
    return ""


def aspects_of(
    overall: QuestionSpec, questions: Sequence[QuestionSpec], named: Collection[str] = ()
) -> tuple[QuestionSpec, ...]:
    """The other scales about the same things, if this one is their overall rating; () if it is not.

    It is by its key (`OVERALL_KEYS`), or as one of the `named`, which judges of weighted aspects go by.
    """
    if overall.key not in (*OVERALL_KEYS, *named):
        return ()
    aspects = tuple(
        each
        for each in questions
        if each.kind == Kind.SCALE and each.over == overall.over and each.key != overall.key
    )
    return () if weight_problem(overall, aspects) else aspects


def aspect_ratings(
    frame: AnswersFrame,
    groups: Collection[str],
    overall: QuestionSpec,
    aspects: Sequence[QuestionSpec],
    *,
    pooled: bool = False,
) -> AspectRatings:
    """The ratings of the groups with these keys, one row per rater and thing; `pooled` takes the means over raters."""
    questions = (*aspects, overall)
    kept = [group for group in frame.groups if group.key in groups]
    parts = sorted({part for group in kept for each in questions for part in _parts(group.answers[each.key])})
    found = [_keyed(kept, each.key, parts, pooled=pooled) for each in questions]
    rows = sorted_codes(np.concatenate([key for key, _ in found]))
    item = rows // max(len(parts), 1) % max(len(frame.items), 1)
    *each_aspect, direct = found
    values, distances = np.empty((len(aspects), len(rows))), np.empty((len(aspects), len(rows)))
    for at, (aspect, keyed) in enumerate(zip(aspects, each_aspect, strict=True)):
        values[at] = _means(rows, *keyed)
        distances[at] = _distances(values[at], aspect)
    return AspectRatings(
        item=item,
        query=frame.items.query[item],
        part=rows % max(len(parts), 1),
        parts=tuple(parts),
        given=values.T,
        distances=distances.T,
        overall=_means(rows, *direct),
    )


def fit_weights(people: AspectRatings, overall: QuestionSpec, seed: int) -> WeightedOverall:
    """Weights by people's own ratings, cross-fitted by query; raises TidyDataError where none are determined."""
    rated = people.where(people.complete & np.isfinite(people.overall))
    if not len(rated.item):
        raise TidyDataError("No person has rated every aspect of an answer and the answer overall.")
    sign = towards_best(overall)
    return weighted_overall(
        rated.distances, sign * rated.overall, rated.query, ideal=sign * best_point(overall), seed=seed
    )


def folds_of_queries(people: AspectRatings, found: WeightedOverall) -> dict[int, int]:
    """The fold of each query that the weights were fitted on."""
    rated = people.where(people.complete & np.isfinite(people.overall))
    return dict(zip(rated.query.tolist(), found.fold.tolist(), strict=True))


def weighted_scores(distances: Floats, weights: Floats, overall: QuestionSpec) -> Floats:
    """Overall ratings (n,) by weights (k,), or by weights of each row (n, k); they may leave the scale."""
    return best_point(overall) - towards_best(overall) * np.asarray((distances * weights).sum(axis=1))


def _parts(answers: Answers) -> tuple[str, ...]:
    return answers.parts or ("",)


def _keyed(
    groups: Sequence[AnswerGroup], key: str, parts: Sequence[str], *, pooled: bool
) -> tuple[Ints, Floats]:
    """One code for rater, item and part of each rating, and the value; pooled raters are one."""
    codes, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    before = 0
    for group in groups:
        given = group.answers[key]
        rater = np.zeros(len(given), dtype=np.int64) if pooled else before + given.rater.astype(np.int64)
        before += len(group.raters)
        part = np.array([parts.index(each) for each in _parts(given)], dtype=np.int64)[given.part]
        codes.append((rater * len(given.items) + given.item) * len(parts) + part)
        values.append(given.value)
    return np.concatenate(codes), np.concatenate(values)


def _means(rows: Ints, key: Ints, value: Floats) -> Floats:
    """The mean value of each row's code (n,), nan without one."""
    at = np.searchsorted(rows, key)
    n = np.bincount(at, minlength=len(rows))
    total = np.bincount(at, weights=value, minlength=len(rows))
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _distances(values: Floats, aspect: QuestionSpec) -> Floats:
    known = np.isfinite(values)
    found = np.full(len(values), np.nan)
    found[known] = distance_from_ideal(
        values[known], ideal=best_point(aspect), low=aspect.points[0], high=aspect.points[-1]
    )
    return found
