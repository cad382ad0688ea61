"""Downloads every wheel of the locks for each Python named, and installs none: so every pin has one there, but for
those of ONLY_SOURCE.

python .ci/wheels.py 3.11 3.12 ...    (`make wheels` names those that are supported)
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.requirements import Requirement

LOCKS = [Path(__file__).resolve().parents[1] / "requirements" / name for name in ("base.txt", "dev.txt")]
# A pin and the hashes that stand indented below it.
PIN = re.compile(r"^(\w[^\\\n]*)\\\n((?: +--hash=\S+(?: \\)?\n)+)", re.MULTILINE)
# Pure Python without a wheel, which pip builds as it installs it: a part of what drives Firefox.
ONLY_SOURCE = {"mozprofile"}


def pins_for(python: str) -> dict[str, str]:
    """The pins whose marker holds on this machine's system under that Python, as lines without a marker: pip would
    hold it against the Python that it runs on."""
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    pins = {}
    for lock in LOCKS:
        for line, hashes in PIN.findall(lock.read_text()):
            pin = Requirement(line)
            if pin.name not in ONLY_SOURCE and (pin.marker is None or pin.marker.evaluate(environment)):
                pins[pin.name] = f"{pin.name}{pin.specifier} \\\n{hashes}"
    return pins


def download(python: str) -> None:
    pins = pins_for(python)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = folder / "pins.txt"
        lines.write_text("".join(pins.values()))
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "--require-hashes", "--no-deps", "--only-binary=:all:", "--python-version", python,
             "--dest", folder, "--requirement", lines],
            check=True,
        )  # fmt: skip
        wheels = list(folder.glob("*.whl"))
        assert len(wheels) == len(pins)
        size = sum(wheel.stat().st_size for wheel in wheels) / 2**20
        print(f"Python {python}: {len(wheels)} wheels, {size:.0f} MiB", flush=True)


if __name__ == "__main__":
    for python in sys.argv[1:]:
        download(python)
