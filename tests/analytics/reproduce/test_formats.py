"""Published figures beside ours: differences at the places that are printed, tables, and what the command refuses."""

import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from analytics.reproduce.formats import as_json, as_markdown
from analytics.reproduce.published_tables import PublishedFigure, PublishedTable, ReproducedRelease
from analytics.reproduce.registry import REPRODUCTIONS
from evaluation.dumps.published import RELEASES

FOUND = ReproducedRelease(
    "release",
    "A paper",
    (
        PublishedTable(
            "Table 1",
            (
                PublishedFigure("share | of all", "83.0", 83.04),
                PublishedFigure("correlation", "0.853", 0.8614, 0.8526, "another split"),
                PublishedFigure("unprinted", "", 1.5),
                PublishedFigure("bound", "over 80", 86.3, decimals=1),
                PublishedFigure("lost", "12", None, note="no file"),
            ),
            "Of everything.",
        ),
    ),
    ("A metric.",),
)


@pytest.mark.parametrize(
    ("published", "ours", "difference"),
    [
        ("1.38", 1.3844, 0.0),
        ("1.15", 1.1567, 0.01),
        ("69", 70.0, 1.0),
        ("-0.05", -0.0517, 0.0),
        ("", 1.0, None),
        ("over 80", 86.3, None),
        ("0.7", None, None),
    ],
)
def test_a_difference_is_of_what_is_printed(published, ours, difference):
    assert PublishedFigure("", published, ours).difference == pytest.approx(difference)


def test_markdown():
    expected = """\
## Table 1

Of everything.

| Figure | Published | Assay | Difference | As published | Difference | Note |
| --- | ---: | ---: | ---: | ---: | ---: | --- |
| share \\| of all | 83.0 | 83.04 | 0 | - | - |  |
| correlation | 0.853 | 0.8614 | +0.008 | 0.8526 | 0 | another split |
| unprinted | - | 1.500 | - | - | - |  |
| bound | over 80 | 86.3 | - | - | - |  |
| lost | 12 | - | - | - | - | no file |

## Not in the files

- A metric.
"""
    shown = as_markdown(FOUND).replace("\N{EN DASH}", "-")
    assert shown.partition("\n\n")[2].partition("\n\n")[2] == expected


def test_without_the_release_s_own_reading_it_has_no_columns():
    [table] = FOUND.tables
    plain = replace(FOUND, tables=(replace(table, figures=table.figures[:1]),), missing=())
    assert "As published" not in as_markdown(plain)
    assert "--as-published" not in as_markdown(plain)
    [named] = [replace(each, note="As published: ties are losses.") for each in plain.tables]
    assert "that `--as-published` adds" in as_markdown(replace(plain, tables=(named,)))
    assert "--as-published" not in as_markdown(replace(FOUND, tables=(replace(table, note=named.note),)))


def test_json():
    found = json.loads(as_json(FOUND))
    assert found["tables"][0]["figures"][1] == {
        "name": "correlation",
        "published": "0.853",
        "ours": 0.8614,
        "difference": 0.008,
        "as_published": 0.8526,
        "difference_as_published": 0.0,
        "note": "another split",
    }


def test_reproductions_are_of_known_releases():
    assert {"lfqa", "pandalm"} <= set(REPRODUCTIONS)
    assert all(release in RELEASES for release in ("lfqa", "pandalm"))


@pytest.mark.django_db
def test_what_is_not_there_or_wrong_is_refused(tmp_path):
    with pytest.raises(CommandError, match=r"missing is not there\."):
        call_command("reproduce", "lfqa", str(tmp_path / "missing"))
    with pytest.raises(CommandError, match=r"questions\.jsonl can't be read"):
        call_command("reproduce", "lfqa", str(tmp_path))
