"""A pipeline under ten kills, and at endpoints that misbehave: nothing lost, nothing made twice, nothing invented."""

import json
import os
import shutil
import signal
import subprocess
import urllib.request
from collections import Counter

import pytest

from evaluation.services.studies.verification import verify_study
from judging.generation.pipelines import PIPELINES
from judging.models import Product
from judging.services.runs.lifecycle import retry_run
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.generating import Stories, generated, make_endpoint, study_of_queries
from tests.judging.services.runs.test_survival import Installation, wait_for
from tests.judging.table import MISBEHAVIOUR, SURVIVAL

QUERIES = 240
# Two sets of titles and a story for each.
CALLS = 3 * QUERIES
KILLS = 10
# Calls that become final between two kills: the first ones hit the titles, the last ones the stories.
STEP = CALLS // (KILLS + 3)
FEW = [{"key": f"q{n}", "text": f"Which soup can I make on day {n}?"} for n in range(4)]


@pytest.mark.audit
@pytest.mark.embedded
def test_ten_kills_in_the_middle_of_a_pipeline(tmp_path, migrated, record_property):
    shutil.copy(migrated, tmp_path)
    installation = Installation(tmp_path)
    try:
        asked = ("tests.judging.endpoint", "--latency", "0.05", "--behaviours", "500@0.2")
        url = installation.start(*asked, stdout=subprocess.PIPE, text=True).stdout.readline().strip()
        survivor = Survivor(installation)
        survivor.said("make", str(QUERIES), url)
        hit = []
        for kill in range(1, KILLS + 1):
            worker = survivor.begin("work")
            wait_for(
                lambda wanted=kill * STEP: installation.final() >= wanted, f"no progress before kill {kill}"
            )
            os.kill(worker, signal.SIGKILL)
            assert survivor.end() == "", "the run was over before the last kill"
            hit += installation.rows("select stage from judging_pipelinerun")
        wait_for(lambda: survivor.said("work")["state"] == "complete", "the run did not come to its end")
        found = survivor.said("look")
        with urllib.request.urlopen(url.removesuffix("/v1") + "/log") as answer:
            served = json.load(answer)
    finally:
        installation.stop()
    whole = QUERIES - found["failed"]
    assert {(0,), (2,)} <= set(hit), "titles and stories were to be hit both"
    assert found["verify"] == []
    assert found["most_calls_per_unit"] == 1
    assert found["units"]["titles"] == 2 * QUERIES
    assert found["units"]["choice"] == found["products"]["choice"] >= whole
    assert found["units"]["story"] == found["units"]["choice"]
    assert found["products"]["titles"] <= 4 * QUERIES
    record_property(
        SURVIVAL,
        f"{KILLS} kills: {found['units']['titles']} sets and {found['units']['story']} stories of {QUERIES} queries, "
        f"{found['failed']} counted as failed, {served['total'] - found['attempts']} requests lost with a kill",
    )


class Survivor:
    """The process that works on the run, or rather a child of its own for each thing that it is told."""

    def __init__(self, installation):
        self.process = installation.start(
            "tests.judging.generating_survivor", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def begin(self, *words):
        """Tell it; return the id of the process that does it."""
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        """Wait for the process's end; return what it said, or nothing where it was killed."""
        lines = list(iter(self.process.stdout.readline, "\n"))
        return "".join(lines)

    def said(self, *words):
        self.begin(*words)
        return json.loads(self.end().splitlines()[-1])


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def study(db, tmp_path, served):
    make_endpoint(served)
    with PIPELINES.registered(Stories()):
        yield study_of_queries(tmp_path, FEW)


@pytest.mark.parametrize(
    ("behaviour", "state", "outcome"),
    [
        ("500@0.3", "complete", "ok"),
        ("400", "complete", "failed"),
        ("refusal", "complete", "refused"),
        ("truncated", "complete", "truncated"),
        ("babble", "paused", ""),
        ("401", "stopped", ""),
    ],
)
def test_misbehaviour(behaviour, state, outcome, study, served, settings, record_property):
    settings.ASSAY_RUN_ATTEMPTS, settings.ASSAY_RUN_BACKOFF_SECONDS = 8, 0.01
    served.behaviours = behaviour
    run = generated(study, "stories")
    outcomes = Counter(run.calls.exclude(outcome="").values_list("outcome", flat=True))
    assert run.state == state, run.reason
    if outcome:
        assert outcomes[outcome] > 0
        assert set(outcomes) <= {outcome}
    made = Product.objects.filter(unit__step="titles").count()
    assert made == 2 * run.units.filter(step="titles", outcome="ok").count()
    assert Counter(run.units.values_list("query", "step", "key")).most_common(1)[0][1] == 1
    assert list(verify_study(study)) == []
    error = run.calls.exclude(error="").values_list("error", flat=True).first() or run.reason
    became = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items())) or "nothing"
    record_property(MISBEHAVIOUR, (f"pipeline: {behaviour}", f"{run.state}: {became}", error))
    served.behaviours = ""
    if state == "complete" and outcome in ("failed", "truncated"):
        retry_run(run)
        assert work_on(run.pk).state == "complete"
        assert Product.objects.filter(unit__step="story").count() == len(FEW)
