"""Faults are drawn by their seed, change one line, are found again where the source moved on, and are judged."""

import ast
import shutil

import pytest

from benchmarks.faults.drawing import draw, drawn, fault_at, found_again, lines_with_places, with_fault
from benchmarks.faults.places import places
from benchmarks.faults.running import run
from tests.config.source_tree import ROOT

SOURCE = '''"""A module."""

from functools import cache
from typing import TYPE_CHECKING, Literal

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Iterable

Side = Literal["left", "right"]
LIMIT = 3
TABLE = {
    "key": lambda row: row.name,
}


@cache
def doubled(n: "int" = 2) -> int:
    """Twice."""
    return n + n


def kept(rows: list[int], way: Side) -> list[int]:
    """Those within the limit."""
    assert len(rows) > 1
    rows.sort()
    if not rows or way == "left":
        return f"{rows[0] < 1}" and [max(rows, LIMIT)]
    print(_("one"), "for people to read", way)
    return [
        row
        for row in rows
        if row <= LIMIT and rows.filter(at__lt="ü", name="one")
    ]
'''
FAULTS = {
    ("constant moved", "LIMIT = 4"),
    ("constant moved", '"keyx": lambda row: row.name,'),
    ("constant moved", 'def doubled(n: "int" = 3) -> int:'),
    ("+, - exchanged", "return n - n"),
    ("call dropped", "pass"),
    ("condition negated", 'if not (not rows or way == "left"):'),
    ("comparison turned", 'if not rows or way != "left":'),
    ("and, or exchanged", 'if not rows and way == "left":'),
    ("constant moved", 'if not rows or way == "leftx":'),
    ("and, or exchanged", 'return f"{rows[0] < 1}" or [max(rows, LIMIT)]'),
    ("arguments exchanged", 'return f"{rows[0] < 1}" and [max(LIMIT, rows)]'),
    ("call dropped", 'return f"{rows[0] < 1}" and [rows]'),
    ("arguments exchanged", 'print("for people to read", _("one"), way)'),
    ("arguments exchanged", 'print(_("one"), way, "for people to read")'),
    ("comparison turned", 'if row < LIMIT and rows.filter(at__lt="ü", name="one")'),
    ("comparison turned", 'if row <= LIMIT and rows.filter(at__lte="ü", name="one")'),
    ("and, or exchanged", 'if row <= LIMIT or rows.filter(at__lt="ü", name="one")'),
    ("arguments exchanged", 'if row <= LIMIT and rows.filter(at__lt="one", name="ü")'),
    ("constant moved", 'if row <= LIMIT and rows.filter(at__lt="üx", name="one")'),
    ("constant moved", 'if row <= LIMIT and rows.filter(at__lt="ü", name="onex")'),
    ("condition negated", 'if not (row <= LIMIT and rows.filter(at__lt="ü", name="one"))'),
}  # fmt: skip


def changed(source, place):
    line = source.split("\n")[place.line - 1]
    return f"{line[: place.start]}{place.after}{line[place.end :]}".strip()


def test_what_is_turned_and_what_is_left_alone():
    assert {(each.kind, changed(SOURCE, each)) for each in places(SOURCE)} == FAULTS


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """Of each app one folder."""
    path = tmp_path_factory.mktemp("part")
    for folder in ("evaluation/forms", "analytics/display", "annotator/selectors", "judging/backends"):
        (path / folder.partition("/")[0]).symlink_to(ROOT / folder)
    return path


@pytest.fixture(scope="module")
def faults(part):
    return draw(part, 1, 160)


def test_the_same_seed_draws_the_same_and_more_begin_alike(part, faults):
    first = draw(part, 1, 20)
    assert first == faults[:20]
    assert draw(part, 2, 20) != first


def test_every_fault_is_python_and_changes_one_line(part, faults):
    assert len({each.kind for each in faults}) == 7
    assert len({each.path.partition("/")[0] for each in faults}) == 4
    for fault in faults:
        source = (part / fault.path).read_text()
        wrong = with_fault(source, fault)
        assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(source))
        pairs = list(zip(source.split("\n"), wrong.split("\n"), strict=True))
        assert [number for number, (one, other) in enumerate(pairs, 1) if one != other] == [fault.line]


@pytest.fixture
def checkout(tmp_path):
    """One module, its tests, and an app that nobody tests."""
    for app in ("evaluation", "analytics", "annotator", "judging"):
        (tmp_path / "checkout" / app).mkdir(parents=True)
    path = tmp_path / "checkout"
    (path / "analytics/__init__.py").touch()
    (path / "analytics/sums.py").write_text(SUMS)
    (path / "judging/unread.py").write_text("def unread(n):\n    return n + 1\n")
    (path / "tests/analytics").mkdir(parents=True)
    (path / "tests/analytics/test_sums.py").write_text(TESTS)
    (path / "pytest.ini").write_text(
        "[pytest]\nmarkers = browser\n    postgres\n    redis\n    audit\naddopts = -p no:django\n"
    )
    (path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--nomigrations', action='store_true')\n"
    )
    (path / ".venv").symlink_to(ROOT / ".venv")
    return path


SUMS = """\
def up_to(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def half(n):
    return n / 2 if n > 10 else n
"""
TESTS = """\
import pytest

from analytics import sums


@pytest.fixture(scope="module")
def six():
    return sums.up_to(3)


def test_up_to(six):
    assert six == 6


def test_a_small_one_stays():
    assert sums.half(4) == 4
"""


def test_faults_are_found_again_by_their_line(checkout, tmp_path):
    [*found] = drawn(checkout, 1)
    moved = tmp_path / "moved"
    shutil.copytree(checkout, moved, symlinks=True)
    path = moved / "analytics/sums.py"
    path.write_text("# One more line.\n" + SUMS.replace("    while n > 0:\n", "    while n >= 1:\n"))
    for fault in found:
        again = found_again(fault, moved)
        if "while" in fault.text:
            assert again is None
        else:
            assert again.line == fault.line + (fault.path == "analytics/sums.py")
            assert again.changed == fault.changed


def test_faults_are_judged_by_the_tests_nearest_to_them(checkout, tmp_path):
    # A test that fails without a fault, too, has caught none.
    (checkout / "tests/analytics/test_moody.py").write_text("def test_moody():\n    assert False\n")
    wanted = {
        "total -= n": "caught by tests/analytics/test_sums.py::test_up_to",
        "return n / 2 if n >= 10 else n": "survived 2",
        "return n / 2 if not (n > 10) else n": "caught by tests/analytics/test_sums.py::test_a_small_one_stays",
        "return n - 1": "survived 0",
    }
    faults = [each for each in every_fault(checkout) if each.changed.strip() in wanted]
    results = tmp_path / "faults.jsonl"
    found = run(faults, checkout, tmp_path, results, 2, 600)
    assert {
        fault.changed.strip(): verdict_of(each) for fault, each in zip(faults, found, strict=True)
    } == wanted
    assert (checkout / "analytics/sums.py").read_text() == SUMS
    # What is there is not run again.
    before = results.read_text()
    assert run(faults, checkout, tmp_path, results, 1, 600) == found
    assert results.read_text() == before


def every_fault(checkout):
    return [
        fault_at(path.relative_to(checkout).as_posix(), path.read_text().split("\n"), line, place)
        for path, line, found in lines_with_places(checkout)
        for place in found
    ]


def verdict_of(result):
    about = {"caught": " {how} {test}", "survived": " {ran}"}
    return (result["verdict"] + about[result["verdict"]]).format(**result)
