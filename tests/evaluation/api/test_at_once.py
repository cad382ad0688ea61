"""Several processes at once: a key starts one run, and a minute's requests are counted by all of them together."""

import os
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import caches
from django.db import connection

from evaluation.api.throttling import _count
from evaluation.services.tokens import make_token
from judging.models import Run
from judging.services.judges import heuristic_judge
from tests.analytics.reports.judging import judged_study
from tests.crowd import at_once
from tests.evaluation.api.conftest import Caller


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_the_same_request_sent_by_several_starts_one_run(monkeypatch):
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    # Nobody works on it: this is about who starts it.
    monkeypatch.setattr("judging.tasks.work_on_run.apply_async", lambda *_, **__: None)
    owner = get_user_model().objects.create_user("owner", password="owner-password", is_staff=True)
    judge = heuristic_judge(judged_study("contrast", owner=owner, queries=1), "longer")
    token = make_token(owner, name="script")[1]

    def start():
        return Caller(token).post("studies/contrast/runs/", {"judge": judge.pk}, key="nightly")

    answers = at_once(*[start] * 6)
    assert [answer.status_code for answer in answers] == [201] * 6
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert Run.objects.count() == 1


@pytest.mark.services
def test_no_request_is_lost_in_the_counting():
    key = f"test:{uuid.uuid4()}"
    assert max(at_once(*[lambda: [_count(key) for _ in range(25)][-1]] * 8)) == 200


@pytest.mark.redis
def test_processes_that_share_redis_count_together(settings):
    url = os.environ.get("REDIS_URL")
    if not url:
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("REDIS_URL is not set")
        pytest.skip("REDIS_URL is not set")
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": url,
            "KEY_PREFIX": f"assay-test-{uuid.uuid4().hex}",
        }
    }
    try:
        # Each thread has a client of its own, as each process would.
        assert max(at_once(*[lambda: [_count("minute") for _ in range(25)][-1]] * 8)) == 200
    finally:
        caches["default"].delete("minute")
