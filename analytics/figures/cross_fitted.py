"""Values of judges that were chosen or fitted on people, of every fold: what they say of people that they do not know.

A query that such a judge was fitted on gets the value by the choice that was made without its fold; any other gets the
mean over all folds' choices. So both kinds of queries have the same choices behind them (cross-prediction, Zrnic and
Candès 2024). The choice that was made on all queries together is another one: its mean may differ from theirs by as
much as two members differ, however many queries there are.
"""

from collections.abc import Sequence

import numpy as np

from analytics.figures.figure_input import AnswerInput, FigureInput, PairInput
from analytics.figures.needs import Derived, DerivedJudges
from analytics.frames.aspects import aspect_ratings, weighted_scores
from analytics.statistics.core.tidy import Floats, Ints
from analytics.statistics.preferences.win_rates import item_scores

COMPOSITE, WEIGHTED = "composite", "weighted"
ON_PEOPLE = "it was chosen or fitted on these people"
NO_FOLDS = (
    f"{ON_PEOPLE}, and which of their queries it knew is not recorded, so that there are no cross-fitted values; start "
    "a new run of it"
)
NO_MEMBERS = (
    f"{ON_PEOPLE}, and not all of its members are in the figures, so that there are no cross-fitted values"
)
OF_FITTED = "it is made of a judge that was chosen or fitted on these people"


def fitted_on_people(given: FigureInput, derived: DerivedJudges) -> Derived | None:
    """The record of a judge that was chosen or fitted on this study's people; None of all others."""
    about = derived.about(given.group_key)
    return about if _is_fitted(about) else None


def why_not_crossed(given: PairInput | AnswerInput, derived: DerivedJudges) -> str:
    """Why a judge that goes back to people has no cross-fitted values, as the end of a sentence; else empty."""
    members = list(derived.about(given.group_key).get("members", {}).values())
    # A judge is made of raters that were there before it, so that this ends.
    while members:
        member = derived.about(members.pop())
        if _is_fitted(member):
            return OF_FITTED
        members += member.get("members", {}).values()
    about = fitted_on_people(given, derived)
    if about is None:
        return ""
    if about.get("kind") not in (COMPOSITE, WEIGHTED) or not about.get("folds") or not about.get("by_query"):
        return NO_FOLDS
    return "" if set(about["members"].values()) <= given.by_group.keys() else NO_MEMBERS


def _is_fitted(about: Derived) -> bool:
    return bool(about.get("fitted")) or about.get("by") == "people"


def crossed_item_scores(given: PairInput, about: Derived) -> Floats:
    """Scores (n, 2) of the two responses of each item by a composite, nan where the chosen member has none."""
    items, ties = given.items, given.terms.ties
    scores = {
        name: item_scores(given.by_group[key].group.judgments, len(items), ties)
        for name, key in about["members"].items()
    }
    nothing = np.full((len(items), 2), np.nan)
    by_fold = []
    for chosen in about["folds"]:
        members = [
            scores.get(chosen.get(category, about["otherwise"]), nothing) for category in items.categories
        ]
        by_fold.append(np.stack([*members, nothing])[items.category, np.arange(len(items))])
    return _crossed(np.stack(by_fold), items.query, items.queries, about)


def crossed_ratings(given: AnswerInput, about: Derived) -> dict[tuple[int, str], float]:
    """The overall rating by weighted aspects of each thing, by its item's row and its part."""
    questions = {each.key: each for each in given.frame.questions}
    aspects = [questions[key] for key in about["aspects"]]
    rated = aspect_ratings(given.frame, set(about["members"].values()), given.question, aspects, pooled=True)
    by_fold = [
        weighted_scores(rated.distances, np.array([weights[each.key] for each in aspects]), given.question)
        for weights in about["folds"]
    ]
    values = _crossed(np.stack(by_fold), rated.query, given.items.queries, about)
    return {
        (int(item), rated.parts[part]): float(value)
        for item, part, value in zip(rated.item, rated.part, values, strict=True)
    }


def _crossed(by_fold: Floats, query: Ints, queries: Sequence[str], about: Derived) -> Floats:
    """Of values (folds, n, ...) each row's own (n, ...): of the fold of its `query` (n,), or the mean over folds."""
    known = about["by_query"]
    fold = np.array([known.get(key, -1) for key in queries], dtype=np.int64)[query]
    own = by_fold[np.maximum(fold, 0), np.arange(len(query))]
    held = (fold >= 0).reshape(-1, *[1] * (own.ndim - 1))
    return np.where(held, own, by_fold.mean(axis=0))
