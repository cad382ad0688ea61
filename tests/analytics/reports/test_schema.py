"""The JSON keeps its schema, that of every figure's record, too, and docs/report.md describes the same keys."""

import copy
import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
from django.conf import settings
from jsonschema import Draft202012Validator

from analytics.figures import document
from analytics.figures.figure import StudyFigure
from analytics.figures.registry import FIGURES
from analytics.reports.build import build_report
from analytics.reports.files import report_json
from analytics.reports.schema import report_schema
from evaluation.filters import NAMES
from evaluation.protocols import PROTOCOLS
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import fail, judge, judged_study
from tests.analytics.reports.validator import problems

KEY = r"^\| `(\w+)` \|"
FIGURE = r"^\| `\w+/\w+` \| .* \|$"
DOCS = Path(settings.BASE_DIR) / "docs" / "report.md"
WRITE = "ASSAY_WRITE_FIGURES"


@pytest.fixture(scope="module")
def report(around_module):
    study = judged_study(systems=("aspen", "birch", "cedar"), items_per_query=3, baseline="birch")
    raters = judge(study, raters=3)
    judge(study, raters=2, kind="judge")
    judge(study, raters=1, kind="simulated")
    fail(study, raters[0])
    return json.loads(report_json(build_report(study, replicates=100)))


def test_a_report_validates(report):
    Draft202012Validator.check_schema(report_schema())
    assert problems(report) == []


@pytest.mark.parametrize("protocol", sorted(set(PROTOCOLS) - {"pairwise"}))
def test_a_report_of_every_other_protocol_validates(db, protocol):
    study = judged_by_everyone(protocol, kinds={"aspen": "person", "birch": "model", "cedar": "model"})
    report = json.loads(report_json(build_report(study, replicates=50)))
    assert problems(report) == []
    assert [group["kind"] for group in report["groups"]] == [
        "person",
        "simulated",
        "judge",
        "judge",
    ]
    assert all(len(question["groups"]) == 4 for question in report["questions"])


def test_the_schema_finds_what_does_not_belong(report):
    drafts_own = Draft202012Validator(report_schema())
    for wrong in (report, report | {"surprise": 1}, {**report, "records": [{}, {"figure": "no/such"}]}):
        assert problems(wrong) == [error.message for error in drafts_own.iter_errors(wrong)]
    assert problems(report | {"surprise": 1})
    assert problems({**report, "schema": "assay-report/1"})
    # A figure's records are all held to the same description.
    for record in {each["figure"]: each for each in report["records"]}.values():
        changed = copy.deepcopy(report)
        changed["records"] = [record | {"surprise": 1}]
        assert problems(changed), record["figure"]
        name = next(key for key in record if key not in ("figure", "question", "group"))
        changed["records"] = [{key: value for key, value in record.items() if key != name}]
        assert problems(changed), record["figure"]


def test_every_filter_of_a_view_is_in_the_schema():
    view = report_schema()["properties"]["parameters"]["properties"]["view"]
    assert list(view["properties"]) == list(NAMES)


def parts_of(value, path=()):
    yield path, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from parts_of(each, (*path, key))


def with_part(document, path, change):
    changed = copy.deepcopy(document)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return changed


def test_no_part_may_be_of_another_type_or_missing(report):
    optional = {("study", "launched")}
    validator, head = Draft202012Validator(report_schema()), report | {"records": []}
    for path, _ in list(parts_of(head))[1:]:
        wrong = with_part(head, path, lambda parent, key: parent.__setitem__(key, {"no": "such"}))
        assert not validator.is_valid(wrong), path
        if isinstance(path[-1], str) and path not in optional and path[0] != "findings":
            lacking = with_part(head, path, lambda parent, key: parent.pop(key))
            assert not validator.is_valid(lacking), path


def test_every_record_carries_the_key_of_its_figure(report):
    assert {record["figure"] for record in report["records"]} <= set(FIGURES)
    assert {record["question"] for record in report["records"]} == {
        each["key"] for each in report["questions"]
    }
    assert {record["group"] for record in report["records"]} == {each["key"] for each in report["groups"]}


def test_the_version_is_the_schemas():
    assert report_schema()["properties"]["schema"]["const"] == document.SCHEMA


def test_the_docs_name_every_key():
    schema = report_schema()
    documented = re.findall(KEY, DOCS.read_text("utf-8"), flags=re.MULTILINE)
    assert documented == [*schema["properties"], *schema["$defs"]["estimate"]["properties"]]


def line_of(key, figure):
    """A figure's line in docs/report.md: its definition and the keys of its record, or of each that it may be."""
    kinds = get_args(figure.record_type) or filter(None, [figure.record_type])
    keys = [", ".join(f"`{field.name}`" for field in fields(kind)) for kind in kinds]
    return f"| `{key}` | {figure.definition} | {' or '.join(keys)} |"


def test_the_docs_have_a_line_of_every_figure():
    """`ASSAY_WRITE_FIGURES=1` has this test write them anew."""
    text = DOCS.read_text("utf-8")
    lines = [line_of(key, figure) for key, figure in sorted(FIGURES.items())]
    if WRITE in os.environ:
        before, first, after = text.partition("| Figure | What it holds | Keys |\n| --- | --- | --- |\n")
        assert first
        rest = re.sub(rf"(?:{FIGURE}\n)+", "", after, count=1, flags=re.MULTILINE)
        text = before + first + "\n".join(lines) + "\n" + rest
        DOCS.write_text(text, "utf-8")
    assert re.findall(FIGURE, text, flags=re.MULTILINE) == lines


@pytest.mark.parametrize("key", sorted(FIGURES))
def test_every_figure_says_what_its_record_is(key):
    described = f"record.{key.replace('/', '.')}" in report_schema()["$defs"]
    assert described is not isinstance(FIGURES[key], StudyFigure)


@pytest.mark.parametrize(
    ("own", "valid"),
    [
        ({"levels": []}, True),
        ({"measures": []}, True),
        ({}, False),
        ({"levels": [], "measures": []}, False),
    ],
)
def test_a_record_of_several_kinds_is_one_of_them(own, valid):
    schema = {"$defs": report_schema()["$defs"], "$ref": "#/$defs/record.aspects.measure_levels"}
    record = {"figure": "aspects/measure_levels", "question": "overall", "group": "person", **own}
    assert Draft202012Validator(schema).is_valid(record) is valid
