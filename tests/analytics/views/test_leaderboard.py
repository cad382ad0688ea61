"""The published leaderboard: nobody reads it before it is published or after, and what it costs to read."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from analytics.reports.cache import compute_report, report_with_section
from evaluation.models import Answer, PublishedLeaderboard, Rater, Response, StudyMember
from evaluation.refusals import Refused
from evaluation.services.exclusions import exclude
from evaluation.services.leaderboards import publish_leaderboard
from tests.analytics.reports.judging import judge, judged_study
from tests.analytics.reports.test_one_interval import irregular

NAMES = ("leaderboard", "leaderboard-json", "leaderboard-csv")


def address(name, study):
    return reverse(f"analytics:{name}", args=[study.slug])


def publish(client, study, **fields):
    given = {"confirm": "yes", "description": "Answers with context.", **fields}
    return client.post(address("study-leaderboard-publication", study), given)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_reads_what_is_not_published(client, study, owner, name):
    assert client.get(address(name, study)).status_code == 404
    client.force_login(owner)
    assert client.get(address(name, study)).status_code == 404
    assert client.get(address(name, study).replace(study.slug, "no-such")).status_code == 404


def test_an_owner_publishes_and_withdraws(client, study, owner):
    client.force_login(owner)
    assert "It is not published" in client.get(address("study-leaderboard", study)).content.decode()
    assert publish(client, study).status_code == 302
    published = PublishedLeaderboard.objects.get()
    assert (published.study, published.published_by) == (study, owner)
    page = client.get(address("study-leaderboard", study)).content.decode()
    assert "published on" in page
    client.logout()
    for name in NAMES:
        assert client.get(address(name, study)).status_code == 200
    client.force_login(owner)
    publish(client, study, withdraw="yes")
    for name in NAMES:
        assert client.get(address(name, study)).status_code == 404
    assert [entry.change_message for entry in LogEntry.objects.filter(user=owner).order_by("pk")] == [
        "Published the leaderboard.",
        "Withdrew the published leaderboard.",
    ]
    response = publish(client, study, withdraw="yes")
    assert (response.status_code, PublishedLeaderboard.objects.count()) == (422, 0)
    assert "is not published" in response.content.decode()


def test_nothing_happens_without_the_box(client, study, owner):
    client.force_login(owner)
    response = publish(client, study, confirm="")
    assert response.status_code == 422
    assert "tick the box" in response.content.decode()
    assert publish(client, study, description="x" * 501).status_code == 422
    assert not PublishedLeaderboard.objects.exists()
    assert client.get(address("study-leaderboard-publication", study)).status_code == 405


def test_only_owners_publish(client, study, outsider, colleague):
    assert publish(client, study)["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert publish(client, study).status_code == 404
    for name in ("study-leaderboard", "study-leaderboard-json", "study-leaderboard-csv"):
        assert client.get(address(name, study)).status_code == 404
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.EDITOR)
    client.force_login(colleague)
    assert publish(client, study).status_code == 403
    page = client.get(address("study-leaderboard", study))
    assert "Owners of the study publish it" in page.content.decode()
    assert page["X-Robots-Tag"] == "noindex"
    assert "no-store" in page["Cache-Control"]
    assert not PublishedLeaderboard.objects.exists()


def test_the_description_changes_and_who_published_stays(client, study, owner, colleague):
    client.force_login(owner)
    publish(client, study)
    before = PublishedLeaderboard.objects.get()
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.OWNER)
    client.force_login(colleague)
    publish(client, study, description="<b>Otherwise</b>")
    after = PublishedLeaderboard.objects.get()
    assert (after.published_by, after.published_at) == (owner, before.published_at)
    assert "&lt;b&gt;Otherwise&lt;/b&gt;" in client.get(address("leaderboard", study)).content.decode()


@pytest.mark.parametrize("name", NAMES)
def test_reading_it_is_one_query_and_no_session(
    client, study, owner, name, django_assert_num_queries, monkeypatch
):
    client.force_login(owner)
    publish(client, study)
    monkeypatch.setattr("analytics.reports.cache.build_report", None)
    with django_assert_num_queries(1):
        response = client.get(address(name, study))
    assert "Cookie" not in response.get("Vary", "")
    assert not response.cookies
    assert response["Cache-Control"] == "public, max-age=300"
    assert "X-Robots-Tag" not in response
    again = client.get(address(name, study), headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head(address(name, study)).status_code == 200
    assert client.post(address(name, study)).status_code == 405


def test_it_follows_the_report(client, study, owner):
    client.force_login(owner)
    publish(client, study)
    etag = client.get(address("leaderboard", study))["ETag"]
    before = PublishedLeaderboard.objects.get()
    exclude(study=study, rater=study.raters.first(), reason="Too fast.")
    # What is stored stays, and says of when it is, until somebody has the report computed.
    assert client.get(address("leaderboard", study), headers={"If-None-Match": etag}).status_code == 304
    compute_report(study, ties="win")
    assert PublishedLeaderboard.objects.get().computed_at == before.computed_at
    compute_report(study)
    after = PublishedLeaderboard.objects.get()
    assert after.computed_at > before.computed_at
    assert after.content["counts"]["judgments"] < before.content["counts"]["judgments"]
    assert client.get(address("leaderboard", study), headers={"If-None-Match": etag}).status_code == 200


def test_nobody_s_words_or_names_are_in_it(client, study, owner):
    client.force_login(owner)
    publish(client, study)
    text = "".join(client.get(address(name, study)).content.decode() for name in NAMES)
    private = [
        owner.username,
        *study.raters.values_list("pseudonym", flat=True),
        *study.raters.filter(kind=Rater.Kind.PERSON).values_list("label", flat=True),
        *Response.objects.filter(query__study=study).values_list("text", flat=True),
        *filter(None, Answer.objects.filter(judgment__study=study).values_list("text", flat=True)),
    ]
    assert len(private) > 10
    for each in private:
        assert each not in text, each


def test_json_and_citation(client, study, owner):
    client.force_login(owner)
    publish(client, study)
    found = json.loads(client.get(address("leaderboard-json", study)).content)
    assert found["schema"] == "assay-leaderboard/1"
    assert found["study"]["study_hash"] == study.study_hash
    assert study.study_hash in found["citation"]
    assert f"http://testserver/leaderboards/{study.slug}/" in found["bibtex"]
    assert found["description"] == "Answers with context."


def test_raters_are_chosen_by_the_address(client, study, owner):
    client.force_login(owner)
    page = address("study-leaderboard", study)
    assert client.get(f"{page}?by=people").status_code == 200
    assert client.get(f"{page}?by=nobody").status_code == 404


def test_a_study_without_a_report_leads_to_its_report_page(client, owner):
    study = judged_study("empty", owner=owner)
    client.force_login(owner)
    for name in ("study-leaderboard", "study-leaderboard-json", "study-leaderboard-csv"):
        assert client.get(address(name, study))["Location"] == address("study-report", study)
    assert publish(client, study)["Location"] == address("study-report", study)
    assert not PublishedLeaderboard.objects.exists()


def test_a_report_that_ranks_nobody_is_not_published(client, study, owner):
    with pytest.raises(Refused, match="ranks no systems"):
        publish_leaderboard(
            study, content={"raters": []}, computed_at=study.created_at, description="", by=owner
        )


def test_the_report_links_to_it(client, study, owner):
    client.force_login(owner)
    assert address("study-leaderboard", study) in client.get(address("study-report", study)).content.decode()


@pytest.fixture
def large(owner, settings):
    """Three systems, of a study that is taken to be large."""
    settings.ASSAY_REPORT_DEFER_JUDGMENTS = 0
    systems, arms = ("aspen", "birch", "cedar"), ({"key": "all", "label": "All"},)
    study = judged_study("large", owner=owner, systems=systems, items_per_query=3, arms=arms)
    judge(study, choose=irregular)
    return study


def test_a_large_study_s_boards_come_once_they_are_computed_and_stay(client, large, owner):
    """Strengths wait in a large study; published, the leaderboard has the worker compute them with every report."""
    compute_report(large)
    client.force_login(owner)
    said = "Not computed yet, since they take long in a study of this size: Bradley-Terry strengths."
    assert said in client.get(address("study-leaderboard", large)).content.decode()
    publish(client, large)
    client.logout()
    page = client.get(address("leaderboard", large)).content.decode()
    assert said in page
    assert "Bradley-Terry strength</h3>" not in page
    report_with_section(large, "strengths")
    page = client.get(address("leaderboard", large)).content.decode()
    assert "Not computed yet" not in page
    assert "Bradley-Terry strength</h3>" in page
    before = client.get(address("leaderboard-json", large)).json()
    exclude(study=large, rater=large.raters.first(), reason="Too fast.")
    report = compute_report(large)
    assert "preferences/bradley_terry" not in report["deferred"]
    now = client.get(address("leaderboard-json", large)).json()
    assert now["counts"]["judgments"] < before["counts"]["judgments"]
    assert measures(now) == measures(before)
    assert "Bradley-Terry strength" in measures(now)


def measures(record):
    return [board["measure"] for raters in record["raters"] for board in raters["boards"]]
