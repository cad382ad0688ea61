"""The report's page and downloads: who sees them, what they show, and how large studies wait."""

import json

import pytest
from django.urls import reverse

from analytics import tasks
from analytics.reports.build import fingerprint
from evaluation.models import CachedReport, StudyMember
from evaluation.services import exclude
from tests.analytics.reports.judging import judge, judged_study

ADDRESSES = ("study-report", "study-report-json", "study-report-markdown")


@pytest.fixture
def queued(monkeypatch):
    """Ids of studies whose report was asked of the worker."""
    found = []
    monkeypatch.setattr(tasks.compute_report, "delay", found.append)
    return found


@pytest.fixture
def large(study, settings):
    """The same study on an installation that computes nothing in the request."""
    settings.ASSAY_REPORT_INLINE_JUDGMENTS = 10
    return study


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
    # have coded.
    with django_assert_max_num_queries(24):
        client.get(address("study-report", study))


def test_a_new_report_replaces_the_old_ones(client, study, owner):
    client.force_login(owner)
    client.get(address("study-report", study))
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    page = client.get(address("study-report", study)).content.decode()
    assert "1 rater excluded" in page
    study.refresh_from_db()
    assert [row.fingerprint for row in CachedReport.objects.all()] == [fingerprint(study)]


def test_a_large_study_waits_for_the_worker_and_is_queued_once(
    client, large, owner, queued, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        response = client.get(address("study-report", large))
    assert "being computed" in response.content.decode()
    assert response["Refresh"] == "10"
    with django_capture_on_commit_callbacks(execute=True):
        status = client.get(address("study-report", large), headers={"HX-Request": "true"})
    assert 'hx-trigger="every 2s"' in status.content.decode()
    assert "<html" not in status.content.decode()
    assert queued == [large.pk]
    tasks.compute_report(large.pk)
    assert client.get(address("study-report", large), headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert "Win rates" in client.get(address("study-report", large)).content.decode()


def test_a_study_of_many_systems_waits_too(
    client, large, owner, queued, settings, monkeypatch, django_capture_on_commit_callbacks
):
    settings.ASSAY_REPORT_INLINE_JUDGMENTS = 100_000
    monkeypatch.setattr("analytics.reports.cache.MOST_SYSTEMS_INLINE", large.systems.count() - 1)
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        assert "being computed" in client.get(address("study-report", large)).content.decode()
    assert queued == [large.pk]


def test_a_large_study_shows_the_figures_from_before_meanwhile(
    client, large, owner, queued, django_capture_on_commit_callbacks
):
    tasks.compute_report(large.pk)
    exclude(study=large, rater=large.raters.first(), reason="Too fast.")
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        response = client.get(address("study-report", large))
    assert "from before the latest change" in response.content.decode()
    assert "Refresh" not in response
    assert client.get(address("study-report-json", large)).status_code == 302
    assert queued == [large.pk]
    tasks.compute_report(large.pk)
    status = client.get(f"{address('study-report', large)}?stale=1", headers={"HX-Request": "true"})
    assert "Newer figures are ready" in status.content.decode()


def test_a_computation_that_failed_may_be_tried_again(
    client, large, owner, queued, monkeypatch, django_capture_on_commit_callbacks
):
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        client.get(address("study-report", large))

    def broken(study, **options):
        raise RuntimeError("no memory left")

    monkeypatch.setattr("analytics.reports.cache.build_report", broken)
    with pytest.raises(RuntimeError, match="no memory left"):
        tasks.compute_report(large.pk)
    with django_capture_on_commit_callbacks(execute=True):
        client.get(address("study-report", large))
    assert queued == [large.pk, large.pk]


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


def test_a_large_study_waits_for_either_count_of_ties(
    client, large, owner, queued, monkeypatch, django_capture_on_commit_callbacks
):
    asked = []
    monkeypatch.setattr(tasks.compute_report, "delay", lambda pk, **options: asked.append((pk, options)))
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        response = client.get(f"{address('study-report', large)}?ties=win")
    assert f'hx-get="{address("study-report", large)}?ties=win"' in response.content.decode()
    assert asked == [(large.pk, {"ties": "win"})]
    tasks.compute_report(large.pk, ties="win")
    status = client.get(f"{address('study-report', large)}?ties=win", headers={"HX-Request": "true"})
    assert status["HX-Refresh"] == "true"
    # The other one has to be asked for by itself.
    assert "being computed" in client.get(address("study-report", large)).content.decode()


def test_a_view_by_the_address(client, study, owner):
    client.force_login(owner)
    query = "?system=aspen&without_rater=person-1"
    page = client.get(f"{address('study-report', study)}{query}").content.decode()
    assert "View: system aspen; without rater person-1." in page
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
    assert "View:" not in whole
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


def test_a_large_study_computes_each_view_once(
    client, large, owner, monkeypatch, django_capture_on_commit_callbacks
):
    asked = []
    monkeypatch.setattr(tasks.compute_report, "delay", lambda pk, **options: asked.append((pk, options)))
    client.force_login(owner)
    query = "?system=aspen&without_rater=person-1"
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            response = client.get(f"{address('study-report', large)}{query}")
    view = {"system": ["aspen"], "without_rater": ["person-1"]}
    assert asked == [(large.pk, {"view": view})]
    assert (
        f'hx-get="{address("study-report", large)}{query.replace("&", "&amp;")}"' in response.content.decode()
    )
    tasks.compute_report(large.pk, view=view)
    status = client.get(f"{address('study-report', large)}{query}", headers={"HX-Request": "true"})
    assert status["HX-Refresh"] == "true"
    exclude(study=large, rater=large.raters.first(), reason="Too fast.")
    page = client.get(f"{address('study-report', large)}{query}").content.decode()
    assert f'hx-get="{address("study-report", large)}{query.replace("&", "&amp;")}&amp;stale=1"' in page


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
