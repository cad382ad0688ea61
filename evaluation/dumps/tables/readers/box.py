"""Uploaded files are read in a process of their own, which is ended when it takes too long or too much memory.

Two kilobytes may unpack to a million rows, and no reader tells beforehand. In a thread of the web this would go on
after its visitor has left, and what it took of memory would stay.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import BoundedSemaphore, Event, Timer
from typing import Any

from evaluation.dumps.tables.sheet import OUT_OF_MEMORY, RawRows
from evaluation.refusals import Refused

ROOT = Path(__file__).resolve().parents[4]
# The process needs none of the others, and least of all those with secrets in them.
NEEDED = ("PATH", "PYTHONPATH", "LANG", "LC_ALL")
# Memory that is reserved counts as used: what Arrow's other allocators take in advance, and what libraries set aside
# for each processor that a machine has.
FRUGAL = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
ADVICE = "Save the table anew as CSV, without merged cells and empty rows, or divide it."


@dataclass(frozen=True)
class Limits:
    """Seconds of the processor, and bytes of memory; the clock stops it after twice the seconds."""

    seconds: int
    memory: int = 2_000_000_000

    @property
    def too_long(self) -> Refused:
        return Refused(f"Reading it took longer than {self.seconds} seconds and was stopped. {ADVICE}")

    @property
    def too_large(self) -> Refused:
        return Refused(
            f"Reading it took more than {self.memory // 1_000_000:,} MB of memory and was stopped. {ADVICE}"
        )


# Of the first rows, for which a page waits, and of a whole table, which a worker or a command reads.
LOOK = Limits(30)
WHOLE = Limits(300)
# So many tables are looked at by one process at once, or they would have all of the web's threads. The pages of one
# map ask for four within a second, which wait for each other.
_looks = BoundedSemaphore(2)
PATIENCE = 1.5


def read_apart(
    path: Path, sheet: str = "", limit: int | None = None, limits: Limits | None = None
) -> RawRows:
    """The rows of the file or folder, of at most `limit` rows; Refused with a sentence where it can't be read within
    the limits."""
    limits = limits or (WHOLE if limit is None else LOOK)
    with _answers(
        {"ask": "rows", "path": str(path.resolve()), "sheet": sheet, "limit": limit}, limits
    ) as answers:
        about: RawRows = next(answers)
        return replace(about, rows=[row for batch in answers for row in batch])


def is_own_format(path: Path) -> bool:
    """True for Assay's own JSONL, by its first lines."""
    with _answers({"ask": "is_own_format", "path": str(path.resolve())}, LOOK) as answers:
        return bool(next(answers))


@contextmanager
def _answers(asked: dict[str, Any], limits: Limits) -> Iterator[Iterator[Any]]:
    with ExitStack() as held:
        if limits is LOOK:
            if not _looks.acquire(timeout=PATIENCE):
                raise Refused("Other tables are being read at this moment. Try again in a few seconds.")
            held.callback(_looks.release)
        with _child(asked, limits) as answers:
            yield answers


@contextmanager
def _child(asked: dict[str, Any], limits: Limits) -> Iterator[Iterator[Any]]:
    asked = {**asked, "seconds": limits.seconds, "memory": limits.memory}
    environment = {name: os.environ[name] for name in NEEDED if name in os.environ}
    child = subprocess.Popen(  # noqa: S603  # our own module under our own interpreter
        [sys.executable, "-m", "evaluation.dumps.tables.readers.child", json.dumps(asked)],
        cwd=ROOT,
        env=environment | FRUGAL,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    is_late = Event()

    def stop() -> None:
        is_late.set()
        child.kill()

    clock = Timer(2 * limits.seconds, stop)
    clock.start()
    try:
        yield _received(child, limits, is_late)
    finally:
        clock.cancel()
        child.kill()
        child.communicate()


def _received(child: subprocess.Popen[bytes], limits: Limits, is_late: Event) -> Iterator[Any]:
    assert child.stdout is not None
    while True:
        try:
            kind, value = pickle.load(child.stdout)  # noqa: S301  # written by our own module
        except (EOFError, pickle.UnpicklingError):
            status = child.wait()
            if status == -signal.SIGXCPU or is_late.is_set():
                raise limits.too_long from None
            # A library that gets no memory may end its process instead of saying so; so may the system.
            if status < 0 or status == OUT_OF_MEMORY:
                raise limits.too_large from None
            raise RuntimeError(f"the process that reads tables ended with {status}") from None
        if kind == "end":
            return
        if kind == "refused":
            problems, total = value
            raise Refused(*problems, total=total)
        if kind == "memory":
            raise limits.too_large
        if kind == "failed":
            raise Refused(f"It can't be read ({value}). {ADVICE}")
        yield value
