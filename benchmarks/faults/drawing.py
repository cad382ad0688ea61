"""Draws faults by a seed, puts them into a checkout, and finds them again in another one."""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.faults.places import Place, places

APPS = ("evaluation", "analytics", "annotator", "judging")


@dataclass(frozen=True)
class Fault:
    path: str
    line: int
    text: str  # of the line
    occurrence: int  # of that text in the file, from 0
    kind: str
    start: int
    end: int
    after: str

    @property
    def key(self) -> tuple[str | int, ...]:
        """The same in every version of the source: its line may have moved."""
        return self.path, self.text, self.occurrence, self.kind, self.start, self.end, self.after

    @property
    def changed(self) -> str:
        return self.text[: self.start] + self.after + self.text[self.end :]


def sources(checkout: Path) -> Iterator[Path]:
    for app in APPS:
        for path in sorted((checkout / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def draw(checkout: Path, seed: int, n: int) -> list[Fault]:
    """The first n of the seed's faults: as many lines, each with one of its kinds, in one of that kind's places."""
    return list(islice(drawn(checkout, seed), n))


def drawn(checkout: Path, seed: int) -> Iterator[Fault]:
    rng = random.Random(seed)
    lines = list(lines_with_places(checkout))
    rng.shuffle(lines)
    for path, line, found in lines:
        kind = rng.choice(sorted({each.kind for each in found}))
        place = rng.choice([each for each in found if each.kind == kind])
        source = path.read_text()
        fault = fault_at(path.relative_to(checkout).as_posix(), source.split("\n"), line, place)
        if differs(source, with_fault(source, fault)):
            yield fault


def lines_with_places(checkout: Path) -> Iterator[tuple[Path, int, list[Place]]]:
    for path in sources(checkout):
        by_line = defaultdict(list)
        for place in places(path.read_text()):
            by_line[place.line].append(place)
        for line, found in by_line.items():
            yield path, line, found


def fault_at(path: str, lines: list[str], line: int, place: Place) -> Fault:
    text = lines[line - 1]
    occurrence = lines[: line - 1].count(text)
    return Fault(path, line, text, occurrence, place.kind, place.start, place.end, place.after)


def with_fault(source: str, fault: Fault) -> str:
    lines = source.split("\n")
    lines[fault.line - 1] = fault.changed
    return "\n".join(lines)


def differs(source: str, changed: str) -> bool:
    """It is still Python, and other Python."""
    try:
        return ast.dump(ast.parse(source)) != ast.dump(ast.parse(changed))
    except SyntaxError:
        return False


def found_again(fault: Fault, checkout: Path) -> Fault | None:
    """The fault with its line in this checkout; None where the line is no more."""
    path = checkout / fault.path
    if not path.exists():
        return None
    source = path.read_text()
    lines = source.split("\n")
    for place in places(source):
        here = fault_at(fault.path, lines, place.line, place)
        if here.key == fault.key:
            return here
    return None
