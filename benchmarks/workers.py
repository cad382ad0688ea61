"""Worker processes of benchmarks: all loaded before any begins, each with what it took; and their endpoint."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.dumps import ROOT


@contextmanager
def endpoint_process(latency: float) -> Iterator[str]:
    """The URL of the tests' endpoint in a process of its own, which answers after so many seconds."""
    command = [sys.executable, "-m", "tests.judging.endpoint", "--latency", str(latency)]
    endpoint = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert endpoint.stdout is not None
    try:
        yield endpoint.stdout.readline().strip()
    finally:
        endpoint.terminate()
        endpoint.wait(10)


def at_once(module: str, processes: int, *arguments: str) -> list[Any]:
    """What so many processes of a module print last; they begin together."""
    command = [sys.executable, "-m", module, *arguments]
    started = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for process in started:  # all are loaded before any begins
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:  # and all begin together
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [process.communicate()[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    return [json.loads(text.splitlines()[-1]) for text in found]


def be_a_worker(steps: Mapping[str, Callable[..., Any]], step: str, *arguments: str) -> None:
    """The other side of `at_once`: one of a module's steps, in this process."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    import django

    django.setup()
    import judging.backends.chat  # its client takes long to import
    import judging.services.runs.session  # noqa: F401

    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(steps[step](*arguments)))


def rate(measured: list[Any]) -> float:
    """Calls per second from the first process's start to the last one's end."""
    seconds = max(each["ended"] for each in measured) - min(each["began"] for each in measured)
    return float(sum(each["calls"] for each in measured) / seconds)


def cpu(measured: list[Any]) -> float:
    """Milliseconds of these processes' CPU per call."""
    return float(1000 * sum(each["cpu"] for each in measured) / sum(each["calls"] for each in measured))


def measured(began: float, cpu_before: float, calls: int) -> dict[str, float]:
    return {
        "began": began,
        "ended": time.time(),
        "cpu": time.process_time() - cpu_before,
        "calls": calls,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def resident() -> float:
    """Megabytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20
