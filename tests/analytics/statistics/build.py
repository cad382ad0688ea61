"""Small studies for the tests of analytics, as the arrays that statistics take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analytics.statistics.core.counts import count_matrix
from analytics.statistics.core.resampling import ResampleSpec
from analytics.statistics.core.tidy import Items, Judgments
from tests.fixtures import contexteval


def spec(replicates: int = 200, seed: int = 7, level: float = 0.95) -> ResampleSpec:
    return ResampleSpec(seed, replicates, level)


def make_items(
    query: Sequence[str],
    arm: Sequence[str] | str = "arm",
    systems: Sequence[tuple[str, str]] | tuple[str, str] = ("a", "b"),
    category: Sequence[str] | str = "",
    lengths: Sequence[tuple[int, int]] | tuple[int, int] = (10, 10),
) -> Items:
    n = len(query)
    arms = [arm] * n if isinstance(arm, str) else list(arm)
    categories = [category] * n if isinstance(category, str) else list(category)
    pairs: list[Any] = [systems] * n if isinstance(systems, tuple) else list(systems)
    sizes: list[Any] = [lengths] * n if isinstance(lengths, tuple) else list(lengths)
    names = tuple(sorted({system for pair in pairs for system in pair}))
    query_names, query_codes = _code(query)
    arm_names, arm_codes = _code(arms)
    category_names, category_codes = _code(categories)
    return Items(
        key=np.array([f"item-{row}" for row in range(n)], dtype=object),
        query=query_codes,
        queries=query_names,
        arm=arm_codes,
        arms=arm_names,
        category=category_codes,
        categories=category_names,
        system_1=np.array([names.index(pair[0]) for pair in pairs], dtype=np.int16),
        system_2=np.array([names.index(pair[1]) for pair in pairs], dtype=np.int16),
        systems=names,
        length_1=np.array([size[0] for size in sizes], dtype=np.int32),
        length_2=np.array([size[1] for size in sizes], dtype=np.int32),
    )


def make_judgments(
    labels: Sequence[Sequence[int]],
    numbers: Sequence[Sequence[float]] | None = None,
    first: Sequence[Sequence[int]] | None = None,
) -> Judgments:
    """One judgment per label; the k-th label of an item is the k-th rater's."""
    flat = [(item, rater) for item, of_item in enumerate(labels) for rater in range(len(of_item))]
    n_raters = max((len(of_item) for of_item in labels), default=0)
    n = len(flat)
    return Judgments(
        item=np.array([item for item, _ in flat], dtype=np.int32),
        rater=np.array([rater for _, rater in flat], dtype=np.int32),
        raters=tuple(f"rater-{k}" for k in range(n_raters)),
        vote=np.array([labels[i][k] for i, k in flat], dtype=np.int8),
        number=np.array([numbers[i][k] for i, k in flat]) if numbers else np.full(n, np.nan),
        first=np.array([first[i][k] for i, k in flat], dtype=np.int8) if first else np.full(n, -1),
    )


def counts_of(labels: Sequence[Sequence[int]], n_labels: int = 3) -> np.ndarray:
    flat = [(item, label) for item, of_item in enumerate(labels) for label in of_item]
    item = np.array([pair[0] for pair in flat], dtype=np.int64)
    label = np.array([pair[1] for pair in flat], dtype=np.int64)
    return count_matrix(item, label, len(labels), n_labels)


def context_study() -> tuple[Items, Judgments]:
    """The rebuilt study of ContextEval; canonical order of the systems is that of their names."""
    rows = contexteval.rows()
    pairs = [tuple(sorted((row.system_a, row.system_b))) for row in rows]
    names = [{row.system_a: "a", row.system_b: "b"}[pair[0]] for row, pair in zip(rows, pairs, strict=True)]
    labels = [
        [2 if label == "tie" else int(label != first) for label in row.labels]
        for row, first in zip(rows, names, strict=True)
    ]
    items = make_items([str(row.index) for row in rows], [row.arm for row in rows], pairs)
    return items, make_judgments(labels)


def random_labels(rng: np.random.Generator, n: int, most: int = 5, n_labels: int = 3) -> list[list[int]]:
    """0 to `most` labels for each of n items."""
    return [rng.integers(0, n_labels, rng.integers(0, most + 1)).tolist() for _ in range(n)]


def count_arrays(n_labels: int = 3, most: int = 4, min_items: int = 1) -> st.SearchStrategy[np.ndarray]:
    shape = st.integers(min_items, 12).map(lambda n: (n, n_labels))
    return shape.flatmap(lambda s: hnp.arrays(np.int32, s, elements=st.integers(0, most)))


def _code(names: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    table = tuple(sorted(set(names)))
    position = {name: code for code, name in enumerate(table)}
    return table, np.array([position[name] for name in names], dtype=np.int32)
