"""The arrays that statistics are computed from: items, judgments of one rater group, and checklists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from analytics.statistics.core.estimates import ParameterError, TidyDataError, UnknownNameError

Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

FIRST, SECOND, TIE, BOTH_BAD, MISSING = 0, 1, 2, 3, -1
"""Votes of a preference: the first or the second canonical response, a tie, both bad, or none. From TIE on they prefer
neither: the labels, by which wins are counted, have TIE for both."""
N_LABELS, N_VOTES = 3, 4
UNKNOWN_ORDER = -1
CELL_FACTORS = ("arm", "pair", "category")


@dataclass(frozen=True)
class ItemCell:
    """A part of a study's items. None stands for a factor that the cell is not limited by."""

    arm: str | None = None
    system_1: str | None = None
    system_2: str | None = None
    category: str | None = None


class _Rows:
    """Row-wise subsets, for dataclasses whose arrays all have one entry per row."""

    def __len__(self) -> int:
        return len(getattr(self, _row_arrays(self)[0]))

    def take(self, index: Ints) -> Self:
        """The rows at `index`, in that order; code tables are kept whole."""
        rows = {name: getattr(self, name)[index] for name in _row_arrays(self)}
        return replace(self, **rows)  # type: ignore[type-var]  # every subclass is a dataclass

    def where(self, mask: Bools) -> Self:
        """The rows where `mask` (one entry per row) is true."""
        return self.take(np.flatnonzero(mask))


