"""A report's files: who gets them, what they are, and how those that take time are made by the worker."""

import io
import zipfile
from uuid import uuid4

import pytest
from django.urls import reverse

from analytics.reports.cache import compute_report
from analytics.reports.paper import archive
from analytics.reports.paper.archive import plots_of, tables_of
from evaluation import tasks
from evaluation.models import Job, StudyMember
from evaluation.services.exclusions import exclude
from tests.analytics.reports.judging import judged_study


@pytest.fixture
def sent(monkeypatch):
    """Ids of jobs that were sent to the worker."""
    found = []
    monkeypatch.setattr(tasks, "send_job", lambda pk: found.append(pk) or True)
    return found


@pytest.fixture
def one_plot(monkeypatch):
    """Of all plots one is drawn, where none is looked at."""
    monkeypatch.setattr(archive, "plots_of", lambda report: plots_of(report)[:1])


def files(study, path=""):
    if not path:
        return reverse("analytics:study-report-files", args=[study.slug])
    return reverse("analytics:study-report-file", args=[study.slug, path])


def made(client, study, sent, capture):
    with capture(execute=True):
        assert client.post(files(study)).status_code == 302
    tasks.work_on_job(sent[-1])
    return Job.objects.get(pk=sent[-1])


@pytest.mark.parametrize("path", ["", "report.tex", "tables/win-rates-aspen-vs-birch.csv", "report.zip"])
def test_members_only(client, study, outsider, colleague, path):
    assert client.get(files(study, path))["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert client.get(files(study, path)).status_code == 404
    assert client.post(files(study)).status_code == 404
    assert not Job.objects.filter(kind="report").exists()
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert client.get(files(study, path)).status_code in (200, 302)
    assert client.get(files(study).replace(study.slug, "no-such-study")).status_code == 404


def test_a_study_without_a_report_has_no_files(client, owner):
    study = judged_study("empty", owner=owner)
    client.force_login(owner)
    for path in ("", "report.tex", "report.zip"):
        assert client.get(files(study, path))["Location"] == reverse("analytics:study-report", args=["empty"])
    assert client.post(files(study)).status_code == 302
    assert not Job.objects.filter(kind="report").exists()


def test_text_is_there_at_once(client, study, owner):
    client.force_login(owner)
    report = compute_report(study)
    for path, (begins, media) in {
        "report.json": (b"{", "application/json"),
        "report.html": (b"<!doctype html>", "text/html; charset=utf-8"),
        "report.tex": (b"% Compile", "application/x-tex; charset=utf-8"),
        "citation.bib": (b"@misc{contrast-", "application/x-bibtex; charset=utf-8"),
        f"tables/{tables_of(report)[0].key}.csv": (b"Setting,", "text/csv; charset=utf-8"),
        f"tables/{tables_of(report)[0].key}.tex": (b"% \\usepackage", "application/x-tex; charset=utf-8"),
    }.items():
        response = client.get(files(study, path))
        assert response.getvalue().lstrip().startswith(begins)
        assert (response["Content-Type"], response["X-Content-Type-Options"]) == (media, "nosniff")
        assert response["Content-Disposition"].startswith('attachment; filename="contrast-')
        assert "no-store" in response["Cache-Control"]
    assert client.post(files(study, "report.json")).status_code == 405


@pytest.mark.parametrize("path", ["report.exe", "tables/none.csv", "../../etc/passwd", "plots/none"])
def test_what_is_no_file_is_not_found(client, study, owner, path):
    client.force_login(owner)
    assert client.get(files(study) + path).status_code in (302, 404)


def test_plots_and_the_zip_are_made_by_the_worker(
    client, study, owner, sent, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    (plot, *_) = plots_of(compute_report(study))
    page = client.get(files(study)).content.decode()
    assert "Create plots and zip" in page
    assert client.get(files(study, f"plots/{plot.key}.svg"))["Location"] == files(study)
    job = made(client, study, sent, django_capture_on_commit_callbacks)
    assert job.state == Job.State.DONE, job.message
    assert "Download everything" in client.get(files(study)).content.decode()
    for suffix, begins in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert client.get(files(study, f"plots/{plot.key}.{suffix}")).getvalue().startswith(begins)
    zipped = zipfile.ZipFile(io.BytesIO(client.get(files(study, "report.zip")).getvalue()))
    assert zipped.testzip() is None
    assert "contrast-report/README.md" in zipped.namelist()
    assert client.get(files(study, "plots/none.svg")).status_code == 404


def test_old_plots_are_not_given_as_new(
    client, study, owner, sent, one_plot, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    made(client, study, sent, django_capture_on_commit_callbacks)
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    assert "have changed since" in client.get(files(study)).content.decode()
    assert client.get(files(study, "report.zip")).status_code == 302


def test_files_that_name_other_authors_are_old(
    client, study, owner, sent, one_plot, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    made(client, study, sent, django_capture_on_commit_callbacks)
    owner.first_name, owner.last_name = "Ada", "Lovelace"
    owner.save()
    assert "have changed since" in client.get(files(study)).content.decode()
    assert b"{Lovelace, Ada}" in client.get(files(study, "citation.bib")).getvalue()
    made(client, study, sent, django_capture_on_commit_callbacks)
    zipped = zipfile.ZipFile(io.BytesIO(client.get(files(study, "report.zip")).getvalue()))
    naming = [name for name in zipped.namelist() if b"Lovelace" in zipped.read(name)]
    assert naming == ["contrast-report/citation.bib"]


def test_a_second_request_is_refused_while_one_is_under_way(client, study, owner, sent):
    client.force_login(owner)
    client.post(files(study))
    assert "already being created" in client.post(files(study), follow=True).content.decode()
    assert Job.objects.filter(kind="report").count() == 1


def test_a_job_whose_worker_fell_silent_is_given_up(client, study, owner, sent):
    client.force_login(owner)
    client.post(files(study))
    long_ago = "2026-01-01T00:00:00Z"
    Job.objects.filter(kind="report").update(
        state=Job.State.RUNNING, sent_at=long_ago, heartbeat_at=long_ago, lease=uuid4()
    )
    assert "Create plots and zip" in client.get(files(study)).content.decode()
    client.post(files(study))
    assert [job.state for job in Job.objects.filter(kind="report").order_by("pk")] == [
        Job.State.FAILED,
        Job.State.QUEUED,
    ]


def test_what_is_current_is_not_made_again(
    client, study, owner, sent, one_plot, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    made(client, study, sent, django_capture_on_commit_callbacks)
    client.post(files(study))
    assert Job.objects.filter(kind="report").count() == 1


def test_files_that_were_deleted_after_their_time_say_so(
    client, study, owner, sent, one_plot, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    made(client, study, sent, django_capture_on_commit_callbacks)
    Job.objects.get(kind="report").path.unlink()
    assert "have been deleted after some time" in client.get(files(study)).content.decode()


def test_progress_is_a_fragment(client, study, owner, sent):
    client.force_login(owner)
    client.post(files(study))
    Job.objects.filter(kind="report").update(sent_at="2026-01-01T00:00:00Z")
    response = client.get(files(study), headers={"HX-Request": "true"})
    assert "Waiting for the worker" in response.content.decode()
    assert "<html" not in response.content.decode()


def test_ties_as_wins_have_files_of_their_own(
    client, study, owner, sent, one_plot, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    made(client, study, sent, django_capture_on_commit_callbacks)
    assert client.get(files(study, "report.zip")).getvalue()
    assert client.get(f"{files(study, 'report.zip')}?ties=win")["Location"].endswith("?ties=win")
    assert client.get(f"{files(study)}?ties=third").status_code == 400


def test_the_report_links_to_its_files(client, study, owner):
    client.force_login(owner)
    page = client.get(reverse("analytics:study-report", args=[study.slug]), {"whole": 1}).content.decode()
    report = compute_report(study)
    for table in tables_of(report):
        assert f'href="{files(study)}tables/{table.key}.csv"' in page
    for plot in plots_of(report):
        assert f'href="{files(study)}plots/{plot.key}.pdf"' in page
    assert "Study hash" in page or study.study_hash in page


def test_the_files_of_a_view_are_its_own(
    client, study, owner, sent, one_plot, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    query = "?without_rater=person-1"
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(files(study) + query)["Location"] == files(study) + query
    tasks.work_on_job(sent[-1])
    assert "up to date" in client.get(files(study) + query).content.decode()
    assert "Create plots and zip" in client.get(files(study)).content.decode()
    zipped = zipfile.ZipFile(io.BytesIO(client.get(files(study, "report.zip") + query).getvalue()))
    (folder,) = {name.partition("/")[0] for name in zipped.namelist()}
    assert folder.startswith("contrast-report-")
    assert b"without rater person-1" in zipped.read(f"{folder}/report.md")
