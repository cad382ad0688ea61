"""The client and its examples against a server that runs."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest
from django.contrib.auth import get_user_model

from assay_client import Client, Problem, uploads
from evaluation import tasks
from evaluation.models import Job, Study, Upload
from evaluation.services.tokens import make_token
from examples.study_by_script import RESPONSES
from judging.services.runs.work import work_on
from tests.analytics.reports.judging import judge, judged_study
from tests.evaluation.dumps import build

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def owner(transactional_db: None) -> Any:
    return get_user_model().objects.create_user("owner", is_staff=True)


@pytest.fixture
def token(owner: Any) -> str:
    return make_token(owner, name="script")[1]


def run_example(name: str, url: str, token: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"examples.{name}", *args],
        cwd=ROOT,
        env={**os.environ, "ASSAY_URL": url, "ASSAY_TOKEN": token},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def at_once(monkeypatch: Any, settings: Any, tmp_path: Path) -> None:
    """Jobs and runs are worked on where they are begun, as by a worker that has nothing else to do."""

    def work_on_the_job(pk: int) -> bool:
        tasks.work_on_job(pk)
        return True

    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    monkeypatch.setattr(tasks, "send_job", work_on_the_job)
    monkeypatch.setattr("judging.acts.enqueue_run", lambda run: work_on(run.pk))


def test_a_table_becomes_figures(live_server: Any, token: str, at_once: None, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done = run_example("study_by_script", live_server.url, token, str(out))
    assert done.returncode == 0, done.stderr
    assert "longer: complete" in done.stdout
    assert "soups: 4 items, 8 judgments that count" in done.stdout
    study = Study.objects.get(slug="soups")
    table = pd.read_csv(out / "judged.csv")
    assert list(table["item"]) == ["soup", "eggs", "leek", "salt"]
    longer = study.raters.order_by("pk")[0].pseudonym
    assert list(table[longer]) == ["r1", "r2", "r1", "r2"]
    assert (out / "study.jsonl").read_bytes() == build.export_bytes(study, "jsonl")
    assert not (out / "study.jsonl.part").exists()
    with Client(live_server.url, token) as client:
        assert [each["name"] for each in client.study("soups").judges()] == ["longer", "random"]


class BreakingTransport(httpx2.HTTPTransport):
    """Every other part's answer is lost on its way back."""

    parts = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = super().handle_request(request)
        if request.method == "PUT":
            self.parts += 1
            if self.parts % 2:
                answer.close()
                raise httpx2.ReadError("gone")
        return answer


def test_a_large_table_is_sent_in_parts(
    live_server: Any, token: str, at_once: None, monkeypatch: Any, tmp_path: Path
) -> None:
    table = tmp_path / "soups.csv"
    RESPONSES.to_csv(table, index=False)
    monkeypatch.setattr(uploads, "AT_ONCE", 100)
    monkeypatch.setattr(uploads, "PART", 60)
    transport = BreakingTransport()
    with Client(live_server.url, token, transport=transport, sleep=lambda seconds: None) as client:
        study = client.import_study(table, title="Soups")
        assert [each["key"] for each in study.items()] == list(RESPONSES["item"])
    assert transport.parts > table.stat().st_size / 60
    job = Job.objects.get(kind="import")
    assert job.path.read_bytes() == table.read_bytes()
    assert not Upload.objects.exists()


def test_judgments_become_a_table(live_server: Any, owner: Any, token: str, tmp_path: Path) -> None:
    study = judged_study("contrast", owner=owner)
    judge(study, raters=3)
    done = run_example("judgments_to_frame", live_server.url, token, "contrast", str(tmp_path / "frame.csv"))
    assert done.returncode == 0, done.stderr
    unknown = run_example("judgments_to_frame", live_server.url, token, "none", str(tmp_path / "none.csv"))
    assert unknown.returncode == 1
    assert unknown.stderr == "There is nothing here that you may see. (404 not_found)\n"
    assert "STUDY FILE.csv" in run_example("judgments_to_frame", live_server.url, token).stderr
    frame = pd.read_csv(tmp_path / "frame.csv")
    assert frame["id"].nunique() == study.judgments.filter(outcome="ok").count() > 0
    assert f"{frame['id'].nunique():,} judgments by {study.raters.count()} raters" in done.stdout
    with Client(live_server.url, token) as client:
        assert [each["slug"] for each in client.studies()] == ["contrast"]
        found = client.study("contrast")
        assert sum(1 for _ in found.judgments(page_size=7)) == study.judgments.count()
        assert {each["key"] for each in found.items()} >= set(frame["item"])
        tex = found.report_file("report.tex", tmp_path / "report.tex")
        assert tex.read_bytes().startswith(b"% Compile")
        with pytest.raises(Problem) as refused:
            client.study("another").details()
        assert (refused.value.status, refused.value.code) == (404, "not_found")
