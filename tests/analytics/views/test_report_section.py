"""A section of a report by itself and its folded parts, as they are opened; and opening figures of a large study: begun
once, watched, shown in their place, and honest about failure."""

import re
from html import unescape
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.urls import reverse

from analytics.figures.registry import FIGURES
from analytics.reports import cache
from analytics.reports.deferred import section_jobs
from analytics.reports.deferred.records import waiting_in
from evaluation import tasks
from evaluation.models import Job, StudyMember
from evaluation.services.exclusions import exclude
from tests.published import published_data

HTMX = {"HX-Request": "true"}


@pytest.fixture
def large(study, settings):
    settings.ASSAY_REPORT_DEFER_JUDGMENTS = 10
    cache.compute_report(study)
    return study


@pytest.fixture
def sent(monkeypatch):
    """Ids of jobs that were sent to the worker."""
    found = []

    def send(task, pk):
        found.append(pk)
        return True

    monkeypatch.setattr(tasks, "send_message", send)
    return found


@pytest.fixture
def opened(client, large, owner, sent, django_capture_on_commit_callbacks):
    """Opens a section as its page does."""
    client.force_login(owner)

    def post(heading="", *, headers=HTMX, **data):
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(address(large, heading), data, headers=headers)

    return post


# Whatever else the sample's report has, its agreement in two ways waits.
TWO_WAYS = FIGURES["agreement/two_ways"]
SECTION = TWO_WAYS.heading
FOLDED = re.compile(r'<details class="block" id="([^"]+)".*?</details>', re.S)


def address(study, heading=""):
    return reverse("analytics:study-report-section", args=[study.slug, heading or SECTION])


def headings(study):
    return sorted({FIGURES[key].heading for key in waiting_in(cache.compute_report(study))})


def test_the_page_offers_what_waits(client, large, owner, django_assert_max_num_queries):
    client.force_login(owner)
    with django_assert_max_num_queries(29):
        page = client.get(reverse("analytics:study-report", args=[large.slug])).content.decode()
    assert page.count("Figures not computed yet") == len(headings(large))
    assert f'action="{address(large)}"' in page
    assert "htmx" in page


