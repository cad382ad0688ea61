"""The JSON keeps its schema, the schema of every figure beside it, and docs/report.md describes the same keys."""

import copy
import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from jsonschema import Draft202012Validator

from analytics.figures.figure import StudyFigure
from analytics.figures.registry import FIGURES
from analytics.reports import build
from analytics.reports.build import build_report
from analytics.reports.files import report_json
from analytics.reports.schema import report_schema
from evaluation.protocols import PROTOCOLS
from tests.analytics.reports.answering import judged_by_everyone
from tests.analytics.reports.judging import fail, judge, judged_study

KEY = r"^\| `(\w+)` \|"
FIGURE = r"^\| `(\w+/\w+)` \| (.*) \|$"


@pytest.fixture(scope="module")
def report(around_module):
    study = judged_study(systems=("aspen", "birch", "cedar"), items_per_query=3, baseline="birch")
    raters = judge(study, raters=3)
    judge(study, raters=2, kind="judge")
    judge(study, raters=1, kind="simulated")
    fail(study, raters[0])
    return json.loads(report_json(build_report(study, replicates=100)))


def problems(report):
    return [error.message for error in Draft202012Validator(report_schema()).iter_errors(report)]


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


def test_every_record_carries_the_key_of_its_figure(report):
    assert {record["figure"] for record in report["records"]} <= set(FIGURES)
    assert {record["question"] for record in report["records"]} == {
        each["key"] for each in report["questions"]
    }
    assert {record["group"] for record in report["records"]} == {each["key"] for each in report["groups"]}


def test_the_version_is_the_schemas():
    assert report_schema()["properties"]["schema"]["const"] == build.SCHEMA


def test_the_docs_name_every_key_and_every_figure():
    text = (Path(settings.BASE_DIR) / "docs" / "report.md").read_text("utf-8")
    schema = report_schema()
    documented = re.findall(KEY, text, flags=re.MULTILINE)
    assert documented == [*schema["properties"], *schema["$defs"]["estimate"]["properties"]]
    assert dict(re.findall(FIGURE, text, flags=re.MULTILINE)) == {
        key: figure.definition for key, figure in FIGURES.items()
    }


@pytest.mark.parametrize("key", sorted(FIGURES))
def test_every_figure_says_what_its_record_is(key):
    described = f"record.{key.replace('/', '.')}" in report_schema()["$defs"]
    assert described is not isinstance(FIGURES[key], StudyFigure)
