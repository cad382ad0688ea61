"""Jobs whose worker is killed, or given up, in the middle: nothing half-done is seen, and the next one does it once."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.utils import timezone

from evaluation import job_work, tasks
from evaluation.dumps.imports import added_items, draft_items, dump_import, scores
from evaluation.models import Job, Study
from evaluation.services.jobs import begin_job, restart_job, store_upload
from evaluation.services.studies.verification import verify_study
from tests.evaluation.dumps import build
from tests.evaluation.services.studies.test_items import record

pytestmark = pytest.mark.django_db
ITEMS = b"\n".join(map(orjson.dumps, (build.header(), build.item(1), build.item(2))))


class Killed(BaseException):
    pass


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")


def begin(owner: Any, kind: str, content: bytes, name: str, study: Study | None = None, **named: Any) -> Job:
    slug, file = study.slug if study else "soups", store_upload([content])
    return begin_job(kind=kind, slug=slug, study=study, by=owner, parameters=named, file=file, file_name=name)


def start_again(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    restart_job(job)


def work_and_be_killed(job: Job, monkeypatch: Any, module: Any, at: str) -> None:
    """A process that is killed tidies nothing up."""

    def die(*args: Any, **named: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(module, at, die)
        patch.setattr(module, "discard_import", lambda study: None, raising=False)
        with pytest.raises(Killed):
            tasks.work_on_job(job.pk)


def work_and_be_given_up(job: Job, monkeypatch: Any, module: Any, at: str) -> None:
    """Somebody starts the job again while its worker, silent for too long, is still at it."""
    whole: Callable[..., Any] = getattr(module, at)

    def slowly(*args: Any, **named: Any) -> Any:
        start_again(job)
        return whole(*args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(module, at, slowly)
        tasks.work_on_job(job.pk)


def done(job: Job) -> str:
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.message
    return job.message


@pytest.mark.parametrize("at", ["_problems", "count_addition", "move_items"])
def test_an_addition_is_not_seen_before_it_is_whole(
    owner: Any, study: Study, monkeypatch: Any, at: str
) -> None:
    before = study.items.count()
    added = b"\n".join(orjson.dumps(record(query)) for query in ("late", "later"))
    job = begin(owner, "addition", added, "late.jsonl", study, confirmed=True)
    work_and_be_killed(job, monkeypatch, added_items, at)
    assert list(Study.objects.visible()) == [study]
    assert study.items.count() == before
    start_again(job)
    assert done(job) == "Added 2 items as revision 2."
    assert list(Study.objects.visible()) == [study]
    assert study.items.count() == before + 2
    assert not list(verify_study(Study.objects.get(pk=study.pk)))


def test_a_draft_s_items_are_not_seen_before_they_are_whole(
    owner: Any, draft: Study, monkeypatch: Any
) -> None:
    before = draft.items.count()
    arms = [{"arm": draft.arms.order_by("position")[0].key}] * 2
    items = b"\n".join(orjson.dumps(build.item(each, **arm)) for each, arm in enumerate(arms))
    job = begin(owner, "import", items, "items.jsonl", draft)
    work_and_be_killed(job, monkeypatch, draft_items, "replace_items")
    assert list(Study.objects.visible()) == [draft]
    assert draft.items.count() == before
    start_again(job)
    assert done(job) == "2 items are in the draft."
    assert list(Study.objects.all()) == [draft]


def test_a_launch_whose_worker_was_killed_at_the_very_end_is_done(
    owner: Any, draft: Study, monkeypatch: Any
) -> None:
    job = begin_job(kind="launch", slug=draft.slug, study=draft, by=owner)
    work_and_be_killed(job, monkeypatch, job_work, "finish_job")
    start_again(job)
    assert done(job) == f"Live, with {draft.items.count()} items."
    assert not list(verify_study(Study.objects.get()))


def test_a_study_is_there_once_its_job_is_done(owner: Any, monkeypatch: Any) -> None:
    job = begin(owner, "import", ITEMS, "soups.jsonl")
    work_and_be_given_up(job, monkeypatch, dump_import, "finish_import")
    assert not Study.objects.exists()
    assert done(job) == "Soups was created with 2 items."
    assert Study.objects.visible().get().items.count() == 2


def test_scores_are_there_once_their_job_is_done(owner: Any, monkeypatch: Any, tmp_path: Path) -> None:
    judged = build.item(1, judgments=[build.judgment()])
    study = build.read_in(build.write(tmp_path / "judged.jsonl", build.header(), judged))
    table = b"item,system,name,score\ni1,aspen,rouge,0.5\n"
    job = begin(owner, "scores", table, "scores.csv", study, judge="Script")
    work_and_be_given_up(job, monkeypatch, scores, "record_scores")
    assert not study.raters.filter(label="Script").exists()
    assert done(job) == "Script: rouge of 1 item."
    assert study.raters.filter(label="Script").count() == 1
