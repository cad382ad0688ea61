"""Web processes are killed while a crowd judges: nothing acknowledged is lost, doubled, or over the redundancy.

Over the wire, against the shipped command: a participant counts an item as done when the server has said so, and sends
again whatever was not answered.
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.parse
from contextlib import closing
from http.client import HTTPException

import pytest

from tests.config import site as sites
from tests.config.test_serving import processes

pytestmark = pytest.mark.embedded
REDUNDANCY, QUERIES, PEOPLE = 3, 8, 6
MAKE_STUDY = f"""
import django
django.setup()
from tests import factories
study = factories.make_study(
    "{sites.SLUG}", arms=factories.PAPER_ARMS[:1], queries={QUERIES}, training=False, checks=0,
    steps=factories.NO_STEPS, redundancy={REDUNDANCY}, items_per_participant={QUERIES},
)
factories.launch(study)
"""
VERIFY = """
import django
django.setup()
from evaluation.models import Study
from evaluation.services.studies.verification import verify_study
print(*verify_study(Study.objects.get()), sep="\\n", end="")
"""
ANSWERS = urllib.parse.urlencode({"preference": "r1", "justification": "It says more about it."})
NOBODY_ANSWERED = (OSError, HTTPException)


@pytest.fixture
def folder(tmp_path, migrated):
    shutil.copy(migrated, tmp_path / "assay.sqlite3")
    command = [sys.executable, "-c", MAKE_STUDY]
    subprocess.run(command, cwd=sites.ROOT, env=sites.environment(tmp_path), check=True)
    return tmp_path


class Crowd:
    """People who judge until nothing is left for them, and what the server told them that it has."""

    def __init__(self, site):
        self.site = site
        self.acknowledged = []
        self.unanswered = 0
        self.deadline = time.monotonic() + 240

    def ask(self, *request, **headers):
        """An answer, however often it takes."""
        while time.monotonic() < self.deadline:
            try:
                return self.site.ask(*request, timeout=20, **headers)
            except NOBODY_ANSWERED:
                self.unanswered += 1
                time.sleep(0.02)
        raise AssertionError("the server does not answer any more")

    def live(self, name):
        person = {"PROLIFIC_PID": name, "STUDY_ID": "s", "SESSION_ID": f"visit-{name}", "choice": "agree"}
        came = self.ask(f"/s/{sites.SLUG}/", "POST", urllib.parse.urlencode(person), **sites.FORM)
        page = urllib.parse.urlsplit(came.headers["Location"]).path
        while found := re.search(rf'action="({page}a/([0-9a-f-]+)/submit/)', self.ask(page).text):
            answer = self.ask(found[1], "POST", ANSWERS, **sites.FORM)
            assert answer.status == 303, answer.status
            self.acknowledged.append(found[2])

    def all_at_once(self):
        people = [threading.Thread(target=self.live, args=(f"{number:024x}",)) for number in range(PEOPLE)]
        for person in people:
            person.start()
        return people


def kill_one(site):
    """Kills a process that serves, and sees another take its place."""
    before = processes(site.pid)
    gone = min(before)
    os.kill(gone, signal.SIGKILL)
    while gone in processes(site.pid) or len(processes(site.pid)) < len(before):
        time.sleep(0.01)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("often", [6, pytest.param(12, marks=pytest.mark.audit)])
def test_nothing_that_was_acknowledged_is_lost(folder, often):
    with sites.serving(folder, WEB_CONCURRENCY="2") as site:
        crowd = Crowd(site)
        people = crowd.all_at_once()
        killed = 0
        while killed < often:
            # As the work goes on, and at no moment of it in particular.
            done = len(crowd.acknowledged)
            kill_one(site)
            killed += 1
            while any(person.is_alive() for person in people) and len(crowd.acknowledged) == done:
                time.sleep(0.005)
        for person in people:
            person.join()
    with closing(sqlite3.connect(folder / "assay.sqlite3")) as database:
        kept = dict(database.execute("SELECT lower(id), state FROM annotator_assignment"))
        judged = database.execute(
            "SELECT rater_id, item_id, count(*) FROM evaluation_judgment GROUP BY 1, 2"
        ).fetchall()
        by_item = database.execute("SELECT item_id, count(*) FROM evaluation_judgment GROUP BY 1").fetchall()
    assert len(crowd.acknowledged) == len(set(crowd.acknowledged)) == REDUNDANCY * QUERIES
    assert {kept[each.replace("-", "")] for each in crowd.acknowledged} == {"submitted"}
    assert {count for *_, count in judged} == {1}
    assert {count for _, count in by_item} == {REDUNDANCY}
    assert len(by_item) == QUERIES
    said = subprocess.run(
        [sys.executable, "-c", VERIFY],
        cwd=sites.ROOT,
        env=sites.environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == ""
