"""Runs, fault by fault in a copy of the checkout, the tests that execute its line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

from benchmarks.faults.drawing import Fault, found_again, with_fault
from benchmarks.faults.executed import Recorded
from benchmarks.faults.recording import environment

CAUGHT, SURVIVED, NOT_EXECUTED, GONE = "caught", "survived", "not executed", "no longer there"
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "var", "*.sqlite3", ".*_cache")
Result = dict[str, Any]


def run(faults: list[Fault], recorded: Recorded, results: Path, at_once: int, most: float) -> list[Result]:
    """Appends a line of results per fault, but for those that have one, and gives the last line of each."""
    with copies(recorded.checkout, at_once) as free:
        while True:
            known = {tuple(each["key"]): each for each in read(results)}
            waiting = [each for each in faults if not stands(known.get(each.key), recorded)]
            if waiting:
                judge_all(waiting, recorded, results, free, at_once, most)
            elif not distrusted(known.values(), recorded, free):
                return [known[each.key] for each in faults]


def stands(result: Result | None, recorded: Recorded) -> bool:
    return result is not None and result.get("test") not in recorded.untrue


def judge_all(
    faults: list[Fault], recorded: Recorded, results: Path, free: SimpleQueue[Path], at_once: int, most: float
) -> None:
    writing = Lock()

    def one(fault: Fault) -> None:
        copy = free.get()
        try:
            result = {"key": fault.key, **asdict(fault), **judge(fault, recorded, copy, most)}
        finally:
            free.put(copy)
        with writing, results.open("a") as file:
            file.write(f"{json.dumps(result)}\n")
        print(said(result), flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, faults))


def distrusted(results: Iterable[Result], recorded: Recorded, free: SimpleQueue[Path]) -> bool:
    """Whether some of the tests that caught a fault fail without one, too; they are not asked again."""
    tests = {each["test"] for each in results if each["verdict"] == CAUGHT} & recorded.reliable
    copy = free.get()
    untrue: set[str] = set()
    while failed := first_that_fails(grouped(tests - untrue), recorded, copy):
        if failed.test not in tests:
            sys.exit(f"without a fault, too: {failed.how} {failed.test}")
        untrue.add(failed.test)
    free.put(copy)
    recorded.distrust(untrue)
    return bool(untrue)


def read(results: Path) -> list[Result]:
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def said(result: Result) -> str:
    verdict = result["verdict"]
    if verdict == CAUGHT:
        verdict += f" after {result['seconds']:.0f} s {result['how']} {result['test']}"
    if verdict == SURVIVED:
        verdict += f" {result['ran']} of {result['tests']} tests that execute it"
    before, after = result["text"].strip(), Fault(**{name: result[name] for name in FIELDS}).changed.strip()
    return f"{result['path']}:{result['line']}: {result['kind']}: {verdict}\n    {before}\n    {after}"


FIELDS = tuple(Fault.__dataclass_fields__)


@contextmanager
def copies(checkout: Path, n: int) -> Iterator[SimpleQueue[Path]]:
    free: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        for number in range(n):
            copy = Path(made) / str(number) / "checkout"
            shutil.copytree(checkout, copy, ignore=NOT_COPIED, symlinks=True)
            (copy / ".venv").symlink_to((checkout / ".venv").resolve())
            free.put(copy)
        yield free


def judge(fault: Fault, recorded: Recorded, copy: Path, most: float) -> Result:
    found = found_again(fault, recorded.checkout)
    if found is None:
        return {"verdict": GONE}
    here, place = found
    tests = recorded.tests_of(here.path, place)
    if not tests:
        return {"verdict": NOT_EXECUTED, "line": here.line}
    chosen = cheapest_first(tests, recorded.seconds, most)
    began = time.monotonic()
    with put_into(copy, here):
        failed = first_that_fails(chosen, recorded, copy)
    about = {"line": here.line, "tests": len(tests), "seconds": time.monotonic() - began}
    if failed is None:
        return {"verdict": SURVIVED, "ran": sum(map(len, chosen.values())), **about}
    return {"verdict": CAUGHT, "test": failed.test, "how": failed.how, **about}


def cheapest_first(tests: set[str], seconds: dict[str, float], most: float) -> dict[str, list[str]]:
    """Files, by how long their chosen tests took together, until the tests take more than `most` seconds."""
    files = grouped(tests)
    took = {file: sum(seconds[test] for test in chosen) for file, chosen in files.items()}
    found: dict[str, list[str]] = {}
    total = 0.0
    for file in sorted(files, key=lambda file: (took[file], file)):
        total += took[file]
        if found and total > most:
            break
        found[file] = files[file]
    return found


def grouped(tests: Iterable[str]) -> dict[str, list[str]]:
    files = defaultdict(list)
    for test in tests:
        files[test.partition("::")[0]].append(test)
    return files


@contextmanager
def put_into(copy: Path, fault: Fault) -> Iterator[None]:
    path = copy / fault.path
    source = path.read_text()
    try:
        write_anew(path, with_fault(source, fault))
        yield
    finally:
        write_anew(path, source)


def write_anew(path: Path, source: str) -> None:
    """Compiled files are taken for those of a source that has the same size and second."""
    path.write_text(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


class Failed(NamedTuple):
    test: str  # or the file that is broken
    how: str


def first_that_fails(chosen: dict[str, list[str]], recorded: Recorded, copy: Path) -> Failed | None:
    limits = {test: 120 + 20 * recorded.seconds[test] for tests in chosen.values() for test in tests}
    if not limits:
        return None
    events, plan = copy.parent / "events.jsonl", copy.parent / "chosen.json"
    events.unlink(missing_ok=True)
    database = recorded.folder / "database.sqlite3"
    plan.write_text(
        json.dumps(
            {
                "files": list(chosen),
                "limits": limits,
                "events": str(events),
                "database": str(database) if database.exists() else "",
            }
        )
    )
    command = ["-p", "faults_run", "-p", "no:cacheprovider", "-n", "0", "-q", "-x", *chosen]
    with (copy.parent / "output").open("w") as output:
        process = subprocess.Popen(
            [copy / ".venv/bin/python", "-m", "pytest", *command],
            cwd=copy,
            env=environment() | {"FAULTS_CHOSEN": str(plan)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        # Each test has its own limit; this one is of imports.
        try:
            code = process.wait(300 + sum(limits.values()))
        except subprocess.TimeoutExpired:
            code = -1
        end_all(process)
    return failure(code, events)


def end_all(process: subprocess.Popen[bytes]) -> None:
    """With what a test that was cut short left behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def failure(code: int, events: Path) -> Failed | None:
    happened = [json.loads(line) for line in events.read_text().splitlines()] if events.exists() else []
    for each in happened:
        if "failed" in each:
            return Failed(each["failed"], "by")
        if "broken" in each:
            return Failed(each["broken"], "at import of")
    if happened and "began" in happened[-1]:
        return Failed(happened[-1]["began"], "by time-out of")
    return None if code == 0 else Failed("all tests", "at import of")
