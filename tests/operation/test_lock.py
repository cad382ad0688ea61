"""The lock files name all that an installation needs on any Python 3.11, not only on the one they were made with."""

import re
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
PINNED = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def pinned(*names):
    return {
        canonicalize_name(each)
        for name in names
        for each in PINNED.findall((REQUIREMENTS / name).read_text())
    }


def extras():
    """By package, what is asked for beside it: `celery[redis]`."""
    text = "".join((REQUIREMENTS / name).read_text() for name in ("base.in", "dev.in"))
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    asked = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return {canonicalize_name(each.name): each.extras for each in asked}


@pytest.mark.parametrize("version", ["3.11.0", "3.11.2", "3.11.15"])
@pytest.mark.parametrize("files", [("base.txt",), ("base.txt", "dev.txt")], ids=["base", "dev"])
def test_whatever_a_package_asks_for_on_this_python_is_pinned(files, version):
    known, wanted = pinned(*files), extras()
    assert {"django", "redis", "psycopg"} <= known
    missing = {
        f"{package}: {line}"
        for package in known
        for line in requires(package) or ()
        for extra in {"", *wanted.get(package, ())}
        if (asked := Requirement(line)).marker is None
        or asked.marker.evaluate({"python_version": "3.11", "python_full_version": version, "extra": extra})
        if canonicalize_name(asked.name) not in known
    }
    assert missing == set()
