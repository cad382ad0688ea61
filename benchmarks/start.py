"""The CPU that a command takes to start: `manage.py help`, and `manage.py migrate` on an empty SQLite file.

CPU is that of the child, user and system. Each turn starts the commands in every checkout one after the other, so that
what else the machine does falls on all of them; the first turn, in which Python compiles, does not count.

Usage: python -m benchmarks.start [OTHER_CHECKOUT] [--turns N] [--migrations N]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = "import django, sys; django.setup(); print(len(sys.modules))"
ADDRESSES = (
    "import django, sys; django.setup(); from django.urls import get_resolver; get_resolver().url_patterns; "
    "print(len(sys.modules))"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "other", nargs="?", type=Path, help="another checkout of the project, which runs in turn"
    )
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--migrations", type=int, default=3, help="turns of migrate; 0: none")
    # Started with others, it is named among them.
    given = parser.parse_args([] if sys.argv[1:2] == ["start"] else None)
    checkouts = [ROOT, *([given.other.resolve()] if given.other else [])]
    print(f"{os.cpu_count()} cores; CPU seconds, the median of the turns and the least and most")
    for command, turns in (("help", given.turns), ("migrate", given.migrations)):
        if turns:
            told(f"manage.py {command}", list(took(checkouts, command, turns).values()))
    for what, script in (("set up", MODULES), ("with all addresses", ADDRESSES)):
        print(f"modules {what}: " + ", other ".join(modules(each, script) for each in checkouts))


def took(checkouts: Sequence[Path], command: str, turns: int) -> dict[Path, list[float]]:
    """The CPU seconds of each turn but the first."""
    found: dict[Path, list[float]] = {each: [] for each in checkouts}
    for turn in range(turns + 1):
        for each in checkouts:
            with tempfile.TemporaryDirectory() as folder:
                seconds = cpu(each, folder, "manage.py", command, *(["-v0"] if command == "migrate" else []))
            if turn:
                found[each].append(seconds)
    return found


def cpu(checkout: Path, folder: str, *arguments: str) -> float:
    child = subprocess.Popen(
        [sys.executable, *arguments], cwd=checkout, env=environment(folder), stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{checkout}: {' '.join(arguments)} failed")
    return used.ru_utime + used.ru_stime


def modules(checkout: Path, script: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=checkout,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=True,
        )
    return f"{int(done.stdout):,}"


def environment(folder: str) -> dict[str, str]:
    """The embedded default in this folder, with compiled modules kept as everywhere."""
    own = ("DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return kept | {"ASSAY_VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}


def told(name: str, taken: Sequence[Sequence[float]]) -> None:
    def one(seconds: Sequence[float]) -> str:
        return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"

    line = f"{name}: {one(taken[0])}"
    if len(taken) > 1:
        ratios = sorted(here / there for here, there in zip(*taken, strict=True))
        line += f", other {one(taken[1])}; of the other's {statistics.median(ratios):.2f} "
        line += f"({ratios[0]:.2f} to {ratios[-1]:.2f})"
    print(line)


if __name__ == "__main__":
    main()
