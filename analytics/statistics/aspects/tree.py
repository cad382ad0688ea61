"""A decision tree that tells the overall rating from those of single aspects.

Source: the LFQA paper, Appendix B and Figure 8: a tree of depth 3 with the importance of each aspect. The paper does
not say whether the tree has the ratings or their distances from the ideal; here it has the ratings, which on a scale
with its ideal in the middle tell too little from too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.statistics.aspects.weights import N_SPLITS, TEST_FOLDS, OverSplits, over_splits
from analytics.statistics.core.estimates import TidyDataError
from analytics.statistics.core.folds import folds_by_query
from analytics.statistics.core.tidy import Floats, Ints
from evaluation.design import generator

NO_LEVELS = "The overall rating is the same throughout, so there is nothing to tell apart."


@dataclass(frozen=True)
class TreeNode:
    """A node: of its ratings, `counts` (levels,) have each overall level, and `level` is the commonest.

    Those with at most `threshold` of `aspect` go to the node `low`, the others to `high`; all four are None in a leaf.
    """

    depth: int
    level: float
    counts: tuple[int, ...]
    aspect: int | None
    threshold: float | None
    low: int | None
    high: int | None


@dataclass(frozen=True)
class AspectTree:
    """A tree of all `n` ratings: its `nodes`, the root first, and the `importances` (k,) of the aspects.

    These are their shares of the decrease in Gini's impurity, and add up to 1. `levels` are those that a node's counts
    are of; `held_out` is Pearson's r of predicted and given levels in a fifth of the queries, over random splits.
    """

    levels: tuple[float, ...]
    importances: tuple[float, ...]
    nodes: tuple[TreeNode, ...]
    held_out: OverSplits
    n: int


def aspect_tree(
    ratings: Floats, overall: Floats, query: Ints, *, points: Sequence[float], seed: int, depth: int = 3
) -> AspectTree:
    """A tree of at most `depth` decisions from `ratings` (n, k) to the nearest of `points` of `overall` (n,).

    Rows of a query (n,) are never on both sides of a split. Raises TidyDataError for fewer queries than a split takes,
    and where the overall rating is the same throughout.
    """
    table = np.asarray(points, dtype=np.float64)
    level = np.abs(overall[:, None] - table[None, :]).argmin(axis=1)
    if not len(level) or (level == level[0]).all():
        raise TidyDataError(NO_LEVELS)
    # Equal rows are one, with their number as its weight: a million ratings are a few patterns.
    first, pattern = _patterns([*ratings.T, level])
    given, levels = ratings[first], level[first]
    total = np.bincount(pattern, minlength=len(first)).astype(np.float64)
    used, code = np.unique(query, return_inverse=True)
    queries = np.arange(len(used))
    fitted = _fit(given, levels, total, depth)
    held_out = []
    for split in range(N_SPLITS):
        fold = folds_by_query(queries, TEST_FOLDS, generator(seed, "aspect tree", split))
        test = np.bincount(pattern[(fold == 0)[code]], minlength=len(first)).astype(np.float64)
        predicted = _fit(given, levels, total - test, depth).predict(given)
        held_out.append(weighted_r(table[predicted], table[levels], test))
    return AspectTree(
        tuple(table[fitted.classes_].tolist()),
        tuple(fitted.feature_importances_.tolist()),
        tuple(_nodes(fitted, table)),
        over_splits(held_out),
        len(level),
    )


def _patterns(columns: Sequence[Floats | Ints]) -> tuple[Ints, Ints]:
    """The first row of each distinct row of the columns (n,), and the place of every row's among these (n,)."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        # Numbered anew after each column, so that codes stay small however many there are.
        _, code = np.unique(code * len(values) + place, return_inverse=True)
    return np.unique(code, return_index=True)[1], code


def weighted_r(one: Floats, other: Floats, weight: Floats) -> float | None:
    """Pearson's r of two columns (n,) whose rows occur `weight` (n,) times; None where one of them does not vary."""
    there = weight > 0
    one, other, weight = one[there], other[there], weight[there]
    if not len(one) or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    table = np.cov(np.stack([one, other]), aweights=weight, ddof=0)
    return float(table[0, 1] / np.sqrt(table[0, 0] * table[1, 1]))


def tree_levels(ratings: Floats, level: Floats, others: Floats, *, depth: int = 3) -> Floats:
    """The levels (m,) that a tree on `ratings` (n, k) and their `level` (n,) gives to `others` (m, k)."""
    table, code = np.unique(level, return_inverse=True)
    found: Ints = _fit(ratings, code, np.ones(len(code)), depth).predict(others)
    return np.asarray(table[found])


def _fit(ratings: Floats, level: Ints, weight: Floats, depth: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier  # slow to import

    there = weight > 0
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    return tree.fit(ratings[there], level[there], sample_weight=weight[there])


def _nodes(fitted: Any, points: Floats) -> list[TreeNode]:
    tree = fitted.tree_
    depths = np.zeros(tree.node_count, dtype=np.int64)
    nodes = []
    for at in range(tree.node_count):
        low, high = int(tree.children_left[at]), int(tree.children_right[at])
        leaf = low < 0
        if not leaf:
            depths[[low, high]] = depths[at] + 1
        counts = np.rint(tree.value[at][0] * tree.weighted_n_node_samples[at]).astype(np.int64)
        nodes.append(
            TreeNode(
                int(depths[at]),
                float(points[fitted.classes_[int(counts.argmax())]]),
                tuple(counts.tolist()),
                None if leaf else int(tree.feature[at]),
                None if leaf else float(tree.threshold[at]),
                None if leaf else low,
                None if leaf else high,
            )
        )
    return nodes
