"""A study's bundle: who gets it, how the worker writes it, and how a study opens from it."""

import io
import json
import zipfile
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from analytics.reports.cache import compute_report
from analytics.reports.paper.archive import tables_of
from evaluation import tasks
from evaluation.models import Job, Rater, Study, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.jobs import restart_job
from evaluation.services.studies.duplication import duplicate_study
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests.analytics.reports.judging import answer, judged_study, main_items
from tests.factories import make_study

FROM_FILE = "/new/from-file/"


@pytest.fixture(autouse=True)
def sent(monkeypatch, settings, tmp_path):
    """Ids of jobs that were sent to the worker."""
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    found = []
    monkeypatch.setattr(tasks, "send_job", lambda pk: found.append(pk) or True)
    return found


def page_of(study):
    return reverse("analytics:study-bundle", args=[study.slug])


def file_of(study):
    return reverse("analytics:study-bundle-file", args=[study.slug])


def read(client, address):
    return " ".join(client.get(address).content.decode().split())


def written(client, study, sent, capture, query=""):
    with capture(execute=True):
        assert client.post(page_of(study) + query).status_code == 302
    tasks.work_on_job(sent[-1])
    job = Job.objects.get(pk=sent[-1])
    assert job.state == Job.State.DONE, job.message
    return job


