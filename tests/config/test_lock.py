"""One lock serves every supported Python: it names all that an installation needs there, not only on the Python and the
machine that it was made with."""

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
PIN = re.compile(r"^(\w.*?) \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
VERSIONS = ["3.11.0", "3.11.2", "3.11.15", "3.12.1", "3.13.0", "3.14.0"]


def environment(version):
    minor = ".".join(version.split(".")[:2])
    return {"python_version": minor, "python_full_version": version, "sys_platform": "linux"}


def pins(*names):
    text = "".join((REQUIREMENTS / name).read_text() for name in names)
    return [Requirement(line) for line, _ in PIN.findall(text)]


def pinned(names, version):
    """What the lock installs on this Python."""
    here = environment(version)
    return {canonicalize_name(each.name) for each in pins(*names) if holds(each, here)}


def holds(requirement, environment):
    return requirement.marker is None or requirement.marker.evaluate(environment)


def extras():
    """By package, what is asked for beside it: `celery[redis]`."""
    text = "".join((REQUIREMENTS / name).read_text() for name in ("base.in", "dev.in"))
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    asked = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return {canonicalize_name(each.name): each.extras for each in asked}


def asked_by(package):
    """What a package says that it needs; nothing for one that only another Python installs."""
    try:
        return [Requirement(line) for line in requires(package) or ()]
    except PackageNotFoundError:
        return []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("files", [("base.txt",), ("base.txt", "dev.txt")], ids=["base", "dev"])
def test_whatever_a_package_asks_for_on_this_python_is_pinned(files, version):
    known, wanted, here = pinned(files, version), extras(), environment(version)
    assert {"django", "redis", "psycopg"} <= known
    missing = {
        f"{package}: {asked}"
        for package in known
        for extra in {"", *wanted.get(package, ())}
        for asked in asked_by(package)
        if holds(asked, {**here, "extra": extra}) and canonicalize_name(asked.name) not in known
    }
    assert missing == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_each_package_has_one_version_on_a_python(version):
    held = [each for each in pins("base.txt") if holds(each, environment(version))]
    names = [canonicalize_name(each.name) for each in held]
    assert len(names) == len(set(names))


def test_only_pythons_that_lack_a_name_get_its_substitute():
    """`redis` asks for async-timeout below 3.11.3 alone, which is what Debian 12 has."""
    assert "async-timeout" in pinned(["base.txt"], "3.11.2")
    assert "async-timeout" not in pinned(["base.txt"], "3.14.0")


@pytest.mark.parametrize("name", ["base.txt", "dev.txt"])
def test_the_lock_names_hashes_and_no_registry(name):
    text = (REQUIREMENTS / name).read_text()
    lines = [line for line in text.splitlines() if re.match(r"\w", line)]
    assert len(lines) == len(PIN.findall(text)) > 40
    assert "://" not in text
    assert not re.search(r"^--", text, re.MULTILINE)


def test_the_extra_is_locked_as_the_tests_have_it():
    """Whoever installs it over base.txt changes nothing of that, and has what was tested."""
    locked = {canonicalize_name(each.name): str(each.specifier) for each in pins("base.txt", "dev.txt")}
    extra = {canonicalize_name(each.name): str(each.specifier) for each in pins("embeddings.txt")}
    assert "model2vec" in extra
    assert extra == {name: locked[name] for name in extra}
