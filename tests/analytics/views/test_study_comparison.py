"""The page that compares two studies, and its files: who sees them, what they ask, and how large studies wait."""

import json
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from analytics.reports import report_jobs
from evaluation import tasks
from evaluation.models import StudyMember
from evaluation.services.saved_views import save_view
from tests.analytics.reports.judging import judge, judged_study


@pytest.fixture
def second(owner):
    study = judged_study("second", owner=owner, queries=12)
    judge(study, raters=3, choose=lambda rater, position: "r1" if (position + rater) % 7 == 0 else "r2")
    return study


def page_of(study, other=None, **view):
    query = {**({"other": other.slug} if other else {}), **view}
    return f"{reverse('analytics:study-comparison', args=[study.slug])}?{urlencode(query, doseq=True)}"


def file_of(study, other, suffix="json", **view):
    address = reverse("analytics:study-comparison-file", args=[study.slug, suffix])
    return f"{address}?{urlencode({'other': other.slug, **view})}"


@pytest.mark.parametrize("address", [page_of, file_of])
def test_only_who_may_read_both_studies(client, study, second, outsider, colleague, address):
    response = client.get(address(study, second))
    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert client.get(address(study, second)).status_code == 404
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert client.get(address(study, second)).status_code == 404
    assert client.get(address(second, study)).status_code == 404
    StudyMember.objects.create(study=second, user=colleague, role=StudyMember.Role.VIEWER)
    assert client.get(address(study, second)).status_code == 200


@pytest.mark.parametrize("address", [page_of, file_of])
def test_only_reading(client, study, second, owner, address):
    client.force_login(owner)
    assert client.post(address(study, second)).status_code == 405
    missing = client.get(reverse("analytics:study-comparison", args=["no-such-study"]))
    assert missing.status_code == 404
    assert "your account may not read it" in missing.text
    assert f'href="{reverse("evaluation:study-list")}"' in missing.text
    assert "panel" not in missing.text
    assert client.get(f"{page_of(study)}&other=no-such-study").status_code == 404


def test_it_is_reached_from_the_report_and_asks_with_what(client, study, second, owner, outsider):
    judged_study("hidden", owner=outsider)
    client.force_login(owner)
    report = client.get(reverse("analytics:study-report", args=[study.slug])).content.decode()
    assert reverse("analytics:study-comparison", args=[study.slug]) in report
    page = client.get(page_of(study)).content.decode()
    assert '<option value="second">Second</option>' in page
    assert '<option value="contrast">Contrast (another view)</option>' in page
    assert "hidden" not in page.lower().replace('type="hidden"', "")
    assert "The two sides" not in page


def test_the_figures_stand_side_by_side(client, study, second, owner):
    client.force_login(owner)
    response = client.get(page_of(study, second))
    page = response.content.decode()
    for text in (
        "12 queries matched by key.",
        "Expected win rate, %",
        "Krippendorff&#x27;s \N{GREEK SMALL LETTER ALPHA}, ordinal",
        "Differences beyond chance",
        "lower in B.",
        '<option value="second" selected>Second</option>',
    ):
        assert text in page, text
    assert "style=" not in page
    assert "no-store" in response["Cache-Control"]


def test_files_are_of_the_same_comparison(client, study, second, owner):
    client.force_login(owner)
    response = client.get(file_of(study, second, a_arm="CtxGen-CtxEval"))
    assert response["Content-Disposition"] == 'attachment; filename="contrast-and-second.json"'
    record = json.loads(response.content)
    assert (record["schema"], record["a"]["view"]) == ("assay-comparison/1", {"arm": ["CtxGen-CtxEval"]})
    assert (
        client.get(file_of(study, second, "md"))
        .content.decode()
        .startswith("# Comparison: Contrast and Second\n")
    )
    assert client.get(file_of(study, second, "csv"))["Content-Type"] == "text/csv; charset=utf-8"
    page = client.get(file_of(study, second, "html")).content.decode()
    assert "B less A" in page
    assert "Contrast (contrast; study hash " in page
    latex = client.get(file_of(study, second, "tex"))
    assert latex["Content-Type"] == "application/x-tex; charset=utf-8"
    assert "\\section{" in latex.content.decode()
    assert client.get(file_of(study, second, "pdf")).status_code == 404
    alone = reverse("analytics:study-comparison-file", args=[study.slug, "json"])
    assert client.get(alone).status_code == 404


def test_a_study_and_itself_needs_a_view(client, study, owner):
    client.force_login(owner)
    page = client.get(page_of(study, study)).content.decode()
    assert "or with another view of itself" in page
    assert client.get(file_of(study, study))["Location"] == page_of(study, study)
    views = {"a_arm": "NoCtxGen-NoCtxEval", "b_arm": "CtxGen-CtxEval"}
    page = client.get(page_of(study, study, **views)).content.decode()
    assert "setting CtxGen-CtxEval" in page
    assert '<option value="CtxGen-CtxEval" selected>' in page
    assert "Expected win rate, %" in page


def test_a_saved_view_is_asked_for_by_its_name(client, study, second, owner):
    save_view(study, name="With context", filters={"arm": ["CtxGen-CtxEval"]}, by=owner)
    client.force_login(owner)
    assert (
        "setting CtxGen-CtxEval" in client.get(page_of(study, second, a_view="With context")).content.decode()
    )
    record = json.loads(client.get(file_of(study, second, a_view="With context")).content)
    assert record["a"]["view"] == {"arm": ["CtxGen-CtxEval"]}
    refused = client.get(page_of(study, second, b_view="With context"))
    assert (refused.status_code, "no saved view" in refused.content.decode()) == (400, True)


@pytest.mark.parametrize("address", [page_of, file_of])
def test_a_view_of_what_is_not_there_is_refused(client, study, second, owner, address):
    client.force_login(owner)
    response = client.get(address(study, second, b_rater="nobody"))
    assert response.status_code == 400
    assert "no rater 'nobody'" in response.content.decode()
    assert response["Content-Type"] == "text/plain"


def test_names_from_files_are_escaped(client, study, second, owner):
    study.systems.filter(key="aspen").update(label="<script>alert(1)</script>")
    client.force_login(owner)
    page = client.get(page_of(study, second)).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_comparison_that_takes_long_is_waited_for_on_the_page(client, study, second, owner, busy_worker):
    client.force_login(owner)
    for _ in range(2):
        response = client.get(page_of(study, second))
        assert "The comparison is being computed" in response.content.decode()
        assert response["Refresh"] == "10"
    assert client.get(file_of(study, second))["Location"] == page_of(study, second)
    assert [job.kind for job in busy_worker()] == ["comparison"]
    response = client.get(page_of(study, second))
    assert "Expected win rate, %" in response.content.decode()
    assert "Refresh" not in response


def test_without_a_broker_the_page_says_so(client, study, second, owner, monkeypatch):
    monkeypatch.setattr(tasks, "wait_for_job", lambda job: job)
    client.force_login(owner)
    assert "The job queue can't be reached" in client.get(page_of(study, second)).content.decode()


def test_a_comparison_that_failed_is_told(client, study, second, owner, monkeypatch):
    def fail(sides, watch):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(report_jobs, "compute_comparison", fail)
    client.force_login(owner)
    page = client.get(page_of(study, second)).content.decode()
    assert "The comparison could not be computed: Something went wrong" in page
    assert "out of memory" not in page