def test_members_only(client, large, outsider, colleague, sent):
    assert client.post(address(large))["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert client.post(address(large)).status_code == 404
    assert not Job.objects.exists()
    StudyMember.objects.create(study=large, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert client.get(address(large)).status_code == 200
    assert client.put(address(large)).status_code == 405
    assert client.get(address(large, "no-heading")).status_code == 404
    assert client.post(address(large, "no-heading")).status_code == 404
    assert client.post(address(large), headers=HTMX).status_code == 200
    assert Job.objects.get().by == colleague


def test_a_section_that_is_opened_takes_its_place(large, opened, sent):
    text = opened().content.decode()
    assert "Waiting for the worker" in text
    job = Job.objects.get()
    assert sent == [job.pk]
    assert "Waiting for the worker" in opened(job=job.pk).content.decode()
    assert sent == [job.pk]
    tasks.work_on_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.message
    response = opened(job=job.pk)
    assert response["HX-Retarget"] == f"#{SECTION}"
    assert response["HX-Reswap"] == "outerHTML"
    text = response.content.decode()
    assert text.lstrip().startswith(f'<section id="{SECTION}"')
    assert "Figures not computed yet" not in text
    assert Job.objects.count() == 1


def test_progress_is_shown_with_its_figure(large, opened, monkeypatch):
    opened()
    seen = []

    def watch(job):
        def told(phase, done, total):
            Job.objects.filter(pk=job.pk).update(phase=phase, done=done, total=total)
            seen.append(opened(job=job.pk).content.decode())

        return told

    monkeypatch.setattr(section_jobs, "JobProgress", watch)
    tasks.work_on_job(Job.objects.get().pk)
    assert "Reading judgments: 0 %" in seen[0]
    assert any(f"<p>{TWO_WAYS.deferred_as.capitalize()}: " in each for each in seen)


def test_sections_are_computed_side_by_side(large, opened):
    first, second = headings(large)[:2]
    for each in (first, second):
        assert "Waiting for the worker" in opened(each).content.decode()
    for job in Job.objects.order_by("pk"):
        tasks.work_on_job(job.pk)
    report = cache.compute_report(large)
    assert waiting_in(report, first) == waiting_in(report, second) == []
    # A section that nothing came of is not there any more, and the page is turned.
    response = opened(second)
    assert response.headers.get("HX-Retarget") == f"#{second}" or response["HX-Refresh"] == "true"


def test_a_failure_is_said_and_tried_again(large, opened, monkeypatch):
    opened()
    monkeypatch.setattr(section_jobs, "report_with_section", lambda *given, **named: 1 / 0)
    job = Job.objects.get()
    tasks.work_on_job(job.pk)
    text = opened(job=job.pk).content.decode()
    assert "Something went wrong on our side" in text
    assert "Try again" in text
    assert Job.objects.count() == 1
    assert "Waiting for the worker" in opened().content.decode()
    assert Job.objects.count() == 2


def test_a_silent_worker_is_given_up(large, opened):
    opened()
    long_ago = "2026-01-01T00:00:00Z"
    Job.objects.update(state=Job.State.RUNNING, sent_at=long_ago, heartbeat_at=long_ago, lease=uuid4())
    opened()
    assert [job.state for job in Job.objects.order_by("pk")] == [Job.State.FAILED, Job.State.QUEUED]


def test_new_judgments_turn_the_page(large, opened, busy_worker):
    opened()
    exclude(study=large, rater=large.raters.first(), reason="Too fast.")
    assert opened()["HX-Refresh"] == "true"


def test_without_scripts_the_report_is_turned_to(large, opened):
    response = opened(headers={})
    assert response["Location"].endswith(f"/report/#{SECTION}-deferred")
    tasks.work_on_job(Job.objects.get().pk)
    assert opened(headers={})["Location"].endswith(f"/report/#{SECTION}")


def test_the_files_have_everything(client, large, opened, sent, django_capture_on_commit_callbacks):
    opened()
    Job.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("analytics:study-report-files", args=[large.slug]))
    tasks.work_on_job(sent[-1])
    assert waiting_in(cache.compute_report(large)) == []


@pytest.fixture
def page(client, study, owner):
    """The report's page, as text."""
    client.force_login(owner)

    def read(query=""):
        found = client.get(reverse("analytics:study-report", args=[study.slug]) + query)
        return found.content.decode()

    return read


def folded(text):
    """By anchor, the addresses that a folded block is fetched from and that its link leads to."""
    found = {}
    for block in FOLDED.finditer(text):
        fetched, link = (re.search(f'{name}="([^"]+)"', block[0]) for name in ("hx-get", "<a href"))
        if fetched and link:
            found[block[1]] = unescape(fetched[1]), unescape(link[1])
    return found


def tables(text):
    return re.findall(r'<p class="caption">(.*?)</p>', text)


def test_folded_parts_come_when_they_are_opened(client, study, page):
    """The first load and all that is opened are together what the whole page has."""
    text = page()
    parts = folded(text)
    assert len(parts) > 3
    opened = {key: client.get(fetched, headers=HTMX).content.decode() for key, (fetched, _) in parts.items()}
    assert all("<section" not in each and "<html" not in each for each in opened.values())
    seen = [*tables(text), *(caption for each in opened.values() for caption in tables(each))]
    whole = page("?whole=1")
    assert sorted(seen) == sorted(tables(whole))
    assert len(tables(text)) < len(seen)
    assert "hx-get" not in whole
    assert "htmx" in text


def test_folded_parts_of_a_view_are_of_the_view(client, study, page):
    parts = folded(page("?without_rater=person-1"))
    fetched, link = parts["raters-judgments-by-rater"]
    whole = client.get(folded(page())["raters-judgments-by-rater"][0], headers=HTMX).content.decode()
    part = client.get(fetched, headers=HTMX).content.decode()
    assert part.count("<tr") == whole.count("<tr") - 1
    assert part.strip() in client.get(link).content.decode()


def test_without_scripts_a_folded_part_is_a_link(client, study, page):
    for key, (_, link) in folded(page()).items():
        address, _, anchor = link.partition("#")
        assert anchor == key
        text = client.get(address).content.decode()
        assert f'<div class="block" id="{key}"' in text
        assert '<details class="block' not in text
        assert f'href="{reverse("analytics:study-report", args=[study.slug])}#' in text


def test_a_part_of_other_figures_than_the_page_has_is_not_mixed_in(client, study, page):
    fetched, _ = folded(page())["raters-judgments-by-rater"]
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    cache.compute_report(study)
    text = client.get(fetched, headers=HTMX).content.decode()
    assert "The figures have changed since this page was opened." in text
    assert f'<a href="{reverse("analytics:study-report", args=[study.slug])}">Reload the report</a>' in text
    assert tables(text) == []


def test_a_part_that_nobody_has_is_told_as_such(client, study, page):
    fetched, _ = folded(page())["raters-judgments-by-rater"]
    text = client.get(fetched.replace("judgments-by-rater", "no-such-part"), headers=HTMX).content.decode()
    assert "Reload the report" in text


def test_the_first_load_of_a_large_report_is_small(client, owner):
    """LFQA's whole page has more than 1.5 MB."""
    call_command(
        "import_published", "lfqa", str(published_data("lfqa")), slug="lfqa", owner="owner", verbosity=0
    )
    client.force_login(owner)
    assert len(client.get(reverse("analytics:study-report", args=["lfqa"])).content) < 500_000
