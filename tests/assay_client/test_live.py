"""The client and its examples against a server that runs."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.contrib.auth import get_user_model

from assay_client import Client, Problem
from evaluation import tasks
from evaluation.models import Study
from evaluation.services.tokens import make_token
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
