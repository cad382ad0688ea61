"""Problems of a dump, as sentences with their lines, and the exceptions that carry them."""

import re
from collections.abc import Iterable

from evaluation.refusals import Refused

# Nobody reads more of them than this.
MAX_SHOWN = 1_000
# A message may quote a value of the file; not all of it.
MAX_QUOTED = 300
# Of a fault that is on many lines, so many stretches of them are named.
MAX_STRETCHES = 5
NUMBERED = re.compile(r"(.*?)(\d+)")


class LineInvalid(Exception):
    """One line can't be taken; carries every reason."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class _Places:
    """The places of one fault: stretches of numbered lines, or a place that has no number."""

    def __init__(self, where: str) -> None:
        found = NUMBERED.fullmatch(where)
        self.before = found[1] if found else where
        self.stretches = [[int(found[2]), int(found[2])]] if found else []
        self.more = 0

    def add(self, number: int, previous: int) -> None:
        """`previous` is the place that was looked at before: what lies between is empty, or the rest of its row."""
        last = self.stretches[-1]
        if last[0] <= number <= last[1] + 1 or last[1] == previous:
            last[1] = max(last[1], number)
        elif len(self.stretches) < MAX_STRETCHES:
            self.stretches.append([number, number])
        else:
            self.more += 1

    def __str__(self) -> str:
        if not self.stretches:
            return self.before
        named = [str(first) if first == last else f"{first} to {last}" for first, last in self.stretches]
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
        self._found: dict[tuple[str, str], _Places] = {}
        self._previous = 0

    def add(self, where: str, problems: Iterable[str]) -> None:
        """Add what is wrong with a place, if anything is; places come in their order."""
        numbered = NUMBERED.fullmatch(where)
        self._add(where, numbered, problems)
        if numbered:
            self._previous = int(numbered[2])

    def _add(self, where: str, numbered: re.Match[str] | None, problems: Iterable[str]) -> None:
        for problem in map(shorten, problems):
            key = (numbered[1] if numbered else where, problem)
            if (known := self._found.get(key)) is not None:
                if numbered:
                    known.add(int(numbered[2]), self._previous)
                continue
            self.total += 1
            if self.total <= MAX_SHOWN:
                self._found[key] = _Places(where)

    @property
    def sentences(self) -> list[str]:
        return [f"{places}: {problem}" for (_, problem), places in self._found.items()]

    def raise_if_any(self) -> None:
        if self.total:
            raise Refused(*self.sentences, total=self.total)


def shorten(text: str) -> str:
    """The sentence with its middle left out where it quotes too much."""
    if len(text) <= MAX_QUOTED:
        return text
    half = MAX_QUOTED // 2
    return f"{text[:half]} [...] {text[-half:]}"
