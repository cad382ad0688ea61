"""The report's page and downloads: who sees them, what they show, and how large studies wait."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from analytics.reports.build import fingerprint
from analytics.reports.cache import compute_report
from analytics.reports.report_jobs import compute_report_of
from evaluation.models import CachedReport, Job, StudyMember
from evaluation.services.exclusions import exclude
from evaluation.services.jobs import JobTaken, claim_job
from tests.analytics.reports.judging import judge, judged_study

ADDRESSES = ("study-report", "study-report-json", "study-report-markdown")


def address(name, study):
    return reverse(f"analytics:{name}", args=[study.slug])


@pytest.mark.parametrize("name", ADDRESSES)
def test_members_only(client, study, outsider, colleague, name):
    response = client.get(address(name, study))
    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert client.get(address(name, study)).status_code == 404
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert client.get(address(name, study)).status_code == 200


@pytest.mark.parametrize("name", ADDRESSES)
def test_only_reading(client, study, owner, name):
    client.force_login(owner)
    assert client.post(address(name, study)).status_code == 405
    assert client.get(reverse(f"analytics:{name}", args=["no-such-study"])).status_code == 404


def test_the_page_shows_figures_and_nothing_inline(client, study, owner):
    client.force_login(owner)
    response = client.get(address("study-report", study))
    page = response.content.decode()
    for text in (
        "Win rates",
        "Krippendorff&#x27;s \N{GREEK SMALL LETTER ALPHA}",
        "Cohen&#x27;s κ",
        "108",
        "aspen vs birch",
        'role="img"',
    ):
        assert text in page
    assert "style=" not in page
    assert "<style" not in page
    assert "no-store" in response["Cache-Control"]


def test_downloads_are_files(client, study, owner):
    client.force_login(owner)
    response = client.get(address("study-report-json", study))
    assert response["Content-Disposition"] == 'attachment; filename="contrast-report.json"'
    assert json.loads(response.content)["schema"] == "assay-report/2"
    response = client.get(address("study-report-markdown", study))
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode().startswith("# Contrast\n")


def test_names_from_files_are_escaped(client, study, owner):
    study.systems.filter(key="aspen").update(label="<script>alert(1)</script>")
    client.force_login(owner)
    page = client.get(address("study-report", study)).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_an_unjudged_study_says_so(client, owner):
    study = judged_study("empty", owner=owner)
    client.force_login(owner)
    assert "Nobody has judged an item yet" in client.get(address("study-report", study)).content.decode()
    assert client.get(address("study-report-json", study))["Location"] == address("study-report", study)


def test_a_kept_report_is_not_computed_again(client, study, owner, monkeypatch):
    client.force_login(owner)
    first = client.get(address("study-report-json", study)).content
    monkeypatch.setattr(
        "analytics.reports.cache.build_report", lambda study, **options: pytest.fail("computed again")
    )
    assert client.get(address("study-report-json", study)).content == first


def test_a_kept_report_costs_few_queries(client, study, owner, django_assert_max_num_queries):
    client.force_login(owner)
    client.get(address("study-report", study))
    # Five of them ask what a view can be of, two which views are saved and who may save one, one which texts pipelines
    # have coded, one which runs judges are of, two what pipelines counted.
    with django_assert_max_num_queries(28):
        client.get(address("study-report", study))


def test_a_new_report_replaces_the_old_ones(client, study, owner):
    client.force_login(owner)
    client.get(address("study-report", study))
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    page = client.get(address("study-report", study)).content.decode()
    assert "1 rater excluded" in page
    study.refresh_from_db()
    assert [row.fingerprint for row in CachedReport.objects.all()] == [fingerprint(study)]


def test_a_report_that_takes_long_is_waited_for_on_the_page(client, study, owner, busy_worker):
    client.force_login(owner)
    response = client.get(address("study-report", study))
    assert "being computed" in response.content.decode()
    assert response["Refresh"] == "10"
    status = client.get(address("study-report", study), headers={"HX-Request": "true"})
    assert 'hx-trigger="every 2s"' in status.content.decode()
    assert "<html" not in status.content.decode()
    assert [job.kind for job in busy_worker()] == ["figures"]
    assert client.get(address("study-report", study), headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert "Win rates" in client.get(address("study-report", study)).content.decode()


def test_the_figures_from_before_are_shown_meanwhile(client, study, owner, busy_worker):
    compute_report(study)
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    client.force_login(owner)
    response = client.get(address("study-report", study))
    assert "from before the latest change" in response.content.decode()
    assert "Refresh" not in response
    assert client.get(address("study-report-json", study)).status_code == 302
    assert len(busy_worker()) == 1
    status = client.get(f"{address('study-report', study)}?stale=1", headers={"HX-Request": "true"})
    assert "Newer figures are ready" in status.content.decode()


def test_a_computation_that_failed_is_told_and_tried_again_a_minute_later(client, study, owner, monkeypatch):
    def broken(study, **options):
        raise RuntimeError("no memory left")

    client.force_login(owner)
    with monkeypatch.context() as patch:
        patch.setattr("analytics.reports.cache.build_report", broken)
        page = client.get(address("study-report", study)).content.decode()
    assert "Something went wrong on our side" in page
    assert "no memory left" not in page
    assert "Something went wrong" in client.get(address("study-report", study)).content.decode()
    long_ago = timezone.now() - timedelta(minutes=2)
    Job.objects.filter(kind="figures").update(finished_at=long_ago)
    assert "Win rates" in client.get(address("study-report", study)).content.decode()
    assert Job.objects.filter(kind="figures").count() == 1


def test_a_worker_that_fell_silent_is_given_up(client, study, owner, busy_worker):
    client.force_login(owner)
    client.get(address("study-report", study))
    job = claim_job(Job.objects.get(kind="figures").pk)
    client.get(address("study-report", study))
    assert Job.objects.get(kind="figures").pk == job.pk
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    client.get(address("study-report", study))
    assert len(busy_worker()) == 1
    assert "Win rates" in client.get(address("study-report", study)).content.decode()
    # It comes back, and has nothing to say.
    with pytest.raises(JobTaken):
        compute_report_of(job)


def test_what_is_asked_while_it_is_computed_begins_nothing(client, study, owner, busy_worker):
    client.force_login(owner)
    client.get(address("study-report", study))
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    client.get(address("study-report", study))
    assert len(busy_worker()) == 1
    assert "1 rater excluded" in client.get(address("study-report", study)).content.decode()


def test_ties_may_count_as_wins(client, study, owner):
    client.force_login(owner)
    page = client.get(address("study-report", study)).content.decode()
    assert "with a tie counted as half a win" in page
    assert "?ties=win" in page
    page = client.get(f"{address('study-report', study)}?ties=win").content.decode()
    assert "with a tie counted as a win" in page
    assert f"{address('study-report-json', study)}?ties=win" in page
    found = json.loads(client.get(f"{address('study-report-json', study)}?ties=win").content)
    assert found["parameters"]["ties"] == "win"
    text = client.get(f"{address('study-report-markdown', study)}?ties=win").content.decode()
    assert "with a tie counted as a win" in text


@pytest.mark.parametrize("name", ["study-report", "study-report-json", "study-report-markdown"])
def test_any_other_count_of_ties_is_refused(client, study, owner, name):
    client.force_login(owner)
    response = client.get(f"{address(name, study)}?ties=<b>")
    assert response.status_code == 400
    assert response.content.decode() == "ties must be one of: half, win."
    assert response["Content-Type"] == "text/plain"


def test_either_count_of_ties_is_waited_for(client, study, owner, busy_worker):
    client.force_login(owner)
    response = client.get(f"{address('study-report', study)}?ties=win")
    assert f'hx-get="{address("study-report", study)}?ties=win"' in response.content.decode()
    busy_worker()
    status = client.get(f"{address('study-report', study)}?ties=win", headers={"HX-Request": "true"})
    assert status["HX-Refresh"] == "true"
    # The other one has to be asked for by itself.
    assert "being computed" in client.get(address("study-report", study)).content.decode()


def test_a_view_by_the_address(client, study, owner):
    client.force_login(owner)
    query = "?system=aspen&without_rater=person-1"
    page = client.get(f"{address('study-report', study)}{query}").content.decode()
    assert "View: system aspen; without rater person 1." in page
    escaped = query.replace("&", "&amp;")
    for name in ("study-report-json", "study-report-markdown", "study-report-files"):
        assert f'href="{address(name, study)}{escaped}"' in page
    assert '<option value="person-1" selected>' in page
    assert "Show the whole study" in page
    found = json.loads(client.get(f"{address('study-report-json', study)}{query}").content)
    assert found["parameters"]["view"] == {"system": ["aspen"], "without_rater": ["person-1"]}
    files = client.get(f"{address('study-report-files', study)}{query}").content.decode()
    assert f"report.tex{escaped}" in files
    whole = client.get(address("study-report", study)).content.decode()
    assert "Every figure is of these judgments alone" not in whole
    assert "View: the whole study" in whole
    assert "Show this view" in whole


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_view_of_what_there_is_not_is_refused(client, study, owner, name):
    client.force_login(owner)
    response = client.get(f"{address(name, study)}?system=<b>")
    assert response.status_code == 400
    assert response["Content-Type"] == "text/plain"
    assert "no system '<b>' (its systems: aspen, birch)" in response.content.decode()


@pytest.mark.parametrize("name", [*ADDRESSES, "study-comparison"])
def test_a_browser_is_refused_with_a_page_that_leads_back(client, study, owner, name):
    client.force_login(owner)
    asked = f"?system=<b>&other={study.slug}&a_system=<b>"
    response = client.get(f"{address(name, study)}{asked}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert (response.status_code, response["Content-Type"]) == (400, "text/html; charset=utf-8")
    page = response.content.decode()
    assert "no system &#x27;&lt;b&gt;&#x27; (its systems: aspen, birch)" in page
    assert f'href="{address("study-report", study)}"' in page


def test_a_refused_comparison_keeps_its_form(client, study, owner):
    client.force_login(owner)
    asked = f"{address('study-comparison', study)}?other={study.slug}&a_from=2026-13-45&b_system=aspen"
    response = client.get(asked, headers={"Accept": "text/html,*/*;q=0.8"})
    assert response.status_code == 400
    page = response.content.decode()
    assert "<h1>Comparison</h1>" in page
    said = page.index("A: &#x27;2026-13-45&#x27; is no day: write it as 2026-01-31.")
    assert said < page.index("Compare these views")
    # The side that is right keeps its view.
    assert page.count('<option value="aspen" selected>') == 1


def test_an_empty_view_says_so_and_leads_back(client, study, owner):
    client.force_login(owner)
    page = client.get(f"{address('study-report', study)}?from=2099-01-01").content.decode()
    assert "leaves no judgment" in page
    assert f'href="{address("study-report", study)}"' in page


def test_each_view_is_computed_once(client, study, owner, busy_worker):
    client.force_login(owner)
    query = "?system=aspen&without_rater=person-1"
    for _ in range(2):
        response = client.get(f"{address('study-report', study)}{query}")
    assert (
        f'hx-get="{address("study-report", study)}{query.replace("&", "&amp;")}"' in response.content.decode()
    )
    assert len(busy_worker()) == 1
    status = client.get(f"{address('study-report', study)}{query}", headers={"HX-Request": "true"})
    assert status["HX-Refresh"] == "true"
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    page = client.get(f"{address('study-report', study)}{query}").content.decode()
    assert f'hx-get="{address("study-report", study)}{query.replace("&", "&amp;")}&amp;stale=1"' in page


def test_judges_are_together_by_a_link(client, study, owner):
    client.force_login(owner)
    page = client.get(address("study-report", study)).content.decode()
    assert "Show them also together" not in page
    judge(study, raters=2, kind="judge")
    page = client.get(address("study-report", study)).content.decode()
    assert "Judges together" not in page
    assert f'<a href="{address("study-report", study)}?judges=together">Show them also together</a>' in page
    asked = client.get(address("study-report", study), {"judges": "together"}).content.decode()
    assert "Judges together" in asked
    assert "View: judges also together." in asked
    assert f'<a href="{address("study-report", study)}">Show them only one by one</a>' in asked
