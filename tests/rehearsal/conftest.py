"""The cast of the rehearsals: each takes a made-up part of the product through all that uses it."""

import pytest
from django.test import Client

from evaluation import tasks
from evaluation.services.studies.creation import PAPER_ARMS
from judging.services.endpoints.access import create_endpoint
from tests.crowd import make_crowd_study
from tests.judging.build import ABLE


@pytest.fixture(autouse=True)
def private_folder(settings, tmp_path):
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")


@pytest.fixture
def study(owner):
    """Live: twelve pairs in three arms, and nothing between a participant and the first of them."""
    return make_crowd_study("contrast", owner=owner, queries=4, arms=PAPER_ARMS)


@pytest.fixture
def admin(owner):
    """The researcher's browser."""
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def endpoint(db):
    """Where a model called m could be asked; nobody answers there."""
    made = create_endpoint(user=None, name="here", base_url="http://127.0.0.1:9/v1")
    made.capabilities = {"m": dict(ABLE)}
    made.save()
    return made


@pytest.fixture
def work_on_jobs(monkeypatch, django_capture_on_commit_callbacks):
    """Runs a block as a request would be served, then the jobs that it queued."""

    def work(act):
        queued = []
        monkeypatch.setattr(tasks.work_on_job, "delay", queued.append)
        with django_capture_on_commit_callbacks(execute=True):
            answer = act()
        for pk in queued:
            tasks.work_on_job(pk)
        return answer

    return work
