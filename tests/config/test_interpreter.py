"""`make setup` takes the newest Python that will do, and says what is needed where none will."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Passes for the Python that it is named after; its environments are a note of who made them.
PRETENDER = """#!/bin/sh
if [ "$1" = -m ]; then mkdir -p "$3/bin" && echo {version} > "$3/made-by" && touch "$3/bin/python"; exit; fi
exec {python} -c 'import sys; sys.version_info = ({numbers}, 1, "final", 0); exec(sys.argv[1])' "$2"
"""
SHIM = "#!/bin/sh\necho 'the command exists, but not in the version chosen' >&2\nexit 127\n"


@pytest.fixture
def machine(tmp_path):
    """A clone's Makefile on a machine where only `pythons` are found; returns how `make` went."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    found = tmp_path / "bin"
    found.mkdir()
    for tool in ("sh", "mkdir", "touch", "rm"):
        (found / tool).symlink_to(shutil.which(tool))

    def make(pythons, *arguments):
        for name, script in pythons.items():
            (found / name).write_text(script)
            (found / name).chmod(0o755)
        return subprocess.run(
            [shutil.which("make"), *arguments, ".venv/bin/python"],
            cwd=tmp_path, env={"PATH": str(found)}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return make


def python(version):
    return PRETENDER.format(version=version, python=sys.executable, numbers=version.replace(".", ", "))


def made_by(tmp_path):
    return (tmp_path / ".venv" / "made-by").read_text().strip()


def test_the_newest_supported_python_is_taken(machine, tmp_path):
    found = {f"python{version}": python(version) for version in ("3.11", "3.13", "3.12", "3.15")}
    assert machine({**found, "python3": python("3.15")}).returncode == 0
    assert made_by(tmp_path) == "3.13"


def test_a_shim_that_does_not_run_is_passed_over(machine, tmp_path):
    assert machine({"python3.13": SHIM, "python3.12": python("3.12")}).returncode == 0
    assert made_by(tmp_path) == "3.12"


def test_a_python_without_a_number_to_its_name_will_do(machine, tmp_path):
    assert machine({"python3": python("3.14")}).returncode == 0
    assert made_by(tmp_path) == "3.14"


def test_the_python_asked_for_is_taken_and_no_other(machine, tmp_path):
    found = {"python3.14": python("3.14"), "mine": python("3.11")}
    assert machine(found, "PYTHON=mine").returncode == 0
    assert made_by(tmp_path) == "3.11"
    shutil.rmtree(tmp_path / ".venv")
    refused = machine(found, "PYTHON=other")
    assert refused.returncode != 0
    assert "Tried: other." in refused.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("found", [{}, {"python3": python("3.10")}, {"python3": python("3.15")}])
def test_without_one_it_says_what_is_needed(machine, tmp_path, found):
    refused = machine(found)
    assert refused.returncode != 0
    assert "Assay needs Python 3.11 to 3.14" in refused.stderr
    assert "make setup PYTHON=/path/to/python" in refused.stderr
    assert not (tmp_path / ".venv").exists()


def test_what_names_the_supported_pythons_agrees():
    supported = re.search(r"^PYTHONS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    newest, oldest = supported[0], supported[-1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["requires-python"] == f">={oldest}"
    assert project["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert project["tool"]["mypy"]["python_version"] == oldest
    for page in ("README.md", "docs/getting-started.md", "docs/operating.md"):
        assert f"Python {oldest} to {newest}" in (ROOT / page).read_text(), page
    assert "{}.{}".format(*sys.version_info) in supported
