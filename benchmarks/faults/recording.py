"""Runs the tests of the embedded default with coverage, and keeps which test executes which line.

Once more into the same folder, it goes on with the tests that are not there yet.
"""

import os
import subprocess
import sys
from pathlib import Path

import coverage

from benchmarks.faults.drawing import APPS

PLUGINS = Path(__file__).parent / "plugins"
EMBEDDED_DEFAULT = "not browser and not postgres and not redis and not audit"
# Every process takes its context from the test that started it; those of xdist from the plugin.
SETTINGS = """\
[run]
core = ctrace
data_file = {out}/parts/coverage.sqlite3
parallel = true
include = {include}
context = ${{PYTEST_CURRENT_TEST-}}
sigterm = true
patch = _exit
disable_warnings = no-data-collected, module-not-measured, no-ctracer, dynamic-conflict
"""


def record(checkout: Path, out: Path, arguments: list[str]) -> None:
    (out / "parts").mkdir(parents=True, exist_ok=True)
    settings = out / "coverage.ini"
    include = ", ".join(f"{checkout}/{app}/*" for app in APPS)
    settings.write_text(SETTINGS.format(out=out, include=include))
    (out / "checkout").write_text(f"{checkout}\n")
    command = ["-m", EMBEDDED_DEFAULT, "--dist", "worksteal", "-p", "faults_recording", *arguments]
    done = subprocess.run(
        [checkout / ".venv/bin/python", "-m", "pytest", "-p", "no:cacheprovider", *command],
        cwd=checkout,
        env=environment() | {"FAULTS_OUT": str(out), "COVERAGE_PROCESS_START": str(settings)},
        check=False,
    )
    if done.returncode not in (0, 1, 5):  # failed tests are not asked later; nothing may be left to run
        sys.exit(f"pytest ended with {done.returncode}; the same command goes on")
    if not any((out / "parts").iterdir()):  # nothing was left to run
        return
    whole = coverage.Coverage(data_file=out / "coverage.sqlite3", config_file=False)
    whole.load()
    whole.combine([str(out / "parts")], strict=True)
    whole.save()


def environment() -> dict[str, str]:
    """The embedded default's, with the plugins, and without what pytest says to a test's processes."""
    services = ("DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE", "COVERAGE_PROCESS_START")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in services and not name.startswith("PYTEST_")
    }
    path = os.pathsep.join(filter(None, [str(PLUGINS), kept.get("PYTHONPATH")]))
    return kept | {"PYTHONPATH": path}
