"""A judge's runs in a replication bundle: prompts, replies, and no secret."""

import json
import zipfile

import pytest

from analytics.reports.bundle.replication import replicate
from analytics.reports.bundle.writing import export_bundle
from tests.analytics.reports.judging import judge as people_judge
from tests.analytics.reports.judging import judged_study
from tests.judging import endpoint
from tests.judging.build import judged, make_judge

pytestmark = pytest.mark.django_db


def test_a_study_with_judges_replicates_exactly_and_holds_prompts_and_replies(tmp_path):
    study = judged_study("judges", queries=6)
    people_judge(study, raters=2)
    path = tmp_path / "bundle.zip"
    with endpoint.serve() as served:
        judge = make_judge(
            study, served, questions=["preference"], orders="both", samples=2,
            extra={"api_key": "S3CRET-KEY", "top_k": 4},
        )  # fmt: skip
        run, _ = judged(study, judge)
        address = served.url
    export_bundle(study, path)
    done = replicate(path)
    assert {each.name: each.differences for each in done.figures if each.differences} == {}
    assert all(same for _, same in done.tables)
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    calls = [json.loads(line) for line in found["judging/calls.jsonl"].splitlines()]
    assert len(calls) == run.calls.count()
    assert all(call["raw"] and call["messages"][-1]["content"] for call in calls)
    assert json.loads(found["judging/judges.jsonl"])["judge"]["extra"] == {"top_k": 4}
    for secret in ("S3CRET-KEY", address):
        assert not any(secret.encode() in content for content in found.values())
