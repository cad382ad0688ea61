"""Scores that are uploaded: a job of the worker, which lists every fault or takes all of them."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation import tasks
from evaluation.models import Job
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.admin.test_jobs import begin, queued, watch
from tests.evaluation.dumps import build

__all__ = ["queued"]

pytestmark = pytest.mark.django_db


def test_scores_are_imported_by_a_job(
    owner: Any, tmp_path: Path, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    judged = build.item(1, judgments=[build.judgment()])
    study = build.read_in(build.write(tmp_path / "judged.jsonl", build.header(), judged), owner=owner)
    client, address = signed_in(owner), reverse("admin:evaluation_study_scores", args=[study.slug])
    overview = client.get(reverse("admin:evaluation_study_overview", args=[study.slug])).content.decode()
    assert address in overview
    assert "item,system,name,score" in client.get(address).content.decode()

    def send(text: str, **changes: Any) -> Job:
        file = SimpleUploadedFile("scores.csv", text.encode())
        data = {
            "file": file,
            "judge": "Script",
            "name": "rouge",
            "direction": "higher",
            "low": "0",
            **changes,
        }
        begin(client, address, data, django_capture_on_commit_callbacks)
        job = Job.objects.latest("pk")
        tasks.work_on_job(job.pk)
        job.refresh_from_db()
        return job

    failed = send("item,system,score\ni1,aspen,-1\ni7,aspen,1\n")
    assert (failed.state, failed.n_problems) == ("failed", 2)
    seen = watch(client, failed)
    assert "Nothing was imported. 2 errors found." in seen
    assert "-1.0 is below 0.0" in seen
    assert address in seen
    done = send("item,system,score\ni1,aspen,0.5\ni1,birch,1\n")
    assert (done.state, done.message) == ("done", "Script: rouge of 1 item.")
    rater = study.raters.get(label="Script")
    assert rater.about["measures"][0]["low"] == 0
    assert client.post(address, {"judge": "Script", "low": "2", "high": "1"}).status_code == 422


def test_a_draft_takes_no_scores(owner: Any, tmp_path: Path) -> None:
    draft = build.read_in(build.write(tmp_path / "draft.jsonl", build.header(), build.item(1)), owner=owner)
    answer = signed_in(owner).get(reverse("admin:evaluation_study_scores", args=[draft.slug]))
    assert answer.status_code == 403
