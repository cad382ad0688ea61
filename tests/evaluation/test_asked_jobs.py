"""Jobs that a page asks for: one at a time, waited for a moment, and not begun again where nothing would come of it."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from analytics.job_kinds import COMPUTATION
from evaluation import tasks
from evaluation.models import Job
from evaluation.services.jobs import claim_job, finish_job, note_in_job
from tests.factories import make_study

wait_for_job = tasks.wait_for_job


def asked(study, fingerprint="now"):
    return tasks.ask_for_job(
        COMPUTATION, study, subject="half:", fingerprint=fingerprint, by=None, parameters={}, wait=False
    )


@pytest.fixture
def study(db):
    return make_study()


def finish(job, **found):
    job = claim_job(job.pk)
    note_in_job(job, found)
    finish_job(job, message="")
    return job


def test_whoever_asks_while_it_is_under_way_waits_for_the_same(study):
    assert asked(study).pk == asked(study).pk == asked(study, fingerprint="later").pk


def test_where_there_is_nothing_it_is_not_begun_again(study):
    first = asked(study)
    finish(first, nothing="Nobody has judged.")
    assert asked(study).state == Job.State.DONE
    assert asked(study, fingerprint="later").state == Job.State.QUEUED


def test_a_result_that_is_gone_is_computed_again(study):
    first = asked(study)
    finish(first)
    again = asked(study)
    assert (again.pk, again.state, again.message) == (first.pk, Job.State.QUEUED, "")
    # Whoever was waiting goes on waiting.
    first.refresh_from_db()
    assert first.is_active


def test_what_failed_is_tried_again_a_minute_later(study):
    first = asked(study)
    Job.objects.update(state=Job.State.FAILED, finished_at=timezone.now())
    assert asked(study).state == Job.State.FAILED
    Job.objects.update(finished_at=timezone.now() - timedelta(minutes=2))
    assert asked(study).state == Job.State.QUEUED
    assert Job.objects.get().pk == first.pk


def test_the_wait_ends_with_the_job(study, monkeypatch):
    job = asked(study)
    tasks.mark_sent(job.pk)
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 3:
            finish(job)

    monkeypatch.setattr(tasks, "sleep", sleep)
    assert wait_for_job(job).state == Job.State.DONE
    assert looks == [tasks.LOOKS_EVERY] * 3


def test_nobody_waits_longer_than_three_seconds(study, monkeypatch):
    job = asked(study)
    tasks.mark_sent(job.pk)
    seconds = []
    monkeypatch.setattr(tasks, "sleep", seconds.append)
    monkeypatch.setattr(tasks, "monotonic", lambda: sum(seconds))
    assert wait_for_job(job).state == Job.State.QUEUED
    assert sum(seconds) == pytest.approx(3, abs=0.1)


def test_nobody_waits_for_a_worker_that_can_not_be_told(study, monkeypatch):
    job = asked(study)
    monkeypatch.setattr(tasks, "sleep", lambda seconds: pytest.fail("waited"))
    assert wait_for_job(job).is_unsent


def test_what_no_broker_took_is_sent_for_whoever_asks_next(study, monkeypatch):
    job = asked(study)
    sent = []
    monkeypatch.setattr(tasks, "send_message", lambda task, pk: sent.append(pk) or True)
    asked(study)
    assert not sent  # it may be on its way
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=11))
    asked(study)
    asked(study)
    assert sent == [job.pk]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ended", [False, True])
def test_of_many_who_ask_at_once_one_begins_it(owner, ended, monkeypatch):
    study, found, ready = make_study(), [], threading.Barrier(6)
    if ended:
        finish(asked(study))
    sent = []
    monkeypatch.setattr(tasks, "send_message", lambda task, pk: sent.append(pk) or True)

    def ask():
        try:
            ready.wait()
            found.append(asked(study).pk)
        finally:
            connection.close()

    people = [threading.Thread(target=ask) for _ in range(6)]
    for each in people:
        each.start()
    for each in people:
        each.join()
    assert len(found) == 6
    assert len(set(found)) == 1
    assert Job.objects.get().state == Job.State.QUEUED
    assert len(sent) == 1
