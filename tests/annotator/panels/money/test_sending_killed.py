"""Senders that work at once, and senders that are killed outright between the panel's deed and its record here.

The panel kills them: it does what it is asked, and whoever asked is dead before the answer.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from annotator.models import Panel, PanelAct, PanelRecord, Participant
from annotator.panels.money import settlement
from annotator.panels.money.decisions import intend_approvals, intend_bonuses
from annotator.panels.money.sending import send
from annotator.panels.money.settlement import settle
from annotator.panels.prolific.client import Client
from annotator.panels.services.readings import sync
from annotator.panels.services.submission_records import ReportedState, note_status
from annotator.services.admission.entry import enter
from annotator.services.work.submit import submit
from annotator.visit import Visit
from evaluation.refusals import Refused
from evaluation.services.studies.verification import verify_study
from tests.annotator.panels import prolific_server
from tests.annotator.panels.panel_life import (
    bare_panel,
    came_back,
    come,
    publish_there,
    recruiting_study,
)
from tests.crowd import at_once, before, filled_in, hand_in

ROOT = Path(__file__).resolve().parents[4]
HALF = Decimal("0.50")
PATIENCE = 90


@pytest.fixture
def postgres(transactional_db):
    if connection.vendor == "postgresql":
        return
    if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
        pytest.fail("DATABASE_URL names no PostgreSQL")
    pytest.skip("DATABASE_URL names no PostgreSQL")


def approved(prolific):
    """How often each submission was asked to be approved."""
    return Counter(
        asked.path.split("/")[2] for asked in prolific.sent("POST", "^/submissions/.*/transition/")
    )


def kill_after(prolific, method, nth, pids):
    """Has the panel kill these processes once it has done such a thing for the nth time."""
    really, done = getattr(prolific, method), []

    def act_and_kill(*args):
        answer = really(*args)
        done.append(answer)
        if len(done) == nth:
            for pid in pids():
                os.kill(pid, signal.SIGKILL)
        return answer

    setattr(prolific, method, act_and_kill)


# --- on PostgreSQL ---------------------------------------------------------------------------------------------------


@pytest.mark.postgres
@pytest.mark.usefixtures("postgres")
def test_senders_at_once_send_everything_once(prolific, owner):
    panel = bare_panel(owner=owner)
    records = came_back(prolific, panel, *(f"person-{number}" for number in range(15)))
    prolific.fail("POST", "/transition/", "slow=0.05", times=100)
    prolific.fail("POST", "/bonus-payments/", "slow=0.2", times=100)
    at_once(*[lambda: intend_approvals(panel, records, owner)] * 3)
    intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    intend_bonuses(panel, dict.fromkeys(records, HALF), "items 3 to 4", owner)
    sent = at_once(*[lambda: send(panel)] * 4)

    ids = [record.external_id for record in records]
    assert approved(prolific) == Counter(ids)
    assert sum(each.done > 0 for each in sent) > 1, "they shared the work"
    assert send(panel).unknown == 0
    assert Counter(who for who, _ in prolific.paid) == Counter(ids * 2)
    assert set(PanelAct.objects.values_list("state", flat=True)) == {"done"}


@pytest.mark.postgres
@pytest.mark.usefixtures("postgres")
def test_sender_killed_between_the_call_and_its_record(prolific, owner, settings):
    panel = bare_panel(owner=owner)
    records = came_back(prolific, panel, "ann", "bea", "cem")
    intend_approvals(panel, records, owner)
    processes = []
    pids = lambda: [processes[-1].pid]  # noqa: E731 - whoever sends by then

    kill_after(prolific, "move_submission", 2, pids)
    processes.append(sending_process(settings))
    assert processes[-1].wait(PATIENCE) == -signal.SIGKILL
    assert states("approve") == ["done", "sending", "intended"]

    intend_bonuses(panel, dict.fromkeys(records, HALF), "goodwill", owner)
    forget_the_sender()
    kill_after(prolific, "pay", 1, pids)
    processes.append(sending_process(settings))
    assert processes[-1].wait(PATIENCE) == -signal.SIGKILL
    assert states("approve") == ["done"] * 3, "the one in doubt was found to have happened"
    assert states("bonus") == ["sending"] * 3
    assert send(panel).unknown == 0, "they may still be at it"

    forget_the_sender()
    assert send(panel).unknown == 3
    assert send(panel) == send(panel), "nothing is left to send"
    for act in PanelAct.objects.filter(state="unknown"):
        settle(act, True, "Its page there shows it.", owner)
    ids = [record.external_id for record in records]
    assert approved(prolific) == Counter(ids)
    assert prolific.paid == [(each, HALF) for each in ids]
    assert set(PanelAct.objects.values_list("state", flat=True)) == {"done"}


@pytest.mark.postgres
@pytest.mark.usefixtures("postgres")
def test_a_return_races_with_a_submit_and_with_coming_again(prolific, owner):
    """Whoever is first: no place is lost, none is held by somebody who is gone, and nobody waits for ever."""
    # Enough items for everybody, whoever of them comes again and holds one.
    panel = recruiting_study(owner=owner, queries=24, redundancy=1, items_per_participant=3)
    Panel.objects.update(returned="discard")
    for number in range(6):
        person = f"person-{number}"
        session, participant = come(prolific, panel, person)
        assignment = hand_in(participant.token) and before(participant.token)
        prolific.give_back(session)
        returned = ReportedState(session, person, "returned", timezone.now())
        at_once(
            lambda r=returned: note_status(panel, r),
            lambda p=participant, a=assignment: submit(p.token, a.pk, filled_in(a)),
            lambda r=returned: note_status(panel, r),
            lambda p=person: enter(panel.study, Visit("prolific", p, panel.external_id, f"again-{p}")),
        )
        participant.refresh_from_db()
        assert participant.outcome in ("", "returned", "completed")
        assert (before(participant.token) is None) == (participant.outcome != "")
    assert PanelRecord.objects.filter(status="returned", applied="returned").count() == 6
    assert Participant.objects.count() == 6
    assert list(verify_study(panel.study)) == []


@pytest.mark.postgres
@pytest.mark.usefixtures("postgres")
def test_two_settle_two_bonuses_where_one_is_missing(prolific, owner, monkeypatch):
    """Each sees that one is missing, and takes another one for it: only one of them can be."""
    panel = bare_panel(owner=owner)
    records = came_back(prolific, panel, "ann")
    for purpose in ("goodwill", "items 3 to 4"):
        intend_bonuses(panel, {records[0]: HALF}, purpose, owner)
        assert send(panel).done == 1
    prolific.submissions[records[0].external_id]["bonuses"].pop()
    long_ago = timezone.now() - timedelta(hours=1)
    PanelAct.objects.update(sent_at=long_ago, ended_at=long_ago)
    assert sync(panel, everyone=True).bonuses == 1
    really, looked = settlement._is_missing_there, []

    def look(act):
        answer = really(act)
        looked.append(act.pk)
        wait_for(lambda: len(looked) == 2 or is_waited_for(), "the other one neither looks nor waits")
        return answer

    monkeypatch.setattr(settlement, "_is_missing_there", look)

    def settle_one(act):
        try:
            settle(act, False, "Its page there does not show it.", owner)
        except Refused as why:
            return str(why)
        return "settled"

    said = at_once(*[lambda each=each: settle_one(each) for each in PanelAct.objects.all()])
    assert sorted(said) == ["It is done; there is nothing to settle.", "settled"]
    assert sorted(states("bonus")) == ["cancelled", "done"]


def is_waited_for():
    """Whether somebody waits for what this transaction has locked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from pg_locks where not granted and transactionid = pg_current_xact_id()::xid"
        )
        return cursor.fetchone()[0] > 0


