"""A full disk: a sentence says so, nothing is left half-written, and with room again the next one works.

A limit on the size of files stands for it: the same calls fail, at the same places, as on a disk without room.
"""

import csv
import errno
import resource
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import DatabaseError, OperationalError, connection
from django.test import Client

from analytics.reports.bundle.jobs import begin_bundle
from analytics.reports.cache import compute_report
from analytics.reports.paper.file_jobs import begin_archive
from evaluation import tasks
from evaluation.management.base import AssayCommand
from evaluation.models import Import, Job, Study
from evaluation.operations.full_disk import is_full_disk
from evaluation.refusals import Refused
from evaluation.services.jobs import NO_ROOM, begin_job, new_file_name, store_upload
from evaluation.services.studies.verification import verify_study
from tests.analytics.reports.judging import judge
from tests.config import site as sites

MB = 1_000_000
OUR_APPS = ("evaluation", "analytics", "annotator", "judging")
UPLOAD = "/new/from-file/"
FORM = {"slug": "large", "title": "Large", "protocol": "pairwise"}
SMALL = b'{"assay": 1}\n'


@contextmanager
def room(size, pid=0):
    """No file of this process may become larger."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    # A module that is compiled meanwhile would be kept cut off.
    writes_none, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = writes_none


@pytest.fixture
def folder(settings, tmp_path, monkeypatch):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    monkeypatch.setattr(tasks.work_on_job, "delay", lambda pk: None)
    return tmp_path / "jobs"


def test_an_upload_that_has_no_room_leaves_nothing(folder):
    with room(MB), pytest.raises(Refused, match="disk is full"):
        store_upload([b"x" * MB] * 3)
    assert not list(folder.iterdir())
    assert (folder / store_upload([b"x" * MB] * 3)).stat().st_size == 3 * MB


def uploads(client, content):
    file = SimpleUploadedFile("large.jsonl", content)
    return client.post(UPLOAD, {**FORM, "file": file})


def test_the_form_says_it_and_takes_a_small_file(owner, folder, monkeypatch):
    client = Client()
    client.force_login(owner)
    # Small enough to stay in memory, too large for the folder.
    with room(MB // 2):
        answer = uploads(client, b"x" * 2 * MB)
        assert answer.status_code == 422
        assert NO_ROOM in answer.content.decode().replace("&#x27;", "'")
        assert not list(folder.iterdir())
        assert not Job.objects.exists()
        assert uploads(client, SMALL).status_code == 302


def test_a_file_that_is_received_without_room_gets_a_page(owner, folder, tmp_path):
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    with room(MB):
        answer = uploads(client, b"x" * 4 * MB)
        assert answer.status_code == 507
        assert "disk is full" in answer.content.decode()
        assert [path for path in tmp_path.iterdir() if path != folder] == []
        assert uploads(client, SMALL).status_code == 302


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_an_export_without_room_says_so_and_leaves_nothing(owner, study, folder, format):
    job = begin_job(
        kind="export",
        slug=study.slug,
        by=owner,
        study=study,
        parameters={"format": format},
        file=new_file_name(format),
    )
    with room(100):
        tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", NO_ROOM)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("begin", [begin_archive, begin_bundle])
def test_a_report_s_files_without_room_leave_nothing(owner, study, folder, begin):
    judge(study, raters=2)
    compute_report(study)
    job = begin(study, by=owner)
    with room(1_000):
        tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", NO_ROOM)
    assert not list(folder.iterdir())
    job = begin(study, by=owner)
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, list(folder.iterdir())) == ("done", [job.path])


def read_only(*args, **named):
    raise OSError(errno.EROFS, "Read-only file system")


def test_a_folder_that_can_not_be_written_to_is_a_sentence(owner, study, folder, monkeypatch):
    client = Client()
    client.force_login(owner)
    judge(study, raters=2)
    job = begin_archive(study, by=owner)
    with monkeypatch.context() as patch:
        for name in ("open", "unlink"):
            patch.setattr(Path, name, read_only)
        with pytest.raises(Refused, match="can't store files"):
            store_upload([SMALL])
        tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", "The file can't be written: Read-only file system.")
    folder.rmdir()
    folder.write_text("A file where a folder should be.")
    assert uploads(client, SMALL).status_code == 422
    for begin in (begin_archive, begin_bundle):
        with pytest.raises(Refused, match="can't store files"):
            begin(study, by=owner)


@contextmanager
def room_in_database(pages):
    """SQLite's file may become no larger than by so many pages."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        size = cursor.execute("PRAGMA page_count").fetchone()[0]
        largest = cursor.execute("PRAGMA max_page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {size + pages}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA max_page_count = {largest}")


