"""Cosines of embeddings. Pure."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judging.backends.base import CallFailed

Vectors: TypeAlias = NDArray[np.float64]


def checked_vectors(vectors: Sequence[Vectors]) -> Vectors:
    """Vectors as one array (n, dimensions); CallFailed with a sentence where no similarity can be computed of them."""
    sizes = {len(vector) for vector in vectors}
    if 0 in sizes:
        raise CallFailed("An embedding is empty.")
    if len(sizes) > 1:
        raise CallFailed(f"The embeddings differ in their dimension: {min(sizes)} and {max(sizes)}.")
    array = np.array(vectors, dtype=np.float64)
    if not np.isfinite(array).all():
        raise CallFailed("An embedding holds something that is not a number.")
    if not array.any(axis=1).all():
        raise CallFailed("An embedding is all zeros and has no direction.")
    return array


def cosine(one: Vectors, other: Vectors) -> float:
    """The cosine of the angle between two vectors (d,), from -1 to 1; ValueError where one has length 0."""
    # Scaled first: the squares of very large numbers overflow, of very small ones vanish.
    sizes = [float(np.abs(each).max(initial=0.0)) for each in (one, other)]
    if not all(sizes):
        raise ValueError("A vector of length 0 has no direction.")
    one, other = one / sizes[0], other / sizes[1]
    value = float(one @ other) / float(np.linalg.norm(one) * np.linalg.norm(other))
    return min(1.0, max(-1.0, value))


def cosines(vectors: Vectors) -> list[list[float]]:
    """The cosine of each of several vectors (n, d) with each: n rows of n numbers."""
    return [[cosine(one, other) for other in vectors] for one in vectors]
