"""Uploads, exports and launches as jobs: what they make, what they say when they fail, and who may fetch what."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from evaluation import tasks
from evaluation.models import Item, Job, Study, StudyMember
from evaluation.refusals import Refused
from evaluation.services.jobs import (
    JobProgress,
    JobTaken,
    begin_job,
    claim_job,
    finish_job,
    remove_old_files,
    restart_job,
)
from tests.evaluation.admin.conftest import signed_in
from tests.evaluation.dumps import build

pytestmark = pytest.mark.django_db
FROM_FILE = "/new/from-file/"


@pytest.fixture(autouse=True)
def queued(monkeypatch: Any) -> list[int]:
    """The jobs that were queued; a test works on them when it wants to."""
    sent: list[int] = []
    monkeypatch.setattr(tasks.work_on_job, "delay", sent.append)
    return sent


def upload(name: str, *records: Any, tmp_path: Path) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, build.write(tmp_path / name, *records).read_bytes())


def watch(client: Any, job: Job) -> str:
    return " ".join(client.get(reverse("admin:evaluation_job_watch", args=[job.pk])).content.decode().split())


def begin(client: Any, address: str, data: Any, callbacks: Any) -> Any:
    with callbacks(execute=True):
        return client.post(address, data)


def test_a_study_from_a_file(
    owner: Any, tmp_path: Path, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    file = upload("soups.jsonl", build.header(), build.item(1), build.item(2), tmp_path=tmp_path)
    answer = begin(
        client,
        FROM_FILE,
        {"file": file, "slug": "soups", "title": "Two soups"},
        django_capture_on_commit_callbacks,
    )
    job = Job.objects.get()
    assert answer["Location"] == reverse("admin:evaluation_job_watch", args=[job.pk])
    assert queued == [job.pk]
    assert "Waiting for the worker." in watch(client, job)
    tasks.work_on_job(job.pk)
    study = Study.objects.get()
    assert (study.slug, study.title, study.status, study.items.count()) == ("soups", "Two soups", "draft", 2)
    assert StudyMember.objects.get(study=study).user == owner
    job.refresh_from_db()
    assert (job.state, job.study) == ("done", study)
    assert "Two soups was created with 2 items." in watch(client, job)
    tasks.work_on_job(job.pk)  # a second message changes nothing
    assert Study.objects.count() == 1


def test_a_faulty_file_says_where_and_what(
    owner: Any, outsider: Any, tmp_path: Path, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    records = (build.header(), build.item(1), build.item(2, arm="nowhere"), b"{half", build.item(1))
    file = upload("bad.jsonl", *records, tmp_path=tmp_path)
    begin(client, FROM_FILE, {"file": file, "slug": "soups"}, django_capture_on_commit_callbacks)
    tasks.work_on_job(queued[0])
    job = Job.objects.get()
    assert job.state == "failed"
    page = watch(client, job)
    for where, what in (
        ("line 3", "nowhere"),
        ("line 4", "not JSON"),
        ("line 5", "an item with the same key"),
    ):
        row = page[page.index(f'<th scope="row">{where}</th>') :].split("</tr>")[0]
        assert what in row
    assert not Study.objects.exists()
    # The study is nobody's, so the job is its uploader's alone.
    assert signed_in(outsider).get(reverse("admin:evaluation_job_watch", args=[job.pk])).status_code == 404
    # Started again it fails again; with the file mended it is there.
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("admin:evaluation_job_restart", args=[job.pk]))
    assert queued == [job.pk, job.pk]
    build.write(job.path, build.header(), build.item(1))
    tasks.work_on_job(job.pk)
    assert Study.objects.get().items.count() == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"slug": "soups"}, "Choose a file, or paste a table."),
        ({"slug": "so ups", "file": b"{}"}, "valid “slug”"),
        ({"slug": "taken", "file": b"{}"}, "A study with this slug"),
        ({"slug": "soups", "file": b"x" * 2_000_000}, "larger than 1 MB"),
        ({"slug": "soups", "file": b"{}", "protocol": "nonsense"}, "Select a valid choice"),
        ({"file": b"Dear all,\nhere they are.\n"}, "This is no table"),
        ({"file": b"a,b\n1,2\n", "pasted": "a\tb"}, "Leave one of the two empty"),
    ],
)
def test_uploads_that_are_refused_at_once(
    owner: Any, draft: Any, settings: Any, data: Any, said: str
) -> None:
    settings.ASSAY_UPLOAD_MB = 1
    draft.slug = "taken"
    draft.save()
    if "file" in data:
        data = {**data, "file": SimpleUploadedFile("x.jsonl", data["file"])}
    page = signed_in(owner).post(FROM_FILE, data)
    assert page.status_code == 422
    assert said in page.content.decode()
    assert not Job.objects.exists()
    assert signed_in(owner).put(FROM_FILE).status_code == 405


def test_items_for_a_draft_take_the_place_of_its_own(
    editors_draft: Any,
    colleague: Any,
    tmp_path: Path,
    queued: list[int],
    django_capture_on_commit_callbacks: Any,
) -> None:
    study = editors_draft
    study.texts.filter(key="thanks").update(body="Mine.")
    arms = set(study.arms.values_list("key", flat=True))
    records = [build.item(n, arm="NoCtxGen-NoCtxEval") for n in (1, 2)]
    file = upload("items.jsonl", *records, tmp_path=tmp_path)
    client = signed_in(colleague)
    address = reverse("admin:evaluation_study_upload", args=[study.slug])
    assert "replace them" in client.get(address).content.decode()
    begin(client, address, {"file": file}, django_capture_on_commit_callbacks)
    tasks.work_on_job(queued[0])
    job = Job.objects.get()
    assert job.state == "done", job.problems
    assert sorted(study.items.values_list("key", flat=True)) == ["i1", "i2"]
    assert {item.arm.study_id for item in study.items.select_related("arm")} == {study.pk}
    assert study.texts.get(key="thanks").body == "Mine."
    assert set(study.arms.values_list("key", flat=True)) == arms
    assert Study.objects.count() == 1
    assert not Item.objects.exclude(study=study).exists()
    history = (
        signed_in(colleague)
        .get(reverse("admin:evaluation_study_history", args=[study.slug]))
        .content.decode()
    )
    assert "Uploaded items.jsonl: 2 items." in history


def test_a_file_with_its_own_line_of_a_study_brings_arms_and_systems(
    editors_draft: Any, colleague: Any, tmp_path: Path
) -> None:
    header = build.header(systems=[{"key": "maple", "label": "Maple"}])
    path = build.write(tmp_path / "x.jsonl", header, build.item(1), build.context_item(2))
    job = begin_job(
        kind="import", slug=editors_draft.slug, study=editors_draft, by=colleague, file_name="x.jsonl"
    )
    job.path.mkdir(parents=True, exist_ok=True)
    Job.objects.filter(pk=job.pk).update(file="x.upload")
    job.refresh_from_db()
    job.path.write_bytes(path.read_bytes())
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.problems
    assert {"plain", "both"} <= set(editors_draft.arms.values_list("key", flat=True))
    assert "Maple" in set(editors_draft.systems.values_list("label", flat=True))


def test_a_wrong_file_changes_nothing_of_a_draft(editors_draft: Any, colleague: Any, tmp_path: Path) -> None:
    before = set(editors_draft.items.values_list("key", flat=True))
    for records in ([build.item(1, arm="nowhere")], [build.header(), build.with_judgments(build.judgment())]):
        path = build.write(tmp_path / "x.jsonl", *records)
        job = begin_job(kind="import", slug=editors_draft.slug, study=editors_draft, by=colleague)
        job.path.mkdir(parents=True, exist_ok=True)
        Job.objects.filter(pk=job.pk).update(file="x.upload", file_name="x.jsonl")
        job.refresh_from_db()
        job.path.write_bytes(path.read_bytes())
        tasks.work_on_job(job.pk)
        job.refresh_from_db()
        assert job.state == "failed"
        assert job.problems
        assert set(editors_draft.items.values_list("key", flat=True)) == before
        assert Study.objects.count() == 1


def test_no_upload_into_a_study_that_was_launched(mine: Any, colleague: Any) -> None:
    address = reverse("admin:evaluation_study_upload", args=[mine.study.slug])
    file = SimpleUploadedFile("x.jsonl", b"{}")
    assert signed_in(colleague).get(address).status_code == 403
    assert signed_in(colleague).post(address, {"file": file}).status_code == 403


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_an_export_is_written_and_fetched_by_members(
    mine: Any,
    viewer: Any,
    outsider: Any,
    queued: list[int],
    django_capture_on_commit_callbacks: Any,
    format: str,
) -> None:
    client = signed_in(viewer)
    address = reverse("admin:evaluation_study_exports", args=[mine.study.slug])
    begin(client, address, {"format": format}, django_capture_on_commit_callbacks)
    job = Job.objects.get(pk=queued[0])
    fetch = reverse("admin:evaluation_job_download", args=[job.pk])
    assert client.get(fetch).status_code == 404  # not yet
    tasks.work_on_job(job.pk)
    answer = client.get(fetch)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="mine-{timezone.now():%Y-%m-%d}.{format}"'
    whole = answer.getvalue()
    assert whole == build.export_bytes(mine.study, format)
    rest = client.get(fetch, headers={"Range": "bytes=40-", "If-Range": answer["ETag"]})
    assert (rest.status_code, rest.getvalue()) == (206, whole[40:])
    assert signed_in(outsider).get(fetch).status_code == 404
    assert client.post(fetch).status_code == 405
    job.refresh_from_db()
    assert len(Path(job.file).stem) == 32  # nobody guesses it
    StudyMember.objects.filter(user=viewer).delete()
    assert client.get(fetch).status_code == 404


def test_a_format_that_there_is_not(mine: Any, viewer: Any) -> None:
    address = reverse("admin:evaluation_study_exports", args=[mine.study.slug])
    page = signed_in(viewer).post(address, {"format": "../../etc"})
    assert page.status_code == 422
    assert "Choose one of the formats." in page.content.decode()


def test_two_at_once_are_one_too_many(mine: Any, viewer: Any) -> None:
    first = begin_job(kind="export", slug="mine", study=mine.study, by=viewer, parameters={"format": "csv"})
    with pytest.raises(Refused):
        begin_job(kind="export", slug="mine", study=mine.study, by=viewer, parameters={"format": "jsonl"})
    begin_job(kind="launch", slug="mine", study=mine.study, by=viewer)
    page = signed_in(viewer).post(
        reverse("admin:evaluation_study_exports", args=[mine.study.slug]), {"format": "csv"}
    )
    assert page.status_code == 422
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(kind="export", slug="mine", state="running", lease=uuid.uuid4())
    assert claim_job(first.pk) is not None
    assert claim_job(first.pk) is None


def test_a_job_whose_worker_died_is_lost_and_started_again(
    mine: Any, viewer: Any, colleague: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    job = begin_job(
        kind="export", slug="mine", study=mine.study, by=viewer, parameters={"format": "csv"}, file="a.csv"
    )
    dead = claim_job(job.pk)
    assert dead is not None
    progress = JobProgress(dead)
    progress("writing", 1, 4)
    assert "Writing: 25 %" in watch(signed_in(viewer), job)
    with pytest.raises(Refused):
        restart_job(job)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    page = watch(signed_in(viewer), job)
    assert "gave no sign of life" in page
    assert "Start it again" in page
    with django_capture_on_commit_callbacks(execute=True):
        signed_in(viewer).post(reverse("admin:evaluation_job_restart", args=[job.pk]))
    assert queued == [job.pk]
    # Should the dead one wake, it must not go on beside the new one.
    again = claim_job(job.pk)
    assert again is not None
    progress._last = 0
    with pytest.raises(JobTaken):
        progress("writing", 2, 4)
    with pytest.raises(JobTaken):
        finish_job(dead, message="Too late.")
    finish_job(again, message="Done.")
    job.refresh_from_db()
    assert (job.state, job.message) == ("done", "Done.")
    with pytest.raises(Refused):
        restart_job(job)


def test_a_viewer_can_not_start_an_import_again(editors_draft: Any, viewer: Any, colleague: Any) -> None:
    job = begin_job(kind="import", slug=editors_draft.slug, study=editors_draft, by=colleague, file="gone")
    address = reverse("admin:evaluation_job_restart", args=[job.pk])
    assert signed_in(viewer).post(address).status_code == 403
    assert signed_in(colleague).get(address).status_code == 405
    Job.objects.filter(pk=job.pk).update(state="failed")
    page = signed_in(colleague).post(address, follow=True)
    assert "no longer stored" in page.content.decode()


def test_old_files_are_removed(mine: Any, settings: Any) -> None:
    folder = Path(settings.ASSAY_JOB_FILES)
    folder.mkdir(parents=True)
    rows = {}
    for name, days in (("old.csv", 20), ("new.csv", 1)):
        (folder / name).write_text("x")
        ended = timezone.now() - timedelta(days=days)
        rows[name] = Job.objects.create(kind="export", slug=name[:3], study=mine.study, state="done", file=name,
                                        parameters={"format": "csv"}, finished_at=ended)  # fmt: skip
    assert remove_old_files() == 1
    assert [path.name for path in folder.iterdir()] == ["new.csv"]
    rows["old.csv"].refresh_from_db()
    assert rows["old.csv"].file == ""
    assert (
        signed_in(mine.owner).get(f"/admin/evaluation/job/{rows['old.csv'].pk}/download/").status_code == 404
    )


def test_an_unforeseen_error_is_told_without_its_details(mine: Any, viewer: Any, monkeypatch: Any) -> None:
    def break_down(job: Job) -> None:
        raise RuntimeError("the secret path /somewhere")

    monkeypatch.setattr("evaluation.job_work.write_export", break_down)
    job = begin_job(kind="export", slug="mine", study=mine.study, by=viewer, parameters={"format": "csv"})
    tasks.work_on_job(job.pk)
    page = watch(signed_in(viewer), job)
    assert "Something went wrong on our side" in page
    assert "secret path" not in page


def test_progress_is_a_fragment_for_htmx(mine: Any, viewer: Any) -> None:
    job = begin_job(kind="export", slug="mine", study=mine.study, by=viewer, parameters={"format": "csv"})
    address = reverse("admin:evaluation_job_watch", args=[job.pk])
    fragment = signed_in(viewer).get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert 'hx-trigger="every 2s"' in fragment
    plain = signed_in(viewer).get(f"{address}?plain")
    assert plain["Refresh"] == "5"
    assert 'href="' + address in plain.content.decode()


def test_an_export_begun_while_the_broker_is_down_waits_and_is_sent_later(
    owner: Any, study: Study, queued: list[int], monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client = signed_in(owner)
    exports = reverse("admin:evaluation_study_exports", args=[study.slug])

    def unreachable(pk: int) -> None:
        raise OperationalError("Connection refused")

    with monkeypatch.context() as down:
        down.setattr(tasks.work_on_job, "delay", unreachable)
        answer = begin(client, exports, {"format": "csv"}, django_capture_on_commit_callbacks)
        job = Job.objects.get()
        assert answer["Location"] == reverse("admin:evaluation_job_watch", args=[job.pk])
        assert job.state == "queued"
        assert "The job queue can't be reached right now." in watch(client, job).replace("&#x27;", "'")
        tasks.send_waiting_jobs()
        assert queued == []
        # However long it takes: no worker had it, so none was lost.
        Job.objects.update(heartbeat_at=timezone.now() - timedelta(hours=2))
        assert "gave no sign of life" not in watch(client, job)
    tasks.send_waiting_jobs()
    tasks.send_waiting_jobs()
    assert queued == [job.pk], "sent once, when it could be"
    Job.objects.update(heartbeat_at=timezone.now())
    assert "Waiting for the worker." in watch(client, job)
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done"


def test_a_job_that_waits_can_be_started_by_hand(
    owner: Any, study: Study, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    """Without beat, and without waiting for the job to count as lost."""
    job = begin_job(kind="export", slug=study.slug, study=study, by=owner, parameters={"format": "csv"})
    client = signed_in(owner)
    assert "Start it again" in watch(client, job)
    begin(
        client, reverse("admin:evaluation_job_restart", args=[job.pk]), {}, django_capture_on_commit_callbacks
    )
    assert queued == [job.pk]


def test_beat_looks_for_jobs_that_wait(settings: Any) -> None:
    scheduled = {each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()}
    assert tasks.send_waiting_jobs.name in scheduled
