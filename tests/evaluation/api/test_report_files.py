"""A report's files by the API: for members only, text at once, plots and zip once a worker has made them."""

import pytest

from evaluation import tasks
from evaluation.models import Job
from tests.analytics.reports.judging import judged_study
from tests.evaluation.api.test_reading import under

FILES, ONE = "report/files/", "report/file/?path="


@pytest.fixture
def sent(monkeypatch):
    found = []
    monkeypatch.setattr(tasks, "send_job", lambda pk: found.append(pk) or True)
    return found


def test_text_is_there_at_once(study, as_owner):
    listed = as_owner.get(under(study, FILES)).json()
    assert (listed["state"], listed["current"]) == ("none", False)
    assert {"report.tex", "citation.bib", "report.zip", "README.md"} <= set(listed["files"])
    answer = as_owner.get(under(study, f"{ONE}report.tex"))
    assert answer.getvalue().startswith(b"% Compile")
    assert as_owner.get(under(study, f"{ONE}nothing.tex")).status_code == 404
    answer = as_owner.get(under(study, f"{ONE}report.zip"))
    assert (answer.status_code, answer.json()["code"]) == (409, "not_made")


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("tables/win-rates-aspen-vs-birch.csv", "text/csv; charset=utf-8"),
        ("tables/win-rates-aspen-vs-birch.tex", "application/x-tex; charset=utf-8"),
        ("report.html", "text/html; charset=utf-8"),
        ("report.md", "text/markdown; charset=utf-8"),
        ("report.json", "application/json"),
        ("citation.bib", "application/x-bibtex; charset=utf-8"),
    ],
)
def test_a_file_says_what_it_is_and_is_never_opened_as_a_page(study, as_owner, path, media):
    answer = as_owner.get(under(study, f"{ONE}{path}"))
    assert answer["Content-Type"] == media
    name = f"{study.slug}-{path.rpartition('/')[2]}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_plots_and_zip_are_made_by_the_worker(study, as_owner, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_owner.post(under(study, FILES), {"ties": "half"})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    again = as_owner.post(under(study, FILES), {})
    assert (again.status_code, again.json()["code"]) == (409, "refused")
    tasks.work_on_job(sent[-1])
    listed = as_owner.get(under(study, FILES)).json()
    assert listed["current"], listed
    plot = next(path for path in listed["files"] if path.endswith(".pdf"))
    for path, begins, media in ((plot, b"%PDF", "application/pdf"), ("report.zip", b"PK", "application/zip")):
        answer = as_owner.get(under(study, f"{ONE}{path}"))
        assert answer.getvalue().startswith(begins)
        assert answer["Content-Type"] == media


def test_outsiders_and_studies_without_a_report(study, as_owner, as_outsider, owner):
    for path in (FILES, f"{ONE}report.tex"):
        assert as_outsider.get(under(study, path)).status_code == 404
    assert as_outsider.post(under(study, FILES), {}).status_code == 404
    judged_study("fresh", owner=owner, queries=1)
    for path in (FILES, f"{ONE}report.tex"):
        assert as_owner.get(f"studies/fresh/{path}").json()["code"] == "nothing_to_report"
    assert as_owner.post("studies/fresh/report/files/", {}).status_code == 404
    assert not Job.objects.filter(kind="report").exists()
