"""Corpora that researchers upload: checked line by line, and given their name among the others once all is good."""

import errno
import filecmp
import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import BinaryIO

from evaluation.dumps.problems import Problems
from evaluation.refusals import Refused
from judging.retrieval.corpora import CORPORA, LONGEST_LINE, read_fragment

MAX_NAME = 100
# Of file systems that know no links.
UNLINKED = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
# A worker that was killed leaves its part of a file; after so many seconds nobody is writing it any more.
STALE_SECONDS = 86_400


def corpus_name(given: str) -> str:
    """The name under which a file stands in the folder, in letters that every system takes; Refused if it is taken."""
    stem = PurePath(given.replace("\\", "/")).name.removesuffix(".jsonl")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:MAX_NAME]
    if not stem:
        raise Refused("Name the corpus with letters or digits.")
    name = f"{stem}.jsonl"
    if (_folder() / name).exists():
        raise _taken(name)
    return name


def add_corpus(path: Path, name: str, *, watch: Callable[[str, int, int], None]) -> int:
    """Put a file among the corpora; return its number of documents. Refused names the lines that are none, and then
    nothing is there. A file that stands there is never replaced: runs may have used it."""
    folder = _folder()
    _remove_stale(folder)
    part = folder / f".{name}.{secrets.token_hex(8)}.part"
    try:
        with path.open("rb") as source, part.open("xb") as copy:
            documents = _copy(source, copy, path.stat().st_size, watch)
            copy.flush()
            os.fsync(copy.fileno())
        watch("placing", 1, 1)  # whoever lost the job stops here
        target = folder / name
        # The same file: a worker that was killed had placed it already.
        if not (target.exists() and filecmp.cmp(part, target, shallow=False)):
            _place(part, target)
    except PermissionError:
        raise Refused("The folder of corpora can't be written to; its operator has to allow it.") from None
    finally:
        part.unlink(missing_ok=True)
    return documents


def _folder() -> Path:
    folder = CORPORA.folder()
    if not folder.is_dir():
        raise Refused("The folder of corpora is not there; whoever runs the server has to make it.")
    return folder


def _taken(name: str) -> Refused:
    return Refused(
        f"There is a corpus {name} already. Give this one another name: runs may have used the other."
    )


def _copy(source: BinaryIO, target: BinaryIO, size: int, watch: Callable[[str, int, int], None]) -> int:
    """Copy line by line what is checked; Refused with every line that is no fragment."""
    problems = Problems()
    ids: set[str] = set()
    number = done = 0
    while line := source.readline(LONGEST_LINE + 1):
        number += 1
        watch("checking", done, size)
        done += len(line)
        if not line.strip():
            continue
        record = read_fragment(line)
        if isinstance(record, str):
            problems.add(f"line {number}", [record])
            if len(line) > LONGEST_LINE:
                break  # the rest of it would be taken for lines
        elif record["id"] in ids:
            problems.add(f"line {number}", [f"the id {record['id']} appears twice"])
        else:
            ids.add(record["id"])
            target.write(line)
    problems.raise_if_any()
    if not ids:
        raise Refused("The file has no documents.")
    return len(ids)


def _place(part: Path, target: Path) -> None:
    """Give the file its name, unless somebody else's has it by now."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise _taken(target.name) from None
    except OSError as error:
        if error.errno not in UNLINKED:
            raise
        if target.exists():
            raise _taken(target.name) from None
        part.replace(target)


def _remove_stale(folder: Path) -> None:
    for path in folder.glob(".*.part"):
        if path.stat().st_mtime < time.time() - STALE_SECONDS:
            path.unlink(missing_ok=True)
