"""Pairs with a baseline, drawn so that length tells nothing: half of a query's systems wrote more than it, half less.

HREF section 2.1.1: per instruction the responses are divided into those longer and those shorter than the baseline's,
and as many are drawn from each.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.design import generator
from evaluation.dumps.problems import LineInvalid

Record = dict[str, Any]
LONGER, SHORTER, AS_LONG = "longer than", "shorter than", "as long as"


class BaselineSampler:
    """A sampler that turns lines with the responses of many systems into pairwise lines against the baseline."""

    def __init__(self, baseline: str, per_query: int, seed: int) -> None:
        if per_query < 1:
            raise ValueError("At least one pair per query is needed.")
        self.baseline = baseline
        self.per_query = per_query
        self.seed = seed
        self.counted: Counter[str] = Counter()

    def sample(self, records: Iterable[Record]) -> Iterator[Record]:
        """The items of the pairs; LineInvalid where a record has no baseline's response or a system has two."""
        for record in records:
            yield from self._pairs(record)

    def _pairs(self, record: Record) -> Iterator[Record]:
        responses = {response["system"]: response for response in record["responses"]}
        if len(responses) < len(record["responses"]):
            raise LineInvalid(f"item {record['key']!r}: a system has several responses")
        if self.baseline not in responses:
            raise LineInvalid(f"item {record['key']!r}: no response of the baseline {self.baseline!r}")
        if any("entries" in response for response in responses.values()):
            raise LineInvalid(f"item {record['key']!r}: sets of entries can't be compared as texts")
        lengths = {system: len(response["text"]) for system, response in responses.items()}
        drawn = draw_around(
            lengths, self.baseline, self.per_query, generator(self.seed, "pairs", record["key"])
        )
        self._count(drawn, lengths)
        for system in drawn:
            kept = {name: value for name, value in record.items() if name not in ("judgments", "notes")}
            of_pair = {"responses": [responses[self.baseline], responses[system]]}
            yield {**kept, "key": f"{record['key']}-{system}"[:120], **of_pair}

    def _count(self, drawn: Sequence[str], lengths: Mapping[str, int]) -> None:
        self.counted["queries"] += 1
        self.counted["pairs"] += len(drawn)
        for system in drawn:
            self.counted[f"{_group(lengths[system], lengths[self.baseline])} the baseline"] += 1
        if len(drawn) < self.per_query:
            self.counted[f"queries with fewer than {self.per_query} other systems"] += 1


def draw_around(
    lengths: Mapping[str, int], baseline: str, wanted: int, rng: np.random.Generator
) -> list[str]:
    """Draw systems other than the baseline, half with longer and half with shorter responses than it has.

    `lengths` in characters by system. An odd one is drawn for either half; where a half is too small, systems of its
    length and then of the other half stand in. Sorted by system.
    """
    groups: dict[str, list[str]] = {LONGER: [], SHORTER: [], AS_LONG: []}
    for system in sorted(lengths):
        if system != baseline:
            groups[_group(lengths[system], lengths[baseline])].append(system)
    shuffled = {name: [group[at] for at in rng.permutation(len(group))] for name, group in groups.items()}
    first, second = (LONGER, SHORTER) if rng.integers(2) else (SHORTER, LONGER)
    drawn = shuffled[first][: (wanted + 1) // 2] + shuffled[second][: wanted // 2]
    rest = [*shuffled[AS_LONG], *shuffled[first][(wanted + 1) // 2 :], *shuffled[second][wanted // 2 :]]
    return sorted(drawn + rest[: wanted - len(drawn)])


def _group(length: int, baseline: int) -> str:
    return LONGER if length > baseline else SHORTER if length < baseline else AS_LONG
