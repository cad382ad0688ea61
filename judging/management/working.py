"""Work on a run at the shell, with a bar that shows how far it is and a Ctrl-C that loses nothing."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from judging.models import Run
from judging.services.runs.progress import run_progress
from judging.services.runs.session import Tick
from judging.services.runs.work import work_on


def work_to_the_end(run: Run, name: str, *, shown: bool) -> bool:
    """Work on a run here and now; False if somebody interrupted. The given instance is as it is then."""
    before = run_progress(run)
    with (
        _interrupts() as interrupted,
        tqdm(
            total=before.total,
            initial=before.final,
            unit="call",
            disable=not shown,
            file=sys.stderr,
            desc=name,
        ) as bar,
    ):

        def on_tick(tick: Tick) -> None:
            bar.update(before.final + tick.final - bar.n)
            bar.set_postfix_str(f"{tick.tokens:,} tokens, cost {tick.spent:.4f}, {tick.failed:,} not ok")

        work_on(run.pk, over_limit=True, should_stop=lambda: bool(interrupted), on_tick=on_tick)
    run.refresh_from_db()
    return not interrupted


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Ctrl-C and a polite kill are noted and not raised: calls in flight are let finish, what is left is given back."""
    seen: list[int] = []
    names = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {name: signal.signal(name, lambda number, frame: seen.append(number)) for name in names}
    except ValueError:  # not in the main thread, where no signal arrives
        before = {}
    try:
        yield seen
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
