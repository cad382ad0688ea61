"""The list of studies: whose, and with what."""

import pytest
from django.urls import reverse

from evaluation.models import StudyMember
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
    assert len(client.get(ADDRESS).context["studies"]) == 1


def test_the_number_of_queries_does_not_grow(client, owner, django_assert_max_num_queries):
    for number in range(4):
        judged_study(f"study-{number}", owner=owner, queries=1)
    client.force_login(owner)
    with django_assert_max_num_queries(3):
        client.get(ADDRESS)