def sending_process(settings):
    """On the database of the tests, which is seen by others here."""
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    environment = os.environ | {
        "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_PROLIFIC_URL": settings.ASSAY_PROLIFIC_URL,
        "ASSAY_PROLIFIC_TOKEN": settings.ASSAY_PROLIFIC_TOKEN,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "tests.annotator.panels.panel_sender", "send"], cwd=ROOT, env=environment
    )


def forget_the_sender():
    PanelAct.objects.filter(state="sending").update(sent_at=timezone.now() - timedelta(hours=1))


def states(kind):
    return list(PanelAct.objects.filter(kind=kind).order_by("pk").values_list("state", flat=True))


# --- workers, on SQLite and without Redis -----------------------------------------------------------------------------


class Installation:
    """Assay in a folder of its own with a worker, whose messages are files."""

    def __init__(self, folder, prolific):
        kept = {name: each for name, each in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        self.environment = kept | {
            "ASSAY_VAR_DIR": str(folder),
            "ASSAY_PANEL_SENDING_SECONDS": "2",
            "ASSAY_PROLIFIC_URL": prolific.url,
            "ASSAY_PROLIFIC_TOKEN": prolific.token,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "LOG_LEVEL": "ERROR",
        }
        self.database = folder / "assay.sqlite3"
        self.started = []
        self.main = None

    def make(self, there):
        command = [sys.executable, "-m", "tests.annotator.panels.panel_sender", "make", there]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def start_worker(self):
        self.main = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "config", "--quiet", "worker", "--pool", "prefork",
                "--concurrency", "1", "--loglevel", "error", "--without-gossip", "--without-mingle", "--",
                "worker.lost_wait=0.5",
            ],
            cwd=ROOT, env=self.environment, start_new_session=True,
        )  # fmt: skip
        self.started.append(self.main)

    def children(self):
        """The processes that work for the main one."""
        return [
            int(stat.parent.name)
            for stat in Path("/proc").glob("[0-9]*/stat")
            if (fields := read(stat)) and int(fields[1]) == self.main.pid
        ]

    def everybody(self):
        return [*self.children(), self.main.pid]

    def states(self, kind):
        database = sqlite3.connect(self.database, timeout=20)
        found = database.execute(
            "select state from annotator_panelact where kind = ? order by id", (kind,)
        ).fetchall()
        database.close()
        return [state for (state,) in found]

    def stop(self):
        for pid in self.everybody() if self.main.poll() is None else ():
            os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.wait(10)


