"""Several workers at once: they share a run, and keep to an endpoint's rate limits together."""

import os
import subprocess
import sys
import threading
import uuid

import pytest
from django.db import connection

from judging.models import Endpoint, Run
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests import factories
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.crowd import at_once
from tests.judging import endpoint
from tests.judging.build import create_calls, make_judge
from tests.judging.services.runs.test_survival import ROOT

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
WORK = """
import sys, django
django.setup()
from judging.services.runs.work import work_on
print(work_on(int(sys.argv[1]), over_limit=True).state)
"""


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


def test_two_workers_share_a_run(owner, served):
    study = factories.launch(factories.make_study("two", owner=owner, queries=60))
    served.latency = 0.05
    run = start_run(study, make_judge(study, served, "coin", in_flight=4))
    create_calls(run)
    finals, lock = [], threading.Lock()

    def work():
        worked = work_on(run.pk, over_limit=True)
        with lock:
            finals.append(worked.final)
        connection.close()

    at_once(work, work)
    assert sum(finals) == 180
    assert min(finals) > 40, "both had their share"
    run.refresh_from_db()
    assert run.state == "complete"
    assert served.total == 180


@pytest.mark.redis
def test_workers_in_processes_of_their_own_keep_to_the_limits_together(owner, served, settings):
    """Two processes at two runs: without Redis both together would exceed what the server takes."""
    url = os.environ.get("REDIS_URL")
    if not url:
        if os.environ.get("ASSAY_REQUIRE_ALL"):
            pytest.fail("REDIS_URL is not set")
        pytest.skip("REDIS_URL is not set")
    study = factories.launch(
        factories.make_study("shared", owner=owner, arms=factories.PAPER_ARMS[:1], queries=40)
    )
    judges = [make_judge(study, served, "coin", name=name, in_flight=16) for name in ("one", "two")]
    Endpoint.objects.update(requests_per_minute=20 * 60)
    runs = [start_run(study, judge, purpose="anchor") for judge in judges]
    served.behaviours = "rate=30|1"
    database = connection.settings_dict
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:"
        f"{database['PORT']}/{database['NAME']}",
        "REDIS_KEY_PREFIX": f"assay-test-{uuid.uuid4().hex}:",
    }
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, str(run.pk)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for run in runs
    ]
    assert [each.communicate(timeout=60)[0].strip() for each in started] == ["complete"] * 2
    assert dict(served.statuses) == {200: 80}
    assert set(Run.objects.values_list("unanswered", flat=True)) == {0}
