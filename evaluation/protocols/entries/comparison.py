"""Several sets of entries beside each other: what they agree in, and where they differ."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from evaluation.protocols.entries.sets import Entry, differing_fields, same_content

# So much alike are two entries at least that are put beside each other, of 2 for equal ones.
ALIKE = 0.5


@dataclass(frozen=True)
class AlignedEntries:
    """Entries of several sets that are about the same: per set the entry, or None where the set has none.

    `differs` names the fields in which those that are there differ.
    """

    entries: tuple[Entry | None, ...]
    differs: frozenset[str]

    @property
    def everywhere(self) -> bool:
        """True if every set has one."""
        return None not in self.entries

    @property
    def agreed(self) -> bool:
        """True if every set has one, and all say the same."""
        return self.everywhere and not self.differs


def compare_sets(sets: Sequence[Sequence[Entry]]) -> list[AlignedEntries]:
    """The sets side by side: each entry in one row, with the entries of the other sets that are most like it.

    The rows stand in the order of the first set; what only later sets have comes after it, in their order.
    """
    rows: list[list[Entry | None]] = []
    for at, entries in enumerate(sets):
        free = list(entries)
        for _, row, entry in _closest_first(rows, entries):
            if row[at] is None and entry in free:
                row[at] = entry
                free.remove(entry)
        for entry in free:
            row = [None] * len(sets)
            row[at] = entry
            rows.append(row)
    return [AlignedEntries(tuple(row), differing_fields([entry for entry in row if entry])) for row in rows]


def _closest_first(
    rows: Sequence[list[Entry | None]], entries: Sequence[Entry]
) -> list[tuple[float, list[Entry | None], Entry]]:
    """Pairs of a row and an entry that are alike enough, the most alike first; equals in their order."""
    pairs = [
        (max(_alikeness(entry, other) for other in row if other is not None), row, entry)
        for row in rows
        for entry in entries
    ]
    return sorted((pair for pair in pairs if pair[0] >= ALIKE), key=lambda pair: -pair[0])


def _alikeness(one: Entry, other: Entry) -> float:
    """The similarity of two entries from 0 to 2: that of their conditions plus that of their answers."""
    if same_content(one, other):
        return 2.0
    conditions = shared_words(one["condition"], other["condition"])
    return conditions + shared_words(" ".join(one["answers"]), " ".join(other["answers"]))


def shared_words(one: str, other: str) -> float:
    """The Dice coefficient of two texts' words: twice the words in common, divided by the words of both."""
    first, second = set(words_of(one)), set(words_of(other))
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def words_of(text: str) -> list[str]:
    """The words of a text, without case and punctuation."""
    return re.findall(r"\w+", text.casefold())


def mark_differences(text: str, other: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether the other text lacks it; together they are the text."""
    ours, theirs = re.findall(r"\s*\S+\s*", text), re.findall(r"\s*\S+\s*", other)
    matcher = SequenceMatcher(
        None, [word.strip() for word in ours], [word.strip() for word in theirs], autojunk=False
    )
    return [
        ("".join(ours[start:end]), what != "equal")
        for what, start, end, _, _ in matcher.get_opcodes()
        if end > start
    ]
