"""No figure changed while the figures moved: every number of many reports is what it was, to 1e-9."""

import math
import re

import pytest

from tests.analytics.reports import baseline
from tests.analytics.reports.reading import read

DECIMALS = re.compile(r"\d\.\d")
NOTES = str.maketrans("", "", "⁰¹²³⁴⁵⁶⁷⁸⁹\u2009")
# The baseline was written on the embedded default, whose order of rows some lists keep.
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(scope="module")
def before():
    return baseline.read()


@pytest.mark.parametrize("name", baseline.MAKERS)
def test_every_number_is_what_it_was(name, tmp_path, before):
    found = baseline.figures(name, tmp_path)
    for part, was in before[name].items():
        if part == "markdown":
            assert figures_of(was) - figures_of(found[part]) == set()
            continue
        now, missing = dict(numbers(by_old_path(found[part]))), []
        for path, value in numbers(was):
            if path not in now:
                missing.append(path)
                continue
            assert math.isclose(now[path], value, rel_tol=1e-9, abs_tol=1e-9), (path, now[path], value)
        assert missing == []


def numbers(report):
    for path, value in baseline.flat(report):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not is_of_the_shape(path):
            yield path, value


def is_of_the_shape(path):
    """Numbers that are no figure's: the version of the code; and that nothing is known of a judge's consistency."""
    return path == "parameters.version" or (path.startswith("judges[") and ".inconsistent." in path)


def by_old_path(report):
    """The report under the paths that its numbers had in the two schemas before."""
    found = read(report)
    if report["study"]["protocol"] == "pairwise":
        return found
    questions = [
        {
            **question,
            "groups": [
                {**group, **_beside_pairs(group), "pairs": group} if question["form"] == "pairs" else group
                for group in question["groups"]
            ],
        }
        for question in found["questions"]
    ]
    return {**report, "questions": questions}


def _beside_pairs(group):
    """What a preference had beside its figures where questions were reported by themselves."""
    return {"values_left_out": 0, **{name: group["alpha"][0][name] for name in ("alpha", "by_chance")}}


def figures_of(markdown):
    """What stands in the cells of tables and has decimals, without the numbers of footnotes."""
    rows = (line.translate(NOTES) for line in markdown.splitlines() if line.startswith("|"))
    return {cell.strip() for row in rows for cell in row.split("|") if DECIMALS.search(cell)}
