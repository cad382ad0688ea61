"""Deleting a study on PostgreSQL: while people come and hand in, and by a process that is killed in the middle."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from annotator.models import Participant
from annotator.services.admission.entry import enter
from annotator.visit import Visit
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.deletion import delete_study
from evaluation.services.studies.launch import close_study
from evaluation.services.studies.verification import verify_study
from tests.annotator.services.work.test_concurrency import postgres  # noqa: F401 - a fixture
from tests.config.source_tree import ROOT
from tests.crowd import at_once, come, hand_in, make_crowd_study
from tests.evaluation.services.studies.test_deletion import contents

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgres"),
]
KILLED = """
import os, signal, sys, django
django.setup()
from django.contrib.auth import get_user_model
from evaluation.models import Study
from evaluation.services.studies.creation import PAPER_ARMS
from evaluation.services.studies.deletion import delete_study

def watch(phase, done, total):
    if done == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)

delete_study(Study.objects.get(), by=get_user_model().objects.get(), title="Busy", watch=watch)
"""


@pytest.fixture
def closed(owner: Any) -> Study:
    """Eight people have an item before them, and each has handed one in."""
    study = make_crowd_study("busy", owner=owner, queries=20, arms=PAPER_ARMS[:1])
    for n in range(8):
        person = come(study, f"p{n}")
        hand_in(person.token)
    close_study(study)
    return study


def test_who_comes_or_hands_in_at_this_moment_finds_it_there_or_gone(closed: Study, owner: Any) -> None:
    tokens = list(Participant.objects.values_list("token", flat=True))
    begun = Event()

    def delete() -> str:
        def watch(phase: str, done: int, total: int) -> None:
            begun.set()

        try:
            return delete_study(closed, by=owner, title="Busy", watch=watch)
        except Refused as refused:
            begun.set()
            return str(refused)

    def come_again() -> None:
        begun.wait(10)
        for n in range(8):
            with suppress(Study.DoesNotExist, Participant.DoesNotExist, DatabaseError):
                enter(closed, Visit("prolific", f"p{n}", "panel-study", f"again-{n}"))

    def work() -> None:
        begun.wait(10)
        for token in tokens:
            with suppress(Exception):
                hand_in(token)

    said, *_ = at_once(delete, come_again, work)
    connection.check_constraints()
    if said.endswith("was deleted with everything in it."):
        left = {label: pks for label, pks in contents().items() if pks}
        assert left.keys() == {"admin.LogEntry"}
    else:
        assert "nothing was deleted" in said
        assert list(verify_study(closed)) == []


def test_who_waited_at_the_door_reads_that_nothing_is_there(closed: Study, owner: Any) -> None:
    address = f"/s/{closed.slug}/?PROLIFIC_PID=p0&STUDY_ID=panel-study&SESSION_ID=late"
    begun, answers = Event(), []

    def delete() -> None:
        def watch(phase: str, done: int, total: int) -> None:
            if done == 1:
                begun.set()
                # Long enough for the other one to be waiting for the study.
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_sleep(0.5)")

        delete_study(closed, by=owner, title="Busy", watch=watch)

    def come_by_page() -> None:
        begun.wait(10)
        answers.append(Client().post(address, {"choice": "agree"}))

    at_once(delete, come_by_page)
    assert [each.status_code for each in answers] == [404]


@pytest.mark.parametrize("at", [1, 20, 50])
def test_a_process_that_is_killed_leaves_everything(closed: Study, at: int) -> None:
    database = connection.settings_dict
    url = f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"{url}/{database['NAME']}",
    }
    before = contents()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(at)], cwd=ROOT, env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert contents() == before
    assert list(verify_study(closed)) == []