@pytest.fixture
def table(tmp_path):
    """A table of items that fills some hundred pages, and lets no batch be large."""
    path = tmp_path / "pairs.csv"
    with path.open("w") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "system_a", "response_a", "system_b", "response_b"])
        for n in range(60):
            rows.writerow([f"Question {n}?", "aspen", f"{n} " * 2_000, "birch", f"{n}. " * 2_000])
    return path


def import_table(table):
    call_command("import_study", str(table), slug="pairs", protocol="pairwise")


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("pages", [20, 80])
def test_an_import_without_room_says_so_and_leaves_nothing(settings, table, pages):
    settings.ASSAY_BATCH_SIZE = 5
    with room_in_database(pages), pytest.raises(CommandError, match=r"^The disk is full\. Make room"):
        import_table(table)
    assert not Study.objects.exists()
    assert not Import.objects.exists()
    import_table(table)
    assert Study.objects.visible().get().items.count() == 60


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_an_import_that_has_no_room_to_tidy_up_is_hidden_and_replaced_by_the_next(
    settings, table, monkeypatch
):
    def no_room(study):
        raise OperationalError("database or disk is full")

    settings.ASSAY_BATCH_SIZE = 5
    with monkeypatch.context() as patch, room_in_database(80):
        patch.setattr("evaluation.dumps.imports.dump_import.discard_import", no_room)
        with pytest.raises(CommandError, match="disk is full"):
            import_table(table)
    assert not Study.objects.visible().exists()
    import_table(table)
    assert Study.objects.get().items.count() == 60


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_launch_without_room_leaves_the_draft_as_it_was(settings, table):
    settings.ASSAY_BATCH_SIZE = 5
    import_table(table)
    with room_in_database(80), pytest.raises(CommandError, match=r"^The disk is full\. Make room"):
        call_command("launch", "pairs", confirm=True)
    study = Study.objects.get()
    assert not study.is_frozen
    assert not study.revisions.exists()
    assert not study.items.exclude(stimulus=None).exists()
    call_command("launch", "pairs", confirm=True)
    assert not list(verify_study(Study.objects.get()))


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_launch_that_has_no_room_to_tidy_up_says_so_and_is_finished_by_the_next(
    settings, table, monkeypatch
):
    def no_room(study):
        raise OperationalError("database or disk is full")

    settings.ASSAY_BATCH_SIZE = 5
    import_table(table)
    with monkeypatch.context() as patch, room_in_database(80):
        patch.setattr("evaluation.services.studies.launch._thaw", no_room)
        with pytest.raises(CommandError, match="The launch is unfinished"):
            call_command("launch", "pairs", confirm=True)
    call_command("launch", "pairs", confirm=True)
    assert not list(verify_study(Study.objects.get()))


def test_every_command_says_it():
    ours = [name for name, app in get_commands().items() if app in OUR_APPS]
    assert len(ours) > 40
    for name in ours:
        assert isinstance(load_command_class(get_commands()[name], name), AssayCommand), name


@pytest.mark.embedded
def test_the_web_server_says_it_and_goes_on(tmp_path, migrated):
    """Before anything of Assay's own is asked: the body itself finds no room."""
    shutil.copy(migrated, tmp_path / "assay.sqlite3")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    files = "multipart/form-data; boundary=x"
    with sites.serving(tmp_path, WEB_CONCURRENCY="1", TMPDIR=str(scratch)) as served:
        [process] = map(int, Path(f"/proc/{served.pid}/task/{served.pid}/children").read_text().split())
        with room(4 * MB, process):
            answer = served.ask(UPLOAD, "POST", b"x" * 6 * MB, Content_Type=files)
            assert answer.status == 507
            assert "disk is full" in answer.text
            assert not list(scratch.iterdir())
            # A form that fits is read, and turned away for want of a login alone.
            assert served.ask(UPLOAD, "POST", b"x" * MB, Content_Type=files).status == 403
        assert served.ask(UPLOAD, "POST", b"x" * 6 * MB, Content_Type=files).status == 403


def test_the_databases_words_for_it_are_known():
    class DiskFull(Exception):
        sqlstate = "53100"

    raised = DatabaseError("could not extend file")
    raised.__cause__ = DiskFull()
    assert is_full_disk(raised)
    assert is_full_disk(DatabaseError("database or disk is full"))
    assert not is_full_disk(DatabaseError("no such table"))
    assert not is_full_disk(PermissionError(13, "Permission denied"))
