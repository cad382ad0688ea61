"""Aspects beside an overall rating: how far each was rated from its ideal, answer by answer.

Read by the report and by the judge that weighs aspects, so that both go by the same numbers.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analytics.frames.arrays import AnswersFrame
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.tidy import Bools, Floats, Ints
from analytics.statistics.ratings.weighted_overall import (
    WeightedOverall,
    distance_from_ideal,
    weighted_overall,
)
from evaluation.protocols import Kind, QuestionSpec

KEYS = ["rater", "item", "part"]
POOLED = "pooled"


@dataclass(frozen=True, eq=False)
class AspectRatings:
    """One row (n,) for what a rater said of one thing: `item` is a row of the study's items, `part` codes `parts`.

    `distances` (n, k) are those of the aspects from their ideals, `overall` (n,) is the overall rating; nan where not
    given.
    """

    item: Ints
    query: Ints
    part: Ints
    parts: tuple[str, ...]
    distances: Floats
    overall: Floats

    def where(self, mask: Bools) -> "AspectRatings":
        rows = ("item", "query", "part", "distances", "overall")
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


def aspect_ratings(
    frame: AnswersFrame,
    groups: Collection[str],
    overall: QuestionSpec,
    aspects: Sequence[QuestionSpec],
    *,
    pooled: bool = False,
) -> AspectRatings:
    """The ratings of the groups with these keys, one row per rater and thing; `pooled` takes the means over raters."""
    series = [_ratings(frame, groups, each.key, pooled=pooled) for each in (*aspects, overall)]
    wide = pd.concat(dict(enumerate(series)), axis=1).sort_index()
    index = wide.index.to_frame(index=False)
    parts, code = np.unique(index["part"].to_numpy(dtype=str), return_inverse=True)
    item = index["item"].to_numpy(dtype=np.int64)
    distances = [_distances(wide[at].to_numpy(dtype=np.float64), each) for at, each in enumerate(aspects)]
    return AspectRatings(
        item=item,
        query=frame.items.query[item],
        part=code,
        parts=tuple(parts.tolist()),
        distances=np.array(distances).reshape(len(aspects), len(wide)).T,
        overall=wide[len(aspects)].to_numpy(dtype=np.float64),
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


def _ratings(frame: AnswersFrame, groups: Collection[str], key: str, *, pooled: bool) -> "pd.Series[float]":
    """Ratings by rater, item and part."""
    found = [
        pd.DataFrame(
            {
                "rater": POOLED if pooled else [f"{group.key}.{rater}" for rater in given.rater.tolist()],
                "item": given.item,
                "part": np.array([*given.parts, ""], dtype=object)[given.part],
                "value": given.value,
            }
        )
        for group in frame.groups
        if group.key in groups
        for given in [group.answers[key]]
    ]
    empty = pd.DataFrame({"rater": [], "item": np.zeros(0, dtype=np.int64), "part": [], "value": np.zeros(0)})
    return pd.concat(found or [empty], ignore_index=True).groupby(KEYS, sort=True)["value"].mean()


def _distances(values: Floats, aspect: QuestionSpec) -> Floats:
    known = np.isfinite(values)
    found = np.full(len(values), np.nan)
    found[known] = distance_from_ideal(
        values[known], ideal=best_point(aspect), low=aspect.points[0], high=aspect.points[-1]
    )
    return found
