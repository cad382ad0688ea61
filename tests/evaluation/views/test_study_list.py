"""The list of studies: whose, and with what."""

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Progress, Study, StudyMember
from tests.analytics.reports.judging import judge, judged_study

ADDRESS = "/studies/"


@pytest.fixture
def study(owner):
    study = judged_study("contrast", owner=owner)
    judge(study, raters=2, kind="simulated")
    study.simulated = True
    study.save()
    return study


def test_everybody_sees_their_own(client, study, owner, colleague, outsider):
    assert client.get(ADDRESS)["Location"].startswith("/admin/login/")
    client.force_login(outsider)
    assert "not a member of any study" in client.get(ADDRESS).content.decode()
    client.force_login(owner)
    page = client.get(ADDRESS).content.decode()
    assert reverse("analytics:study-report", args=["contrast"]) in page
    assert "72" in page
    assert "simulated" in page


def test_superusers_see_all_and_no_study_twice(client, study, outsider, colleague):
    StudyMember.objects.create(study=study, user=colleague)
    outsider.is_superuser = True
    outsider.save()
    client.force_login(outsider)
    assert len(client.get(ADDRESS).context["rows"]) == 1


def test_the_number_of_queries_does_not_grow(client, owner, django_assert_max_num_queries):
    for number in range(4):
        judged_study(f"study-{number}", owner=owner, queries=1)
    client.force_login(owner)
    client.get(ADDRESS)  # which counts those that no worker has counted yet
    with django_assert_max_num_queries(10):
        client.get(ADDRESS)


def rows(client, query=""):
    return [row.study.slug for row in client.get(f"{ADDRESS}{query}").context["rows"]]


def test_it_is_searched_filtered_and_sorted(client, owner, colleague):
    soups = judged_study("soups", owner=owner, queries=1)
    judged_study("breads", owner=owner, queries=1)
    theirs = judged_study("cakes", owner=colleague, queries=1)
    StudyMember.objects.create(study=theirs, user=owner, role="viewer")
    judge(soups, raters=1)
    soups.status = "closed"
    soups.save()
    client.force_login(owner)
    assert rows(client, "?sort=title") == sorted(
        rows(client), key=lambda slug: Study.objects.get(slug=slug).title
    )
    assert rows(client, "?q=BREAD") == ["breads"]
    assert rows(client, "?status=closed") == ["soups"]
    assert rows(client, f"?owner={colleague.pk}") == ["cakes"]
    assert rows(client, "?sort=new")[0] == "cakes"
    Progress.objects.filter(study=soups).update(last_activity=timezone.now())
    assert rows(client)[0] == "soups"
    # What is not offered is as if it were not chosen; what finds nothing says so.
    assert len(rows(client, "?status=lost&owner=x&sort=cheapest&page=99")) == 3
    assert (
        "No study has &#x27;nowhere&#x27; in its title or slug."
        in client.get(f"{ADDRESS}?q=nowhere").content.decode()
    )
