"""Progress bars of commands, on standard error."""

import sys
from argparse import ArgumentParser
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm


def add_progress_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--progress", action="store_true", help="Show a progress bar even if standard error is no terminal."
    )


class ProgressBar:
    """One bar per phase; silent unless somebody is watching. Use as a context manager and as a `Watch`."""

    def __init__(self, *, shown: bool, unit: str) -> None:
        self.disabled = not (shown or sys.stderr.isatty())
        self.unit = unit
        self._phase = ""
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def __call__(self, phase: str, done: int, total: int) -> None:
        if self.disabled:
            return
        if phase != self._phase:
            self._close()
            self._phase = phase
            self._bar = tqdm(desc=phase, total=total, unit=self.unit, unit_scale=True, file=sys.stderr)
        self._bar.update(done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
