"""Reports of many studies are what they were: every number to 1e-9, every sentence and every line of Markdown.

Where a change is meant, this writes them anew: `ASSAY_WRITE_GOLDENS=1 pytest tests/analytics/reports/test_goldens.py`.
"""

import os

import pytest

from tests.analytics.reports import goldens

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
    found = goldens.golden(name, tmp_path)
    if WRITE in os.environ:
        kept[name] = found
    assert found.keys() == kept[name].keys()
    for part, was in kept[name].items():
        now = found[part]
        if isinstance(was, list):
            assert now == was, part
            continue
        assert now.keys() == was.keys(), part
        changed = {path: (was[path], now[path]) for path in was if not is_same(was[path], now[path])}
        assert changed == {}, part


def is_same(was, now):
    if isinstance(was, float) and isinstance(now, float):
        return now == pytest.approx(was, rel=1e-9, abs=1e-9)
    return now == was


def test_the_goldens_are_of_these_studies_and_small(kept):
    assert kept.keys() == goldens.MAKERS.keys()
    assert goldens.PATH.stat().st_size < 1_000_000