def download(client, study):
    response = client.get(file_of(study))
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def changed(content, change):
    """The archive with other contents under the same manifest."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in archive.namelist():
            new.writestr(name, change(name, archive.read(name)))
    return out.getvalue()


def upload(client, content, capture, address=FROM_FILE, **fields):
    file = SimpleUploadedFile("contrast-bundle.zip", content)
    with capture(execute=True):
        return client.post(address, {"file": file, **fields})


def watched(client, job):
    return read(client, reverse("admin:evaluation_job_watch", args=[job.pk]))


def test_members_only_viewers_included(
    client, study, owner, outsider, colleague, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    client.logout()
    for address in (page_of(study), file_of(study)):
        assert client.get(address)["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    for address in (page_of(study), file_of(study)):
        assert client.get(address).status_code == 404
    assert client.post(page_of(study)).status_code == 404
    assert Job.objects.count() == 1
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert download(client, study)
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    written(client, study, sent, django_capture_on_commit_callbacks)


def test_the_worker_writes_it_and_the_page_gives_it(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    assert "Create the bundle" in read(client, page_of(study))
    assert client.get(file_of(study)).status_code == 404
    job = written(client, study, sent, django_capture_on_commit_callbacks)
    page = read(client, page_of(study))
    assert "The bundle is up to date." in page
    assert "Create the bundle" not in page
    response = client.get(file_of(study))
    name = f"contrast-bundle-{job.finished_at:%Y-%m-%d}.zip"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "no-store" in response["Cache-Control"]
    assert "study.jsonl" in zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))).namelist()
    assert "To the bundle" in watched(client, job)
    client.post(page_of(study))
    assert Job.objects.count() == 1, "what is up to date is not written again"


def test_an_older_bundle_says_that_it_is_older(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    page = read(client, page_of(study))
    assert "have changed since this bundle was written" in page
    assert "Create the bundle" in page
    assert download(client, study)
    Job.objects.get().path.unlink()
    assert "has been deleted after some time" in read(client, page_of(study))
    assert client.get(file_of(study)).status_code == 404


def test_judgments_that_come_in_meanwhile_keep_it_from_being_written(
    client, study, owner, sent, django_capture_on_commit_callbacks, monkeypatch
):
    from analytics.reports.bundle import writing

    before = writing.bundle_members

    def meanwhile(*given):
        rater = Rater.objects.create(study=study, kind="person", pseudonym="late")
        answer(study, rater, main_items(study)[0], "r1")
        return before(*given)

    monkeypatch.setattr(writing, "bundle_members", meanwhile)
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(page_of(study))
    tasks.work_on_job(sent[-1])
    job = Job.objects.get()
    assert job.state == Job.State.FAILED
    assert not job.path.exists()
    page = read(client, page_of(study))
    assert "Pause the study, then try again." in page
    assert "Create the bundle" in page


def test_one_at_a_time_and_a_lost_one_is_given_up(client, study, owner, sent):
    client.force_login(owner)
    client.post(page_of(study))
    assert "already being written" in client.post(page_of(study), follow=True).content.decode()
    long_ago = "2026-01-01T00:00:00Z"
    Job.objects.update(state=Job.State.RUNNING, sent_at=long_ago, heartbeat_at=long_ago, lease=uuid4())
    assert "has stopped. Create it again." in read(client, page_of(study))
    client.post(page_of(study))
    assert [job.state for job in Job.objects.order_by("pk")] == [Job.State.FAILED, Job.State.QUEUED]


def test_progress_is_a_fragment(client, study, owner):
    client.force_login(owner)
    client.post(page_of(study))
    Job.objects.update(sent_at="2026-01-01T00:00:00Z")
    response = client.get(page_of(study), headers={"HX-Request": "true"})
    assert "Waiting for the worker" in response.content.decode()
    assert "<html" not in response.content.decode()


def test_nothing_judged_is_nothing_to_bundle(client, owner):
    study = judged_study("empty", owner=owner)
    client.force_login(owner)
    page = read(client, page_of(study))
    assert "Nothing has been judged yet" in page
    assert "Create the bundle" not in page
    assert "nothing to bundle" in client.post(page_of(study), follow=True).content.decode()
    assert not Job.objects.exists()


def test_ties_as_wins_have_a_bundle_of_their_own(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks, "?ties=win")
    assert client.get(file_of(study)).status_code == 404
    content = b"".join(client.get(f"{file_of(study)}?ties=win").streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert json.loads(archive.read("report/report.json"))["parameters"]["ties"] == "win"


def test_it_is_found_from_exports_and_from_the_reports_files(client, study, owner):
    client.force_login(owner)
    for address in (
        reverse("admin:evaluation_study_exports", args=[study.slug]),
        reverse("analytics:study-report-files", args=[study.slug]),
    ):
        assert f'href="{page_of(study)}"' in read(client, address)


def test_a_study_opens_from_a_bundle_and_says_what_is_the_same(
    client, study, owner, colleague, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    content = download(client, study)
    client.force_login(colleague)
    response = upload(client, content, django_capture_on_commit_callbacks, slug="again")
    tasks.work_on_job(sent[-1])
    job = Job.objects.get(pk=sent[-1])
    assert response["Location"] == reverse("admin:evaluation_job_watch", args=[job.pk])
    assert job.state == Job.State.DONE, job.problems
    opened = Study.objects.get(slug="again")
    assert (opened.status, opened.study_hash) == ("closed", study.study_hash)
    assert opened.judgments.count() == study.judgments.count()
    assert StudyMember.objects.get(study=opened).user == colleague
    page = watched(client, job)
    assert "0 different. Tables:" in page
    report = compute_report(study)
    figures = [f"{each['figure']}, {each['question']}, {each['group']}" for each in report["records"]]
    assert len(figures) > 5
    for name in (*figures, "counts", *(f"table {table.key}" for table in tables_of(report))):
        assert f'<th scope="row">{name}</th><td>same</td>' in page
    assert reverse("admin:evaluation_study_duplicate", args=[opened.slug]) in page
    assert "What was the same" in read(client, page_of(opened))
    draft = duplicate_study(opened, by=colleague, items=True)
    assert draft.items.count() == opened.items.count()
    # What was opened has a bundle of its own, which says the same.
    written(client, opened, sent, django_capture_on_commit_callbacks)
    with (
        zipfile.ZipFile(io.BytesIO(content)) as first,
        zipfile.ZipFile(io.BytesIO(download(client, opened))) as second,
    ):
        tables = [name for name in first.namelist() if name.startswith("report/tables/")]
        assert [name for name in tables if first.read(name) != second.read(name)] == []


def test_a_worker_that_is_killed_while_it_compares_leaves_nothing_in_the_way(
    client, study, owner, sent, django_capture_on_commit_callbacks, monkeypatch, settings
):
    from analytics.reports.bundle import replication

    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    upload(client, download(client, study), django_capture_on_commit_callbacks, slug="again")
    job = Job.objects.get(pk=sent[-1])

    class Killed(BaseException):
        """A process that is killed cleans nothing up."""

    def killed(*given, **options):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(replication, "build_report", killed)
        patched.setattr(replication, "discard_import", lambda study: None)
        with pytest.raises(Killed):
            tasks.work_on_job(job.pk)
    left = Study.objects.get(slug="again")
    settings.ASSAY_JOB_LOST_SECONDS = 0
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING
    restart_job(job)
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.problems
    opened = Study.objects.get(slug="again")
    assert opened == left
    assert opened.judgments.count() == study.judgments.count()
    assert "0 different. Tables:" in watched(client, job)


def test_judgments_since_a_killed_opening_are_never_deleted(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    upload(client, download(client, study), django_capture_on_commit_callbacks, slug="again")
    job = Job.objects.get(pk=sent[-1])
    tasks.work_on_job(job.pk)
    # As a worker leaves it that is killed before it says how the study compares.
    Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED, study=None)
    opened = Study.objects.get(slug="again")
    longer = heuristic_judge(opened, "longer", user=owner)
    work_on(start_run(opened, longer, user=owner).pk)
    judged = opened.judgments.count()
    assert judged > study.judgments.count()
    job.refresh_from_db()
    restart_job(job)
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, opened.judgments.count()) == (Job.State.FAILED, judged)
    assert "has judgments that are not the bundle" in watched(client, job)


def test_figures_that_differ_are_shown_first(
    client, study, owner, sent, django_capture_on_commit_callbacks, monkeypatch
):
    from analytics.reports.bundle import replication

    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    computed = replication.build_report

    def otherwise(*given, **options):
        report = computed(*given, **options)
        return report | {"counts": report["counts"] | {"judgments": 1}}

    monkeypatch.setattr(replication, "build_report", otherwise)
    upload(client, download(client, study), django_capture_on_commit_callbacks, slug="again")
    tasks.work_on_job(sent[-1])
    page = watched(client, Job.objects.get(pk=sent[-1]))
    first_row = page.partition("<tbody>")[2].partition("</tr>")[0]
    assert '<th scope="row">counts</th>' in first_row
    assert "<b>different</b>" in first_row
    assert "judgments: 108 in the bundle, 1 here" in first_row


def test_a_bundle_that_was_changed_opens_nothing(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    content = changed(
        download(client, study),
        lambda name, raw: raw.replace(b'"r1"', b'"r2"') if name == "study.jsonl" else raw,
    )
    upload(client, content, django_capture_on_commit_callbacks, slug="again")
    tasks.work_on_job(sent[-1])
    page = watched(client, Job.objects.get(pk=sent[-1]))
    assert "Nothing was imported. 1 error found." in page
    assert "its sha256 is not the one in the manifest." in page
    assert Study.objects.count() == 1


def test_a_study_whose_figures_cannot_be_computed_is_not_kept(
    client, study, owner, sent, django_capture_on_commit_callbacks, monkeypatch
):
    from analytics.reports.bundle import replication

    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)

    def broken(*given, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(replication, "build_report", broken)
    upload(client, download(client, study), django_capture_on_commit_callbacks, slug="again")
    tasks.work_on_job(sent[-1])
    assert Job.objects.get(pk=sent[-1]).state == Job.State.FAILED
    assert list(Study.objects.values_list("slug", flat=True)) == ["contrast"]


def test_more_than_an_upload_may_unpack_to_is_refused(
    client, study, owner, sent, django_capture_on_commit_callbacks, settings, monkeypatch
):
    from analytics.reports.bundle import jobs

    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    settings.ASSAY_UPLOAD_MB = 1
    monkeypatch.setattr(jobs, "UNPACKED", 0.05)
    upload(client, download(client, study), django_capture_on_commit_callbacks, slug="again")
    tasks.work_on_job(sent[-1])
    assert "MB are read here." in watched(client, Job.objects.get(pk=sent[-1]))
    assert Study.objects.count() == 1


def test_a_bundle_is_refused_where_it_does_not_belong(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    written(client, study, sent, django_capture_on_commit_callbacks)
    content, capture = download(client, study), django_capture_on_commit_callbacks
    draft = make_study("a-draft", owner=owner)
    items = reverse("admin:evaluation_study_upload", args=[draft.slug])
    for said, given in (
        ("which holds a whole study. Upload it under", {"address": items}),
        ("has its own title and protocol", {"title": "Mine"}),
        ("has its own title and protocol", {"protocol": "pairwise"}),
        ("A study with this slug already exists.", {"slug": "contrast"}),
    ):
        response = upload(client, content, capture, **given)
        assert response.status_code == 422
        assert said in response.content.decode()
    # An archive of something else is a table's folder, or none.
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("MANIFEST.json", '{"format": "another/1"}')
        archive.writestr("README.md", "?")
    assert upload(client, other.getvalue(), capture, slug="again").status_code == 422
    assert Job.objects.count() == 1
