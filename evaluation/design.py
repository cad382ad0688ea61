"""Orders, ranks and seeds: the parts of a study's design that must be reproducible and provable.

Pure functions of a seed. People's slots and judges' calls use the same ones.
"""

import hashlib
from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """A random generator that depends on the study's seed and on what it is for, and on nothing else."""
    text = "\x1f".join(str(part) for part in (seed, *purpose))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def starting_orders(
    strata: Sequence[Hashable], seed: int, already: dict[Hashable, int] | None = None
) -> IntArray:
    """Which response of a pair each item's slot 0 shows first: 0 for r1, 1 for r2.

    Within each stratum (arm, set of systems) the items are shuffled by the seed and the start alternates;
    `already` counts the items that a stratum had before these were added, so that the alternation goes on.
    """
    starts = np.zeros(len(strata), dtype=np.int64)
    members: dict[Hashable, list[int]] = {}
    for index, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(index)
    for stratum, indices in members.items():
        offset = (already or {}).get(stratum, 0)
        shuffled = generator(seed, "orders", stratum, offset).permutation(indices)
        starts[shuffled] = (np.arange(len(indices)) + offset) % 2
    return starts


def pair_order(start: int, k: int) -> str:
    """The presented order of slot k: orders alternate, so per item they differ by at most one."""
    return "r1,r2" if (start + k) % 2 == 0 else "r2,r1"


def next_order(start: int, orders: Sequence[str]) -> str:
    """The presented order of one more slot beside these: the rarer one, or the item's first where they are even."""
    first, second = pair_order(start, 0), pair_order(start, 1)
    return first if orders.count(first) <= orders.count(second) else second


def slot_ranks(query: IntArray, item: IntArray, k: IntArray, seed: int, *purpose: object) -> IntArray:
    """The rank of each slot, from 0: a query's slots are dealt into rounds counted from its end.

    A query with the most slots left comes first, so that all queries run out together and nobody is stranded with
    a remainder that they have all seen. Inside a round slots are shuffled; a query's items fill evenly.
    All arrays have one entry per slot.
    """
    rng = generator(seed, "ranks", *purpose)
    noise = rng.random(len(query))
    # A query's slots in the order k, then items shuffled: every item gets its first judgment before any its second.
    inside = np.lexsort((noise, k, query))
    sorted_query = query[inside]
    new_query = np.r_[True, sorted_query[1:] != sorted_query[:-1]]
    group = np.cumsum(new_query) - 1
    first = np.flatnonzero(new_query)
    sizes = np.diff(np.r_[first, len(query)])
    left = sizes[group] - (np.arange(len(query)) - first[group])
    order = np.lexsort((rng.random(len(query)), -left))
    ranks = np.empty(len(query), dtype=np.int64)
    ranks[inside[order]] = np.arange(len(query))
    return ranks


def check_positions(seed: int, participant: int, n_items: int, n_checks: int) -> list[int]:
    """After how many judged items each attention check comes: spread over the visit, never first, never last."""
    if n_checks <= 0 or n_items < 2:
        return []
    rng = generator(seed, "attention", participant)
    edges = np.linspace(1, n_items, min(n_checks, n_items - 1) + 1)
    positions = [int(rng.integers(int(low), max(int(low) + 1, int(high)))) for low, high in pairwise(edges)]
    return sorted(positions)
