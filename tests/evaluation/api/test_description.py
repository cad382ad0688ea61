"""The committed description is the code's, and docs/api.md speaks of what it describes."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import get_resolver

from analytics.reports.paper.archive import CONTENT_TYPES
from evaluation.api import parsing, query, throttling
from evaluation.api.schema import description
from evaluation.dumps.formats import FORMATS
from tests import openapi
from tests.evaluation.api.conftest import Caller

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text()
# Operations whose answer is a file.
FILES = {
    "get_report_file": {each.partition(";")[0] for each in CONTENT_TYPES.values()},
    "get_bundle": {"application/zip"},
    "get_job_file": {each.content_type.partition(";")[0] for each in FORMATS.values()},
    "get_left_out_rows": {"text/csv"},
}


@pytest.fixture(scope="module")
def described():
    return openapi.committed()


def operations(described):
    return {
        each["operationId"]: (f"{method.upper()} {path}", each["summary"])
        for path, methods in described["paths"].items()
        for method, each in methods.items()
    }


def test_the_committed_description_is_the_code_s(tmp_path):
    """`make openapi` writes it anew."""
    fresh = tmp_path / "openapi.yaml"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(fresh))
    assert fresh.read_text() == openapi.PATH.read_text(), "run `make openapi`"


def test_the_server_gives_the_same_description_to_everybody(db, described):
    answer = Caller().get("schema/")
    assert answer.status_code == 200
    assert json.loads(answer.content) == described
    assert description() is description()


def test_every_address_of_the_api_is_described(described):
    [api] = [each for each in get_resolver().url_patterns if str(each.pattern) == "api/v1/"]
    routes = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        for included in api.url_patterns
        for pattern in getattr(included, "url_patterns", [])
    }
    assert {f"/api/v1/{route}" for route in routes} == set(described["paths"])


def test_every_operation_says_how_it_can_fail(described):
    for path, methods in described["paths"].items():
        for method, each in methods.items():
            told = set(each["responses"])
            assert {"400", "401", "406", "429"} <= told
            assert ("404" in told) == ("{" in path), path
            assert ("403" in told) == (method != "get"), path
            assert ("413" in told) == ("requestBody" in each), path
            assert each["security"] == [{"token": []}]
            of_files = {"206", "304", "412", "416"}
            assert of_files & told == (of_files if each["operationId"] in FILES else set())
            for code, answer in each["responses"].items():
                if code in of_files - {"206"}:
                    assert "content" not in answer
                    continue
                good = FILES.get(each["operationId"], {"application/json"})
                media = {"application/problem+json"} if code >= "400" else good
                assert set(answer["content"]) == media


def test_the_page_s_table_is_the_description_s(described):
    table = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert {name: (address, summary) for name, address, summary in table} == operations(described)


def test_the_page_s_examples_lead_somewhere(described):
    templates = [re.sub(r"\{\w+\}", "[^/]+", path) for path in described["paths"]]
    found = re.findall(r"http://127\.0\.0\.1:8000(/[^\s\"?]+)", PAGE)
    assert len(found) >= 6
    for path in found:
        assert any(re.fullmatch(template, path) for template in templates), path


def test_the_page_s_numbers_are_the_code_s(settings):
    assert f"at most {query.MAX_PAGE}." in PAGE
    assert f"more than {parsing.SmallJSONParser.max_bytes // 1024} kB" in PAGE
    assert f"more than {parsing.ItemsJSONParser.max_bytes // 1024:,} kB" in PAGE
    assert throttling.WINDOW == 60
    reads, writes = settings.ASSAY_API_READS_PER_MINUTE, settings.ASSAY_API_WRITES_PER_MINUTE
    assert f"read {reads} times and write {writes} times" in PAGE


def test_the_page_s_codes_are_given_somewhere():
    """Each code of the table is one that the tests of the API have seen."""
    seen = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    table = PAGE[PAGE.index("| status | code |") : PAGE.index("## How much")]
    codes = [
        code
        for row in re.findall(r"^\| \d.+", table, re.MULTILINE)
        for code in re.findall(r"`([a-z_]+)`", row.split("|")[2])
    ]
    assert len(codes) > 12
    for code in codes:
        assert f'"{code}"' in seen, code
