"""What reports of many studies held they still hold: every number to a billionth, every sentence and line of Markdown;
the list of items has as many as each number that leads there says, and no two captions of a demo study are the same.

Where a change is meant, `ASSAY_WRITE_GOLDENS=1` and these tests write them anew, to be read as the difference of texts.
"""

import difflib
import os

import pytest

from analytics.figures.figure import Figure
from analytics.figures.registry import FIGURES
from tests.analytics.reports import golden_text, goldens, leading
from tests.analytics.reports.test_captions import assert_none_repeated
from tests.analytics.reports.test_latex import is_balanced, is_nested

WRITE = "ASSAY_WRITE_GOLDENS"
SHOWN = 40
# Another processor's rounding shows by a part in 1e12, except where a fit cannot tell two effects apart: by 2e-8 seen.
NEAR = {"rel": 1e-9, "abs": 1e-11}
STALLING, STALLS = "leaderboards/length_controlled ", {"rel": 1e-7, "abs": 1e-8}
# They were written on the embedded default, whose order of rows some lists keep.
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.mark.parametrize("name", goldens.MAKERS)
def test_a_report_is_what_it_was(name, tmp_path):
    study, filters = goldens.made(name, tmp_path)
    found, latex, report = goldens.golden(study, filters)
    assert is_balanced(latex)
    assert is_nested(latex)
    if name.startswith("demo "):
        assert_none_repeated(report, latex)
    if WRITE in os.environ:
        goldens.write(name, found)
    lines = changes(goldens.read(name), found)
    assert not lines, "\n".join(
        [f"{goldens.path_of(name).name}: {len(lines)} lines of difference", *lines[:SHOWN]]
    )
    assert not (wrong := leading.astray(study, filters, report)), "\n".join(wrong[:SHOWN])


def changes(kept, found):
    """Lines that say what is no longer as it was: - what was held, + what there is."""
    lines = []
    for part, was, now in zip(("", "ties are wins, "), kept[:2], found[:2], strict=True):
        for path in dict.fromkeys([*(was or ()), *(now or ())]):
            one, other = (each.get(path, ...) if each else ... for each in (was, now))
            if not is_same(one, other, STALLS if path.startswith(STALLING) else NEAR):
                lines += [
                    f"{sign} {part}{path} = {golden_text.dumped(each)}"
                    for sign, each in (("-", one), ("+", other))
                    if each is not ...
                ]
    _, _, *markdown = list(difflib.unified_diff(kept[2], found[2], n=0, lineterm="")) or ("", "")
    return lines + [line for line in markdown if not line.startswith("@@")]


def is_same(was, now, near):
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(is_same(*each, near) for each in zip(was, now, strict=True))
    if isinstance(was, float) and isinstance(now, float):
        return now == pytest.approx(was, **near)
    return type(was) is type(now) and was == now


def test_the_goldens_are_of_these_studies():
    assert {path.name for path in goldens.FOLDER.iterdir()} == {
        goldens.path_of(name).name for name in goldens.MAKERS
    }


def test_every_figure_has_a_record_in_the_goldens():
    """Those that compute none show what other figures, or the report, have."""
    computed = {key for key, each in FIGURES.items() if type(each).compute is not Figure.compute}
    headings = {path.partition(": ")[0] for name in goldens.MAKERS for path in goldens.read(name)[0]}
    assert {heading.partition(" ")[0] for heading in headings} - {"report"} == computed


def test_a_changed_value_is_named():
    """A value, a limit, a text, a row and what differs only where ties are wins."""
    half = {"a/b q g: rows[0].rate.is": [0.5, 0.25, 0.75], "a/b q g: rows[0].name": "x", "a/b q g: n": 3}
    win = half | {"a/b q g: n": 4}
    kept = golden_text.read(golden_text.text_of(half, win, ["one  ", "two"]))
    assert changes(kept, (half, win, ["one  ", "two"])) == []
    now = {"a/b q g: rows[0].rate.is": [0.5, 0.25 * (1 + 1e-8), 0.75], "a/b q g: n": 3}
    assert changes(kept, (now, now, ["one  ", "2"])) == [
        "- a/b q g: rows[0].rate.is = [0.5,0.25,0.75]",
        "+ a/b q g: rows[0].rate.is = [0.5,0.2500000025,0.75]",
        '- a/b q g: rows[0].name = "x"',
        "- ties are wins, a/b q g: rows[0].rate.is = [0.5,0.25,0.75]",
        "+ ties are wins, a/b q g: rows[0].rate.is = [0.5,0.2500000025,0.75]",
        '- ties are wins, a/b q g: rows[0].name = "x"',
        "- ties are wins, a/b q g: n = 4",
        "+ ties are wins, a/b q g: n = 3",
        "-two",
        "+2",
    ]
