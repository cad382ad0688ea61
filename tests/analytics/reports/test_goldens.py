"""What reports of many studies held they still hold: every number to a millionth, every sentence and line of Markdown.

A new figure adds to them and changes nothing. Where a change is meant, `ASSAY_WRITE_GOLDENS=1` and these tests write
them anew.
"""

import os

import pytest

from analytics.figures.figure import Figure
from analytics.figures.registry import FIGURES
from tests.analytics.reports import goldens
from tests.analytics.reports.test_latex import is_balanced, is_nested

WRITE = "ASSAY_WRITE_GOLDENS"
# They were written on the embedded default, whose order of rows some lists keep.
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(scope="module")
def kept():
    found = goldens.read()
    yield found
    if WRITE in os.environ:
        goldens.write({name: found[name] for name in goldens.MAKERS})


@pytest.mark.parametrize("name", goldens.MAKERS)
def test_a_report_is_what_it_was(name, tmp_path, kept):
    found, latex = goldens.golden(name, tmp_path)
    assert is_balanced(latex)
    assert is_nested(latex)
    if WRITE in os.environ:
        kept[name] = dict(found)
        return
    assert found.keys() == kept[name].keys()
    assert lost(kept[name].pop("Markdown"), found["Markdown"]) == []
    for part, was in kept[name].items():
        now = found[part]
        changed = {path: (was[path], now.get(path)) for path in was if not is_same(was[path], now.get(path))}
        assert changed == {}, part


def lost(was, now):
    """The lines that were there and are not, or not in that order."""
    left = iter(now)
    return [line for line in was if line not in left]


def is_same(was, now):
    if isinstance(was, float) and isinstance(now, float):
        # Fits that stop at a small enough step end elsewhere on another processor: by 4e-9 of a length-controlled rate.
        return now == pytest.approx(was, rel=1e-6, abs=1e-8)
    return now == was


def test_the_goldens_are_of_these_studies_and_small(kept):
    assert kept.keys() == goldens.MAKERS.keys()
    assert goldens.PATH.stat().st_size < 2_200_000


def test_every_figure_has_a_record_in_the_goldens(kept):
    """Those that compute none show what other figures, or the report, have."""
    computed = {key for key, each in FIGURES.items() if type(each).compute is not Figure.compute}
    paths = (path for was in kept.values() for part in was if part != "Markdown" for path in was[part])
    of_records = (path.removeprefix("records.") for path in paths if path.startswith("records."))
    assert {path.partition(" ")[0] for path in of_records} == computed
