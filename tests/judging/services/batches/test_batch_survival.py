"""A worker at a run as batches, killed outright at each of its steps: nothing is uploaded, asked or judged twice."""

import json
import shutil
import signal
import subprocess
import urllib.request
from decimal import Decimal

import pytest

from evaluation.services.studies.verification import verify_study
from judging.models import LedgerEntry
from judging.services.batches import batch_loop
from judging.services.batches.collecting import Collecting
from judging.services.runs.judge_runs import start_run
from judging.services.runs.work import work_on
from tests import factories
from tests.judging import endpoint
from tests.judging.build import make_judge
from tests.judging.services.runs.test_survival import Installation, wait_for, write_items

# Each is done by the endpoint, which keeps its answer back until the worker is dead.
STEPS = ("POST files", "POST batches", "GET batches/1", "GET files/2/content")
ITEMS = 1_500


@pytest.mark.audit
@pytest.mark.embedded
def test_a_worker_that_is_killed_at_each_step_asks_nothing_twice(tmp_path, migrated):
    shutil.copy(migrated, tmp_path)
    installation = Installation(tmp_path, ASSAY_RUN_BATCH_POLL_SECONDS="0.1")
    try:
        write_items(tmp_path / "items.jsonl", ITEMS)
        held = [each for step in STEPS for each in ("--held", step)]
        server = installation.start("tests.judging.endpoint", *held, stdout=subprocess.PIPE, text=True)
        url = server.stdout.readline().strip()
        installation.survivor("batch", str(tmp_path / "items.jsonl"), url)
        for step in STEPS:
            worker = installation.start("tests.judging.survivor", "work")
            wait_for(lambda: log_of(url)["holds"], f"{step} was not reached")
            assert log_of(url)["steps"][-1] == step
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
            urllib.request.urlopen(urllib.request.Request(url.replace("/v1", "/release"), method="POST"))
        # And in the middle of writing what came.
        worker = installation.start("tests.judging.survivor", "work")
        wait_for(lambda: installation.final() > 0, "nothing was collected")
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        assert installation.survivor("work") == {"state": "complete"}
        found, log = installation.survivor("look"), log_of(url)
    finally:
        installation.stop()
    assert [log["steps"].count(step) for step in ("POST files", "POST batches")] == [1, 1]
    assert (found["items"], found["most_per_item"], found["attempts"]) == (ITEMS, 1, ITEMS)
    assert (found["judgments"], found["calls"]) == ({"ok": ITEMS}, {"ok": ITEMS})
    assert found["batches"] == [[ITEMS, ITEMS, "ended"]]
    assert found["verify"] == []


def log_of(url):
    return json.loads(urllib.request.urlopen(url.replace("/v1", "/log")).read())


class Killed(BaseException):
    """Nothing of the worker's own runs after it."""


def test_what_was_collected_before_a_kill_is_not_paid_again(owner, monkeypatch, settings):
    settings.ASSAY_RUN_BATCH_POLL_SECONDS = 0.02
    settings.ASSAY_RUN_LEASE_SECONDS = 0.1
    monkeypatch.setattr(batch_loop, "CHUNK", 3)
    study = factories.launch(
        factories.make_study("eight", owner=owner, arms=factories.PAPER_ARMS[:1], queries=8, checks=0)
    )
    with endpoint.serve() as served:
        judge = make_judge(study, served, "coin", price_prompt=Decimal(1_000))
        run = start_run(study, judge, by_batch=True)
        write = Collecting.write

        def die_at_the_second(self, answers):
            if self.batch.collected:
                raise Killed
            write(self, answers)

        monkeypatch.setattr(Collecting, "write", die_at_the_second)
        with pytest.raises(Killed):
            work_on(run.pk)
        assert run.calls.filter(state="final").count() == 3
        monkeypatch.setattr(Collecting, "write", write)
        assert work_on(run.pk, over_limit=True).state == "complete"
    run.refresh_from_db()
    assert set(run.calls.values_list("attempts", flat=True)) == {1}
    assert run.spent == sum(run.calls.values_list("cost", flat=True)) > 0
    assert sum(LedgerEntry.objects.filter(run=run).values_list("calls", flat=True)) == 8
    assert list(verify_study(study)) == []
