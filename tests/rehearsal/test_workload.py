"""One kind of work more: registered in one place, its calls are created, asked, retried, paid and resumed."""

import json
import shutil
import signal
import subprocess
from collections import Counter
from decimal import Decimal

import pytest

from judging.models import Call, Run
from judging.services.calls.workload import KINDS_OF_WORK
from judging.services.endpoints.access import create_endpoint
from judging.services.runs.lifecycle import cancel_run, pause_run, resume_run, retry_run
from judging.services.runs.progress import run_progress
from judging.services.runs.work import work_on
from judging.services.runs.workers import unattended_runs
from tests.judging import endpoint
from tests.judging.build import ABLE
from tests.judging.services.runs.test_survival import Installation, wait_for, write_items
from tests.rehearsal.generation import LINES, lines, make_run

UNITS = 600
KILLS = 3


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def run(study, served):
    here = create_endpoint(user=None, name="here", base_url=served.url, max_in_flight=8)
    here.capabilities = {"coin": dict(ABLE)}
    here.save()
    with KINDS_OF_WORK.registered(LINES):
        yield make_run(study, 120, in_flight=4)


@pytest.mark.django_db
def test_units_are_generated_by_the_engine_that_judges(run, served):
    assert run_progress(run).total == 120
    assert unattended_runs() == [run.pk]
    worked = work_on(run.pk)
    assert (worked.state, worked.final) == ("complete", 120)
    assert Counter(unit for unit, _ in lines()) == Counter(run.units.values_list("pk", flat=True))
    assert served.total == 120
    run.refresh_from_db()
    assert (run.asked, run.unanswered) == (120, 0)
    assert not run.study.judgments.filter(rater__kind="judge").exists()


@pytest.mark.django_db
def test_failures_are_retried_and_a_budget_is_kept(run, served):
    served.behaviours = "400@0.3"
    work_on(run.pk)
    failed = run.calls.filter(outcome="failed").count()
    assert 0 < failed < 120
    served.behaviours = ""
    run.refresh_from_db()
    assert retry_run(run) == failed
    Run.objects.update(price_completion=Decimal(900_000), budget=Decimal("0.5"))
    assert work_on(run.pk).state == "stopped"
    run.refresh_from_db()
    assert run.reason.startswith("The budget of 0.5 would be exceeded")
    resume_run(run, budget=None)
    assert work_on(run.pk).state == "complete"
    assert len(lines()) == len(dict(lines())) == 120


@pytest.mark.django_db
def test_it_is_paused_and_cancelled(run):
    pause_run(run)
    assert work_on(run.pk).final == 0
    resume_run(run)
    cancel_run(run)
    assert (run.state, Call.objects.count()) == ("cancelled", 0)


@pytest.mark.audit
@pytest.mark.embedded
def test_work_that_is_killed_loses_no_unit_and_makes_none_twice(tmp_path, migrated):
    shutil.copy(migrated, tmp_path)
    installation = Installation(tmp_path)
    try:
        write_items(tmp_path / "items.jsonl", 3)
        asked = ("tests.judging.endpoint", "--latency", "0.02", "--behaviours", "500@0.2")
        url = installation.start(*asked, stdout=subprocess.PIPE, text=True).stdout.readline().strip()
        said("make", installation, str(tmp_path / "items.jsonl"), url, str(UNITS))
        seen = 0
        for kill in range(KILLS):
            worker = installation.start("tests.rehearsal.generation", "work")
            wait_for(
                lambda wanted=seen + 100: installation.final() >= wanted, f"no progress after {kill} kills"
            )
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
            seen = installation.final()
            assert seen < UNITS, "the run was over before the last kill"
        wait_for(lambda: said("work", installation)["state"] == "complete", "the run did not come to its end")
        found = said("look", installation)
    finally:
        installation.stop()
    made = Counter(found["units"])
    assert set(made.values()) == {1}
    assert sum(found["calls"].values()) == UNITS
    assert len(made) == found["calls"]["ok"]


def said(step, installation, *arguments):
    process = installation.start(
        "tests.rehearsal.generation", step, *arguments, stdout=subprocess.PIPE, text=True
    )
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return json.loads(out.splitlines()[-1])
