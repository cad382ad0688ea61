"""The process that reads one file: what is asked stands in its argument as JSON, the answer goes out as pickles.

It lowers its own limits before it imports a reader, and imports neither Django nor anything else that it can do
without.
"""

import json
import os
import pickle
import resource
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.dumps.tables.sheet import OUT_OF_MEMORY, measure
from evaluation.refusals import Refused

# Rows that are sent at once: neither side holds a second copy of a table.
BATCH = 1_000
# So much of a table is looked at where somebody waits for the page, whatever the number of its rows.
LOOKED_AT_CHARACTERS = 10_000_000


def main() -> None:
    asked = json.loads(sys.argv[1])
    _limit(asked["seconds"], asked["memory"])
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        for answer in _answers(asked):
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except MemoryError:
        # Half an answer may have gone out; nothing can be said behind it.
        os._exit(OUT_OF_MEMORY)


def _limit(seconds: int, memory: int) -> None:
    # Whoever waits for a page goes first; and where memory is short, this process goes first.
    os.nice(10)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # At the first of the two it is told why it ends, which its exit status says.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    # Not every system limits it, and Linux does.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _answers(asked: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The table without its rows, batches of them, and an end; or why there is nothing."""
    from evaluation.dumps.tables.reading import holds_own_records, read_raw

    path = Path(asked["path"])
    try:
        if asked["ask"] == "is_own_format":
            yield "found", holds_own_records(path)
            return
        limit = asked["limit"]
        raw = read_raw(path, asked["sheet"], limit)
        rows = raw.rows if limit is None else _first(raw.rows, limit)
        # A reader stops at the limit, and does not know whether there are more.
        is_cut = limit is not None and len(raw.rows) >= min(limit, len(rows) + 1)
        yield "found", replace(raw, rows=(), is_cut=is_cut)
        for start in range(0, len(rows), BATCH):
            yield "found", rows[start : start + BATCH]
        yield "end", None
    except Refused as refused:
        yield "refused", (refused.problems, refused.total)
    except RecursionError:
        yield "refused", (["It is nested too deeply."], 1)
    except (MemoryError, SystemError):
        # The second is how orjson ends without memory.
        yield "memory", None
    except Exception as error:
        # The log has it; whoever brought the file gets its name.
        traceback.print_exc()
        yield "failed", type(error).__name__


def _first(rows: Sequence[tuple[int, Any]], limit: int) -> Sequence[tuple[int, Any]]:
    size = 0
    for at, (_, cells) in enumerate(rows[:limit]):
        size += sum(measure(each) for each in cells)
        if at and size > LOOKED_AT_CHARACTERS:
            return rows[:at]
    return rows[:limit]


if __name__ == "__main__":
    main()