@dataclass(frozen=True, eq=False)
class Items(_Rows):
    """One row per item of a pairwise study, all arrays of shape (n,).

    `query`, `arm`, `category`, `system_1` and `system_2` are codes into `queries`, `arms`, `categories`
    ('' = none) and `systems`. System 1 and 2 wrote the item's canonical responses, so a pair of systems
    stands in one order throughout. Lengths are characters of the response text. `splits` is the split of
    each of `queries` ('' = none), empty where none is known.
    """

    key: npt.NDArray[np.object_]
    query: Ints
    queries: tuple[str, ...]
    arm: Ints
    arms: tuple[str, ...]
    category: Ints
    categories: tuple[str, ...]
    system_1: Ints
    system_2: Ints
    systems: tuple[str, ...]
    length_1: Ints
    length_2: Ints
    splits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _set(self, "key", np.asarray(self.key, dtype=object))
        n = len(self.key)
        _coerce(self, "query", n, np.int32, 0, len(self.queries))
        _coerce(self, "arm", n, np.int16, 0, len(self.arms))
        _coerce(self, "category", n, np.int16, 0, len(self.categories))
        _coerce(self, "system_1", n, np.int16, 0, len(self.systems))
        _coerce(self, "system_2", n, np.int16, 0, len(self.systems))
        _coerce(self, "length_1", n, np.int32, 0, 2**31)
        _coerce(self, "length_2", n, np.int32, 0, 2**31)
        turned = {(second, first) for first, second in self.pairs if first != second}
        if both := sorted(turned & set(self.pairs)):
            raise TidyDataError(f"The systems {both[0][0]} and {both[0][1]} occur in both orders.")

    @cached_property
    def _pair_table(self) -> tuple[tuple[tuple[str, str], ...], Ints]:
        combined = self.system_1.astype(np.int64) * max(len(self.systems), 1) + self.system_2
        used, _, codes = distinct(combined)
        pairs = tuple(
            (self.systems[code // len(self.systems)], self.systems[code % len(self.systems)]) for code in used
        )
        return pairs, codes

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs (system 1, system 2) that occur."""
        return self._pair_table[0]

    @property
    def pair(self) -> Ints:
        """Codes into `pairs`, shape (n,)."""
        return self._pair_table[1]

    def arm_code(self, arm: str) -> int:
        return _code_of(arm, self.arms, "arm")

    def system_code(self, system: str) -> int:
        return _code_of(system, self.systems, "system")

    def cells(self, by: Sequence[str] = ("arm", "pair")) -> Iterator[tuple[ItemCell, Ints]]:
        """The parts into which `by` (of "arm", "pair", "category") divides the items: cell, row indices."""
        if unknown := set(by) - set(CELL_FACTORS):
            raise ParameterError(f"Items cannot be divided by {', '.join(sorted(unknown))}.")
        factors = {"arm": self.arm, "pair": self.pair, "category": self.category}
        combined = np.zeros(len(self), dtype=np.int64)
        for name in by:
            codes = factors[name]
            combined = combined * (int(codes.max(initial=0)) + 1) + codes
        used, _, codes = distinct(combined)
        for index in split(codes, len(used)):
            yield self._cell(by, int(index[0])), index

    def _cell(self, by: Sequence[str], row: int) -> ItemCell:
        pair = self.pairs[self.pair[row]] if "pair" in by else (None, None)
        return ItemCell(
            arm=self.arms[self.arm[row]] if "arm" in by else None,
            system_1=pair[0],
            system_2=pair[1],
            category=self.categories[self.category[row]] if "category" in by else None,
        )


@dataclass(frozen=True, eq=False)
class Judgments(_Rows):
    """One row per counting judgment of one rater group, replicates reduced; arrays of shape (n,).

    `item` indexes the rows of `Items`, `rater` codes `raters` (pseudonyms). `vote` is FIRST, SECOND, TIE, BOTH_BAD
    or MISSING, which agreement is about; `number` the probability that the second canonical response is better (nan
    where absent); `first` says which canonical response was presented first (0 or 1, UNKNOWN_ORDER where unknown).
    """

    item: Ints
    rater: Ints
    raters: tuple[str, ...]
    vote: Ints
    number: Floats
    first: Ints

    def __post_init__(self) -> None:
        n = len(self.item)
        _coerce(self, "item", n, np.int32, 0, 2**31)
        _coerce(self, "rater", n, np.int32, 0, len(self.raters))
        _coerce(self, "vote", n, np.int8, MISSING, N_VOTES)
        _coerce(self, "first", n, np.int8, UNKNOWN_ORDER, 2)
        number = np.asarray(self.number, dtype=np.float64)
        if number.shape != (n,):
            raise TidyDataError(f"The column number has shape {number.shape} instead of ({n},).")
        # nan fails both comparisons, so absent numbers pass.
        if bool(np.any((number < 0) | (number > 1))):
            raise TidyDataError("The column number must hold probabilities between 0 and 1.")
        _set(self, "number", number)

    @cached_property
    def label(self) -> Ints:
        """FIRST, SECOND, TIE or MISSING (n,), by which wins are counted: where both are bad, neither is preferred."""
        return labels_of(self.vote)


@dataclass(frozen=True, eq=False)
class Checks(_Rows):
    """The context-aware checklist in long form: one row per judgment, follow-up and response.

    `judgment` indexes the rows of `Judgments`, `follow_up` counts from 0, `response` is 0 or 1 for the
    canonical responses, `value` 1 where the rater found the follow-up's answer taken into account.
    """

    judgment: Ints
    follow_up: Ints
    response: Ints
    value: Ints

    def __post_init__(self) -> None:
        n = len(self.judgment)
        _coerce(self, "judgment", n, np.int32, 0, 2**31)
        _coerce(self, "follow_up", n, np.int16, 0, 2**15)
        _coerce(self, "response", n, np.int8, 0, 2)
        _coerce(self, "value", n, np.int8, 0, 2)


def labels_of(vote: Ints) -> Ints:
    """The votes (n,) as labels: BOTH_BAD is a tie."""
    return np.minimum(vote, TIE)


def _are_dense(codes: Ints) -> bool:
    """True of codes that number not many more things than there are rows, so that they can be counted in a table."""
    return bool(len(codes)) and int(codes.min()) >= 0 and int(codes.max()) <= 4 * len(codes) + 1024


def countable(codes: Ints) -> Ints:
    """The `codes` (n,) themselves where they can be counted in a table, others anew as `distinct` has them."""
    return codes if _are_dense(codes) else distinct(codes).code


def sorted_codes(codes: Ints) -> Ints:
    """The different `codes` (n,), ascending. To hash them, as `np.unique` does, takes many times as long."""
    ordered = np.sort(codes)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def ascending_order(codes: Ints) -> Ints:
    """The order (n,) in which `codes` (n,), all of them different, ascend."""
    if not _are_dense(codes):
        return np.argsort(codes)
    row = np.full(int(codes.max()) + 1, -1, dtype=np.int32)
    row[codes] = np.arange(len(codes), dtype=np.int32)
    return row[row >= 0]


def check_items(items: Items, judgments: Judgments) -> None:
    """Raises TidyDataError where a judgment points at an item that does not exist."""
    if len(judgments) and int(judgments.item.max()) >= len(items):
        raise TidyDataError("A judgment refers to an item that does not exist.")


def split(codes: Ints, n: int) -> list[Ints]:
    """Row indices by code: a list of `n` arrays, each ascending; negative codes belong to none."""
    if int(np.abs(codes).max(initial=0)) <= np.iinfo(np.int16).max:
        codes = codes.astype(np.int16)  # which are sorted by counting
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(n + 1))
    return [order[start:stop] for start, stop in pairwise(bounds)]


class Distinct(NamedTuple):
    """The `values` (k,) that occur, ascending, the `first` row (k,) of each, and each row's `code` (n,) among them."""

    values: Ints
    first: Ints
    code: Ints


def distinct(codes: Ints) -> Distinct:
    """The different `codes` (n,), as `np.unique` has them.

    Most codes number something that there are fewer of than rows; these are counted, in a tenth of the time of sorting.
    """
    if not _are_dense(codes):
        return Distinct(*np.unique(codes, return_index=True, return_inverse=True))
    occurs = np.bincount(codes) > 0
    values, code = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]
    first = np.empty(len(values), dtype=np.int64)
    first[code[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of equal indices the last one stays
    return Distinct(values.astype(codes.dtype, copy=False), first, code)


def connected(one: Ints, other: Ints, n: int) -> Ints:
    """The number from 0 of each node's connected group (n,) in the graph of the edges `one` (e,) to `other` (e,)."""
    import scipy

    edges = scipy.sparse.coo_array((np.ones(len(one)), (one, other)), shape=(n, n))
    return np.asarray(scipy.sparse.csgraph.connected_components(edges, directed=False)[1])


def _code_of(name: str, table: tuple[str, ...], kind: str) -> int:
    if name not in table:
        raise UnknownNameError(f"The data has no {kind} named {name}.")
    return table.index(name)


def _row_arrays(rows: Any) -> list[str]:
    return [field.name for field in fields(rows) if isinstance(getattr(rows, field.name), np.ndarray)]


def _set(target: object, name: str, value: Any) -> None:
    object.__setattr__(target, name, value)  # the dataclass is frozen for everybody else


def _coerce(target: object, name: str, n: int, dtype: type[np.integer[Any]], low: int, high: int) -> None:
    """Checks shape (n,) and range [low, high) of an integer column, and stores it as `dtype`."""
    column = np.asarray(getattr(target, name))
    if column.shape != (n,):
        raise TidyDataError(f"The column {name} has shape {column.shape} instead of ({n},).")
    if n and not np.issubdtype(column.dtype, np.integer):
        raise TidyDataError(f"The column {name} must hold whole numbers.")
    if n and not (low <= int(column.min()) and int(column.max()) < high):
        raise TidyDataError(f"The column {name} must hold values from {low} to {high - 1}.")
    _set(target, name, column.astype(dtype, copy=False))
