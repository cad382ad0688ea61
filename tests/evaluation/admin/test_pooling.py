"""Pooling two rounds in the browser: the choice, what it would come to, and the study that a worker makes."""

import pytest
from django.urls import reverse

from evaluation.admin.study.overview import overview_url
from evaluation.models import Job, Study, StudyMember
from evaluation.tasks import work_on_job
from tests.analytics.reports.judging import judge, judged_study
from tests.annotator.conftest import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def rounds(owner):
    first, second = (judged_study(slug, owner=owner, queries=4) for slug in ("one", "two"))
    judge(first, raters=2)
    judge(second, raters=3)
    return first, second


@pytest.fixture
def as_owner(client, owner):
    client.force_login(owner)
    return client


def pool_url(study):
    return f"/studies/{study.slug}/pool/"


def test_a_pool_is_previewed_and_made(as_owner, rounds, worker_at_hand):
    first, second = rounds
    assert pool_url(first) in as_owner.get(overview_url(first)).content.decode()
    compared = as_owner.get(reverse("analytics:study-comparison", args=[first.slug]), {"other": second.slug})
    assert f"{pool_url(first)}?other=two" in compared.content.decode()
    page = as_owner.get(pool_url(first), {"other": "two"})
    assert f'<option value="{second.pk}" selected>' in page.content.decode()
    sent = {"other": second.pk, "title": "Both", "slug": "both"}
    preview = as_owner.post(pool_url(first), sent)
    for study in rounds:
        assert f"{study.title}: {study.items.count()} items, {study.judgments.count()} judgments." in text(
            preview
        )
    assert "Their forms are the same." in text(preview)
    assert not Job.objects.filter(kind="pooling").exists()
    begun = as_owner.post(pool_url(first), sent | {"make": "1"})
    job = Job.objects.get(kind="pooling")
    assert begun["Location"].endswith(f"/job/{job.pk}/watch/")
    work_on_job(job.pk)
    made = Study.objects.get(slug="both")
    assert made.judgments.count() == first.judgments.count() + second.judgments.count()
    assert overview_url(made) in as_owner.get(begun["Location"]).content.decode()


def test_rounds_that_ask_for_different_answers_are_refused_on_the_page(as_owner, rounds, owner):
    first, second = rounds
    revision = second.revisions.get()
    revision.spec["questions"] = revision.spec["questions"][:1]
    revision.save()
    page = as_owner.post(pool_url(first), {"other": second.pk, "title": "Both", "slug": "both", "make": "1"})
    assert page.status_code == 422
    assert "Only One asks the question" in text(page)
    assert not Job.objects.exists()


def test_an_address_that_is_taken_is_refused(as_owner, rounds):
    first, second = rounds
    page = as_owner.post(pool_url(first), {"other": second.pk, "title": "Both", "slug": "one", "make": "1"})
    assert (page.status_code, Job.objects.exists()) == (422, False)
    assert "Another study has this address." in text(page)


def test_studies_that_the_user_may_not_write_are_not_offered(client, rounds, colleague):
    first, second = rounds
    StudyMember.objects.create(study=first, user=colleague, role=StudyMember.Role.OWNER)
    StudyMember.objects.create(study=second, user=colleague, role=StudyMember.Role.VIEWER)
    client.force_login(colleague)
    assert "There is no other launched study" in text(client.get(pool_url(first)))
    assert pool_url(first) not in client.get(overview_url(first)).content.decode()
