"""One kind of background work more: registered by one app, it is begun, watched, killed, refused and found again."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation import tasks
from evaluation.extension import JobKind
from evaluation.models import Job, StudyMember
from evaluation.refusals import Refused
from evaluation.services.jobs import JobProgress, JobTaken, begin_job, claim_job, finish_job, restart_job
from tests.extensions import extend

pytestmark = pytest.mark.django_db


def weigh(job):
    JobProgress(job)("weighing", 1, 2)
    if job.parameters.get("heavy"):
        raise Refused("line 1: it is too heavy.", "line 2: so is this.")
    finish_job(job, message=f"{job.study.items.count()} items were weighed.")


def links(job):
    return (("To the scales", f"/scales/{job.slug}/"),)


WEIGHING = JobKind(
    key="weighing",
    noun="weighing",
    title="Weighing the items",
    work=f"{__name__}.weigh",
    participle="weighed",
    links=links,
)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    extend(monkeypatch, job_kinds=lambda: (WEIGHING,))


def begin(study, owner, **parameters):
    return begin_job(kind="weighing", slug=study.slug, study=study, by=owner, parameters=parameters)


def watched(client, job):
    return client.get(reverse("admin:evaluation_job_watch", args=[job.pk])).content.decode()


def test_it_has_a_page_from_beginning_to_end(study, owner, client):
    client.force_login(owner)
    job = begin(study, owner)
    assert "Weighing the items" in watched(client, job)
    with pytest.raises(Refused, match="Another weighing"):
        begin(study, owner)
    tasks.work_on_job(job.pk)
    page = watched(client, job)
    assert f"{study.items.count()} items were weighed." in page
    assert f'href="/scales/{study.slug}/"' in page
    assert "To the scales" in page
    overview = client.get(reverse("admin:evaluation_study_overview", args=[study.slug])).content.decode()
    assert ">Weighing</a>" in " ".join(overview.split()).replace("> ", ">").replace(" <", "<")


def test_a_refusal_says_what_was_not_done(study, owner, client):
    client.force_login(owner)
    job = begin(study, owner, heavy=True)
    tasks.work_on_job(job.pk)
    page = watched(client, job)
    assert "Nothing was weighed. 2 errors found." in page
    assert "it is too heavy." in page


def test_viewers_watch_it_and_begin_none(study, owner, client, colleague):
    StudyMember.objects.create(study=study, user=colleague, role=StudyMember.Role.VIEWER)
    job = begin(study, owner, heavy=True)
    tasks.work_on_job(job.pk)
    client.force_login(colleague)
    assert "Nothing was weighed" in watched(client, job)
    assert client.post(reverse("admin:evaluation_job_restart", args=[job.pk])).status_code == 403


def test_a_worker_that_was_killed_leaves_a_job_that_is_started_again(study, owner):
    job = claim_job(begin(study, owner).pk)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    again = Job.objects.get(pk=job.pk)
    assert again.is_lost
    restart_job(again)
    tasks.work_on_job(again.pk)
    assert Job.objects.get(pk=job.pk).state == Job.State.DONE
    with pytest.raises(JobTaken):
        weigh(job)
