"""The JSON keeps its schema, and docs/report.md describes the same keys."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from jsonschema import Draft202012Validator

from evaluation.reports import build
from evaluation.reports.answers import build as answers_build
from evaluation.reports.build import build_report
from evaluation.reports.files import report_json
from tests.reports.judging import fail, judge, judged_study

KEY = r"^\| `(\w+)` \|"
SCHEMA = json.loads((Path(build.__file__).parent / "schema.json").read_text("utf-8"))


@pytest.fixture
def report(db):
    study = judged_study(systems=("aspen", "birch", "cedar"), items_per_query=3, baseline="birch")
    raters = judge(study, raters=3)
    judge(study, raters=2, kind="judge")
    judge(study, raters=1, kind="simulated")
    fail(study, raters[0])
    return json.loads(report_json(build_report(study, replicates=100)))


def test_a_report_validates(report):
    Draft202012Validator.check_schema(SCHEMA)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(report)] == []


def test_the_schema_finds_what_does_not_belong(report):
    validator = Draft202012Validator(SCHEMA)
    assert not validator.is_valid(report | {"surprise": 1})
    assert not validator.is_valid({**report, "schema": "assay-report/2"})
    del report["groups"][0]["alpha"]
    assert not validator.is_valid(report)


def test_the_version_is_the_schemas():
    assert SCHEMA["properties"]["schema"]["const"] == build.SCHEMA


def test_the_docs_name_every_key():
    text = (Path(settings.BASE_DIR) / "docs" / "report.md").read_text("utf-8")
    pairwise, others = text.split("\n## Other protocols\n")
    documented = re.findall(KEY, pairwise, flags=re.MULTILINE)
    keys = [
        *SCHEMA["properties"],
        *SCHEMA["$defs"]["group"]["properties"],
        *SCHEMA["$defs"]["estimate"]["properties"],
    ]
    assert documented == keys
    answers = json.loads((Path(answers_build.__file__).parent / "schema.json").read_text("utf-8"))
    documented = re.findall(KEY, others, flags=re.MULTILINE)
    assert documented == [*answers["properties"], *answers["$defs"]["figures"]["properties"]]
