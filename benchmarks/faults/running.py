"""Runs, fault by fault in a copy of the checkout, the tests that are nearest to it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

from benchmarks.faults.chosen import Tests
from benchmarks.faults.drawing import Fault, found_again, with_fault

CAUGHT, SURVIVED, GONE = "caught", "survived", "no longer there"
PLUGINS = Path(__file__).parent / "plugins"
EMBEDDED_DEFAULT = "not browser and not postgres and not redis and not audit"
UNTRUE = "untrue.txt"
ONE_TEST = 180.0  # seconds: a test that takes longer has caught its fault
NO_TESTS = 5  # pytest's
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "var", "*.sqlite3", ".*_cache")
Result = dict[str, Any]


def run(
    faults: list[Fault], checkout: Path, folder: Path, results: Path, at_once: int, most: float
) -> list[Result]:
    """Appends a line of results per fault, but for those that have one, and gives the last line of each."""
    tests = Tests(checkout)
    with copies(checkout, at_once) as free:
        while True:
            known, untrue = {tuple(each["key"]): each for each in read(results)}, read_untrue(folder)
            waiting = [each for each in faults if not stands(known.get(each.key), untrue)]
            if waiting:
                judge_all(waiting, tests, Asking(untrue, most), results, free, at_once)
            elif not distrusted([known[each.key] for each in faults], folder, Asking(untrue, most), free):
                return [known[each.key] for each in faults]


class Asking(NamedTuple):
    untrue: set[str]  # tests that fail without a fault, too
    most: float  # seconds of tests


def read_untrue(folder: Path) -> set[str]:
    path = folder / UNTRUE
    return set(path.read_text().splitlines()) if path.exists() else set()


def stands(result: Result | None, untrue: set[str]) -> bool:
    return result is not None and result.get("test") not in untrue


def judge_all(
    faults: list[Fault],
    tests: Tests,
    asking: Asking,
    results: Path,
    free: SimpleQueue[Path],
    at_once: int,
) -> None:
    writing = Lock()

    def one(fault: Fault) -> None:
        copy = free.get()
        try:
            result = {"key": fault.key, **asdict(fault), **judge(fault, tests, asking, copy)}
        finally:
            free.put(copy)
        with writing, results.open("a") as file:
            file.write(f"{json.dumps(result)}\n")
        print(said(result), flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, faults))


def distrusted(results: list[Result], folder: Path, asking: Asking, free: SimpleQueue[Path]) -> bool:
    """Whether some of the tests that caught a fault fail without one, too; they are not asked again."""
    tests = {each["test"] for each in results if "::" in each.get("test", "")} - asking.untrue
    copy = free.get()
    untrue: set[str] = set()
    while tests - untrue:
        outcome = ask(sorted(tests - untrue), Asking(asking.untrue, 3600), copy)
        if outcome.failed is None:
            break
        if outcome.failed not in tests:
            sys.exit(f"without a fault, too: {outcome.how} {outcome.failed}")
        untrue.add(outcome.failed)
    free.put(copy)
    with (folder / UNTRUE).open("a") as file:
        file.writelines(f"{test}\n" for test in sorted(untrue))
    return bool(untrue)


def read(results: Path) -> list[Result]:
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def said(result: Result) -> str:
    verdict = result["verdict"]
    if verdict == CAUGHT:
        verdict += f" after {result['seconds']:.0f} s {result['how']} {result['test']}"
    if verdict == SURVIVED:
        verdict += f" {result['ran']} tests"
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


def judge(fault: Fault, tests: Tests, asking: Asking, copy: Path) -> Result:
    here = found_again(fault, tests.checkout)
    if here is None:
        return {"verdict": GONE}
    began = time.monotonic()
    with put_into(copy, here):
        outcome = ask(tests.about(here.path), asking, copy)
    about = {"line": here.line, "ran": outcome.ran, "seconds": time.monotonic() - began}
    if outcome.failed is None:
        return {"verdict": SURVIVED, **about}
    return {"verdict": CAUGHT, "test": outcome.failed, "how": outcome.how, **about}


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


class Outcome(NamedTuple):
    ran: int
    failed: str | None = None  # the first test that did, or the file that is broken
    how: str = ""


def ask(tests: list[str], asking: Asking, copy: Path) -> Outcome:
    """Runs files of tests, or tests, in this order, until one fails or the time is over."""
    if not tests:
        return Outcome(0)
    events, plan = copy.parent / "events.jsonl", copy.parent / "chosen.json"
    events.unlink(missing_ok=True)
    plan.write_text(
        json.dumps(
            {"events": str(events), "untrue": sorted(asking.untrue), "most": asking.most, "limit": ONE_TEST}
        )
    )
    command = ["-m", EMBEDDED_DEFAULT, "-p", "faults_run", "-p", "no:cacheprovider", "-n", "0", "-q", "-x"]
    with (copy.parent / "output").open("w") as output:
        process = subprocess.Popen(
            [copy / ".venv/bin/python", "-m", "pytest", "--nomigrations", *command, *tests],
            cwd=copy,
            env=environment() | {"FAULTS_CHOSEN": str(plan)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        # Each test has its own limit; this one is of imports.
        try:
            code = process.wait(300 + asking.most + ONE_TEST)
        except subprocess.TimeoutExpired:
            code = -1
        end_all(process)
    return outcome(code, events)


def environment() -> dict[str, str]:
    """The embedded default's, with the plugin, and without what pytest says to a test's processes."""
    services = ("DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in services and not name.startswith("PYTEST_")
    }
    path = os.pathsep.join(filter(None, [str(PLUGINS), kept.get("PYTHONPATH")]))
    return kept | {"PYTHONPATH": path}


def end_all(process: subprocess.Popen[bytes]) -> None:
    """With what a test that was cut short left behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def outcome(code: int, events: Path) -> Outcome:
    happened = [json.loads(line) for line in events.read_text().splitlines()] if events.exists() else []
    ran = sum("ended" in each for each in happened)
    for each in happened:
        if "failed" in each:
            return Outcome(ran, each["failed"], "by")
        if "broken" in each:
            return Outcome(ran, each["broken"], "at import of")
    if happened and "began" in happened[-1]:
        return Outcome(ran, happened[-1]["began"], "by time-out of")
    return Outcome(ran) if code in (0, NO_TESTS) else Outcome(ran, "all tests", "at import of")
