"""Problems of a dump, as sentences with their lines, and the exceptions that carry them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.refusals import Refused

# Nobody reads more of them than this.
MAX_SHOWN = 1_000
# A message may quote a value of the file; not all of it.
MAX_QUOTED = 300
# Of a fault that is on many lines, so many stretches of them are named.
MAX_STRETCHES = 5
# A row's key, as it stands beside its number, and the longest place that such sentences have.
MAX_KEY = 24
MAX_PLACE = 240
NUMBERED = re.compile(r"(.*?)(\d+)")


class LineInvalid(Exception):
    """One line can't be taken; carries every reason."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


@dataclass
class _Stretch:
    """Lines in a row, with the keys of the first and the last where they have some."""

    first: int
    last: int
    first_key: str
    last_key: str

    def __str__(self) -> str:
        keys = [_short_key(each) for each in (self.first_key, self.last_key) if each]
        if self.first == self.last:
            return f"{self.first} (key {keys[0]})" if keys else str(self.first)
        return f"{self.first} to {self.last}{f' (keys {keys[0]} to {keys[1]})' if len(keys) == 2 else ''}"


def _short_key(key: str) -> str:
    # What stands behind ": " is what is wrong.
    short = key.replace(": ", ":")
    return repr(short if len(short) <= MAX_KEY else f"{short[:MAX_KEY]}…")


class Places:
    """The places of one fault: stretches of numbered lines, or a place that has no number."""

    def __init__(self, where: str, key: str = "") -> None:
        found = NUMBERED.fullmatch(where)
        self.before = found[1] if found else where
        self.stretches = [_Stretch(int(found[2]), int(found[2]), key, key)] if found else []
        self.more = 0

    def add(self, number: int, previous: int, key: str = "") -> None:
        """`previous` is the place that was looked at before: what lies between is empty, or the rest of its row."""
        last = self.stretches[-1]
        if last.first <= number <= last.last + 1 or last.last == previous:
            if number > last.last:
                last.last, last.last_key = number, key
        elif len(self.stretches) < MAX_STRETCHES:
            self.stretches.append(_Stretch(number, number, key, key))
        else:
            self.more += 1

    def __str__(self) -> str:
        if not self.stretches:
            return self.before
        named = [str(each) for each in self.stretches]
        if self.more:
            named.append(f"{self.more:,} more")
        if len(named) == 1:
            return f"{self.before}{named[0]}"
        return f"{self.before}{', '.join(named[:-1])} and {named[-1]}"


class Problems:
    """A collection of sentences, each once with all its lines ("line 3 to 120: ..."): a file made by a wrong script has
    the same fault on every line. The first thousand are kept, of the others their number."""

    def __init__(self) -> None:
        self.total = 0
        # By what stands before the number, and the sentence.
        self._found: dict[tuple[str, str], Places] = {}
        self._previous = 0

    def add(self, where: str, problems: Iterable[str], key: str = "") -> None:
        """Add what is wrong with a place, if anything is; places come in their order. `key` is the row's own name."""
        numbered = NUMBERED.fullmatch(where)
        self._add(where, numbered, problems, key)
        if numbered:
            self._previous = int(numbered[2])

    def _add(self, where: str, numbered: re.Match[str] | None, problems: Iterable[str], named: str) -> None:
        for problem in map(shorten, problems):
            key = (numbered[1] if numbered else where, problem)
            if (known := self._found.get(key)) is not None:
                if numbered:
                    known.add(int(numbered[2]), self._previous, named)
                continue
            self.total += 1
            if self.total <= MAX_SHOWN:
                self._found[key] = Places(where, named)

    @property
    def sentences(self) -> list[str]:
        return [f"{places}: {problem}" for (_, problem), places in self._found.items()]

    def raise_if_any(self) -> None:
        if self.total:
            raise Refused(*self.sentences, total=self.total)


def place_and_fault(sentence: str) -> tuple[str, str]:
    """("line 3", "query: ...") of "line 3: query: ..."; what names no place has none."""
    where, colon, what = sentence.partition(": ")
    return (where, what) if colon and len(where) <= MAX_PLACE else ("", sentence)


def shorten(text: str) -> str:
    """The sentence with its middle left out where it quotes too much."""
    if len(text) <= MAX_QUOTED:
        return text
    half = MAX_QUOTED // 2
    return f"{text[:half]} [...] {text[-half:]}"
