"""Workers on PostgreSQL that are killed outright: at each step of a batch, amid a group of runs, amid a jury."""

import os
import signal
import subprocess
import sys
from collections import Counter
from decimal import Decimal

import pytest
from django.db import connection

from evaluation.models import Judgment
from evaluation.services.studies.verification import verify_study
from judging.models import Call, CallBatch, LedgerEntry, Run
from judging.services.calls.budget import set_study_budget
from judging.services.calls.ledger import study_spent
from judging.services.groups.run_groups import start_runs
from judging.services.juries import create_jury
from judging.services.runs.judge_runs import start_run
from tests import factories
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.questions_study import make_questions_study
from tests.judging.services.batches.test_batch_survival import STEPS
from tests.judging.services.runs.test_survival import ROOT, wait_for

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
QUICK = {
    "ASSAY_RUN_LEASE_SECONDS": "1",
    "ASSAY_RUN_BACKOFF_SECONDS": "0.02",
    "ASSAY_RUN_BATCH_POLL_SECONDS": "0.1",
}
# Imports once; each line of runs is worked on by a child of its own, whose number is told, and its end.
WORKERS = """
import os
import sys

import django

django.setup()
import judging.backends.batches
from judging.services.runs.work import work_on

for line in sys.stdin:
    pid = os.fork()
    if not pid:
        for run in map(int, line.split()):
            work_on(run, over_limit=True)
        os._exit(0)
    print(pid, flush=True)
    print(os.waitpid(pid, 0)[1], flush=True)
"""
PRICES = {"price_prompt": Decimal(10), "price_completion": Decimal(10)}


@pytest.fixture(scope="module")
def worker(django_db_setup):
    """Starts a worker on runs, one after the other, in the tests' own database; its process's number."""
    database = connection.settings_dict
    url = f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "REDIS_URL"},
        **QUICK,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"{url}/{database['NAME']}",
    }
    with subprocess.Popen(
        [sys.executable, "-c", WORKERS],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def start(runs):
            process.stdin.write(" ".join(str(run.pk) for run in runs) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        start.ended = lambda: int(process.stdout.readline())
        yield start
        process.kill()


def kill(worker, pid):
    os.kill(pid, signal.SIGKILL)
    assert worker.ended() == signal.SIGKILL


def finals():
    return Call.objects.filter(state="final").count()


def killed_and_ended(worker, runs, marks):
    """Kill a worker at each of these numbers of final calls, and let the last one come to its end."""
    for mark in marks:
        pid = worker(runs)
        wait_for(lambda mark=mark: finals() >= mark, f"{mark} calls were not reached")
        kill(worker, pid)
    worker(runs)
    assert worker.ended() == 0
    assert set(Run.objects.values_list("state", flat=True)) == {"complete"}


def no_call_is_lost_or_paid_twice(study, per_judgment=1):
    places = Counter(Judgment.objects.values_list("rater", "item", "replicate"))
    assert set(places.values()) == {1}
    assert sum(places.values()) * per_judgment == Call.objects.filter(state="final").count()
    assert set(Judgment.objects.values_list("outcome", flat=True)) == {"ok"}
    for run in Run.objects.all():
        assert run.spent == sum(run.calls.values_list("cost", flat=True))
    assert study_spent(study.pk) == sum(Run.objects.values_list("spent", flat=True))
    assert list(verify_study(study)) == []


def test_at_each_step_of_a_batch_nothing_is_asked_twice(owner, worker):
    study = factories.launch(
        factories.make_study("batch", owner=owner, arms=factories.PAPER_ARMS[:1], queries=300, checks=0)
    )
    with endpoint.serve(held=list(STEPS)) as served:
        run = start_run(study, make_judge(study, served, "coin", **PRICES), by_batch=True)
        for step in STEPS:
            pid = worker([run])
            wait_for(lambda: served.holds, f"{step} was not reached")
            assert served.steps[-1] == step
            kill(worker, pid)
            served.holds = False
        killed_and_ended(worker, [run], [1])
        assert [served.steps.count(step) for step in ("POST files", "POST batches")] == [1, 1]
    assert list(CallBatch.objects.values_list("calls", "collected", "state")) == [(300, 300, "ended")]
    assert set(Call.objects.values_list("attempts", flat=True)) == {1}
    no_call_is_lost_or_paid_twice(study)


def test_amid_a_group_of_runs_the_budget_holds_and_each_item_is_judged_once(owner, worker):
    study = factories.launch(
        factories.make_study("group", owner=owner, arms=factories.PAPER_ARMS[:1], queries=80, checks=0)
    )
    set_study_budget(study, Decimal(90))
    with endpoint.serve() as served:
        served.latency = 0.04
        judges = [
            make_judge(study, served, name, name=name, in_flight=4, **PRICES) for name in ("coin", "first")
        ]
        group = start_runs(study, judges, budget=Decimal(80))
        killed_and_ended(worker, list(group.runs.order_by("pk")), [30, 100])
    assert sum(group.runs.values_list("spent", flat=True)) <= 80
    # In flight at a kill, or not yet written: asked again, as no process was left that knew of it.
    attempts = sum(Call.objects.values_list("attempts", flat=True))
    assert 160 <= attempts <= served.total <= attempts + 2 * 12 * 4
    assert sum(LedgerEntry.objects.values_list("calls", flat=True)) == attempts
    no_call_is_lost_or_paid_twice(study)


def test_amid_a_jury_whose_last_question_waits_for_the_others(owner, worker):
    study = make_questions_study(owner, queries=6, systems=("aspen",))
    with endpoint.serve() as served:
        served.latency = 0.03
        llm = make_judge(study, served, "coin", name="plain", in_flight=4)
        jury = create_jury(
            study, name="crowd", endpoint=llm.endpoint, model="coin", one_call_per_question=True,
            options={"last_question": "overall"}, **PRICES,
        )  # fmt: skip
        runs = [start_run(study, judge) for judge in jury.judges.order_by("pk")]
        killed_and_ended(worker, runs, [15, 60, 100])
    assert Counter(Call.objects.values_list("run", flat=True)) == {run.pk: 6 * 7 for run in runs}
    for last in Call.objects.filter(step="overall"):
        others = Call.objects.filter(run=last.run, item=last.item).exclude(step="overall")
        assert last.finished_at >= max(others.values_list("finished_at", flat=True))
    no_call_is_lost_or_paid_twice(study, per_judgment=7)
