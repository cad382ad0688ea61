"""Orders, ranks and seeds: the parts of a study's design that must be reproducible and provable.

Pure functions of a seed. People's slots and judges' calls use the same ones.
"""

import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """A random generator that depends on the study's seed and on what it is for, and on nothing else."""
    return np.random.default_rng(derived_seed(seed, *purpose))


def derived_seed(seed: int, *purpose: object) -> int:
    """The seed of that generator."""
    text = "\x1f".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


@cache
def presentation_rows(n: int) -> tuple[tuple[int, ...], ...]:
    """The orders in which n responses are shown: the rows of a Williams square, 2n of them for odd n > 1.

    Every response stands in every place equally often, and every one follows every other equally often (Williams
    1949). For two these are the two orders.
    """
    first = [0]
    low, high = 1, n - 1
    while len(first) < n:
        first.append(high if len(first) % 2 else low)
        low, high = (low, high - 1) if len(first) % 2 == 0 else (low + 1, high)
    rows = [tuple((each + shift) % n for each in first) for shift in range(n)]
    if n % 2 and n > 1:
        # First places go round here as they do above, so that any rows in turn have them evenly.
        rows += sorted(tuple(reversed(row)) for row in rows)
    return tuple(rows)


def n_orders(n: int) -> int:
    """The number of different orders in which n responses are shown; 1 where there is nothing to order."""
    return max(1, len(presentation_rows(n)))


def presented_order(n: int, row: int) -> str:
    """The parts of n responses in the order of that row: "r2,r1"; empty for none."""
    if n == 0:
        return ""
    rows = presentation_rows(n)
    return ",".join(f"r{response + 1}" for response in rows[row % len(rows)])


def slot_order(n: int, start: int, k: int, members: int) -> str:
    """The presented order of slot k of an item that starts with row `start` in a stratum of so many members.

    Slot 0 of the members goes round all rows; each further slot goes on where the one before left off, and one row
    further where it came out even, so that first places per stratum differ by at most one and an item's slots differ.
    """
    rows = n_orders(n)
    if rows <= 2:
        return presented_order(n, start + k)
    left = members % rows
    return presented_order(n, start + k * left + k // (rows // gcd(rows, left)))


def starting_orders(
    strata: Sequence[Hashable],
    seed: int,
    already: Mapping[Any, int] | None = None,
    rows: Mapping[Any, int] | None = None,
) -> IntArray:
    """The row of the presentation orders for each item's slot 0; of a pair, 0 for r1 first and 1 for r2 first.

    Within each stratum (arm, set of systems) the items are shuffled by the seed and go round the rows (two unless
    `rows` says otherwise); `already` counts the items that a stratum had before these were added, so that the round
    goes on.
    """
    starts = np.zeros(len(strata), dtype=np.int64)
    members: dict[Hashable, list[int]] = {}
    for index, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(index)
    for stratum, indices in members.items():
        offset = (already or {}).get(stratum, 0)
        shuffled = generator(seed, "orders", stratum, offset).permutation(indices)
        starts[shuffled] = (np.arange(len(indices)) + offset) % (rows or {}).get(stratum, 2)
    return starts


def next_order(start: int, orders: Sequence[str]) -> str:
    """The presented order of one more slot of a pair beside these: the rarer one, or the item's first where they are
    even."""
    first, second = presented_order(2, start), presented_order(2, start + 1)
    return first if orders.count(first) <= orders.count(second) else second


def looks_order(queries: Sequence[str], seed: int) -> list[int]:
    """The order, as places among `queries`, in which they enter a figure that is looked at before all are judged.

    It hangs on each one's key and the seed alone, so that nothing of how they are judged decides when they enter.
    """
    return sorted(range(len(queries)), key=lambda at: (derived_seed(seed, "looks", queries[at]), queries[at]))


def sampled_queries(queries: Collection[str], seed: int, n: int) -> frozenset[str]:
    """A simple random part of `n` of these queries, or all of them where there are fewer.

    It hangs on each one's key and the seed alone, so that anybody can draw it again from the study's file.
    """
    ordered = sorted(queries, key=lambda key: (derived_seed(seed, "human sample", key), key))
    return frozenset(ordered[:n])


def slot_ranks(
    query: IntArray, item: IntArray, k: IntArray, seed: int, *purpose: object, block: IntArray | None = None
) -> IntArray:
    """The rank of each slot, from 0: a query's slots are dealt into rounds counted from its end.

    A query with the most slots left comes first, so that all queries run out together and nobody is stranded with
    a remainder that they have all seen. Inside a round slots are shuffled; a query's items fill evenly.
    All arrays have one entry per slot. With a `block` of each slot's query, blocks come one after the other, each
    dealt so: those of the first are complete while others have not begun.
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
    first_of = np.zeros(len(query), dtype=np.int64) if block is None else block[inside]
    order = np.lexsort((rng.random(len(query)), -left, first_of))
    ranks = np.empty(len(query), dtype=np.int64)
    ranks[inside[order]] = np.arange(len(query))
    return ranks


def n_checks(n_items: int, wanted: int) -> int:
    """The number of attention checks in a visit of n items: no more than can have an item before and after them."""
    return max(0, min(wanted, n_items - 1))


def check_positions(
    seed: int, participant: int, n_items: int, wanted: int, visit_number: int = 1
) -> list[int]:
    """After how many judged items each attention check comes: spread over the visit, never first, never last; in each
    of a participant's visits at other places."""
    checks = n_checks(n_items, wanted)
    if not checks:
        return []
    later = (visit_number,) if visit_number > 1 else ()
    rng = generator(seed, "attention", participant, *later)
    edges = np.linspace(1, n_items, checks + 1)
    positions = [int(rng.integers(int(low), max(int(low) + 1, int(high)))) for low, high in pairwise(edges)]
    return sorted(positions)


def halved_queries(categories: Mapping[str, str], seed: int) -> tuple[list[str], list[str]]:
    """The queries in two random halves, each of every category; given are the queries' categories by their keys.

    Neither in all nor in any category do the halves differ by more than one.
    """
    halves: tuple[list[str], list[str]] = ([], [])
    members: dict[str, list[str]] = {}
    for key in sorted(categories):
        members.setdefault(categories[key], []).append(key)
    place = 0
    for category in sorted(members):
        for at in generator(seed, "judge halves", category).permutation(len(members[category])):
            halves[place % 2].append(members[category][at])
            place += 1
    return sorted(halves[0]), sorted(halves[1])
