"""Problems of a dump, as sentences with their lines, and the exceptions that carry them."""

from collections.abc import Iterable

from evaluation.refusals import Refused

# A file made by a wrong script has the same fault on every line; nobody reads more of them than this.
MAX_SHOWN = 1_000
# A message may quote a value of the file; not all of it.
MAX_QUOTED = 300


class LineInvalid(Exception):
    """One line can't be taken; carries every reason."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class Problems:
    """A collection of sentences: the first thousand in full, then only their number."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.total = 0

    def add(self, where: str, problems: Iterable[str]) -> None:
        for problem in problems:
            self.total += 1
            if len(self.sentences) < MAX_SHOWN:
                self.sentences.append(f"{where}: {shorten(problem)}")

    def raise_if_any(self) -> None:
        if self.total:
            raise Refused(*self.sentences, total=self.total)


def shorten(text: str) -> str:
    """The sentence with its middle left out where it quotes too much."""
    if len(text) <= MAX_QUOTED:
        return text
    half = MAX_QUOTED // 2
    return f"{text[:half]} [...] {text[-half:]}"