def read(stat):
    """The fields after a process's name, or nothing if it is gone."""
    try:
        return stat.read_text().rpartition(") ")[2].split()
    except OSError:
        return None


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.mark.audit
@pytest.mark.embedded
def test_workers_killed_between_the_call_and_its_record(tmp_path):
    """First worker and all, as when the power fails, while it approves; then the process that pays."""
    with prolific_server.serve() as prolific:
        installation = Installation(tmp_path, prolific)
        with Client(prolific.token, prolific.url) as client:
            there = publish_there(client)
        sessions = [prolific.arrive(there, f"person-{number}") for number in range(3)]
        for session in sessions:
            prolific.complete(session, "CDONE")
        installation.make(there)
        kill_after(prolific, "move_submission", 2, installation.everybody)
        kill_after(prolific, "pay", 1, installation.children)
        installation.start_worker()
        try:
            installation.main.wait(PATIENCE)
            assert installation.states("approve") == ["done", "sending", "intended"]
            installation.start_worker()
            wait_for(lambda: installation.states("approve") == ["done"] * 3, "not all are approved")
            wait_for(
                lambda: installation.states("bonus") == ["unknown"] * 3,
                "the bonuses do not wait for a person",
            )
        finally:
            installation.stop()
    assert approved(prolific) == Counter(sessions)
    assert prolific.paid == [(session, HALF) for session in sessions]
