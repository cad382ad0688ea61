"""What a claim reads while somebody, such as a dump of the database, holds an old snapshot open."""

import psycopg
import pytest
from django.db import connection, transaction

from annotator.models import Slot, SlotState
from evaluation.services.studies.creation import PAPER_ARMS
from tests.crowd import come, hand_in, make_crowd_study

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs PostgreSQL"),
]
GONE = 1_100
READ = "SELECT pg_stat_get_xact_blocks_fetched('annotator_slot'::regclass)"


@pytest.fixture
def snapshot():
    """Opens one that sees everything as it is now, until the test is over."""
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    other = psycopg.connect(**{name: given[name] for name in names if given.get(name)})

    def take():
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM annotator_slot")

    yield take
    other.close()


def blocks_read_by_a_claim(token):
    """Of the table: one for each entry of the index that is looked at, also where the slot is open no more."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(READ)
        [before] = cursor.fetchone()
        hand_in(token)
        cursor.execute(READ)
        return cursor.fetchone()[0] - before


def test_what_was_handed_out_since_is_passed_over_once(owner, snapshot):
    """The index keeps what is gone for as long as the snapshot sees it; every claim used to walk through all of it."""
    study = make_crowd_study(
        "wide", owner=owner, queries=40, arms=PAPER_ARMS[:1], redundancy=30, items_per_participant=20
    )
    token = come(study, "early").token
    few = blocks_read_by_a_claim(token)
    snapshot()
    # Row by row, as claims do it.
    gone = Slot.objects.filter(study=study, state=SlotState.OPEN, rank__lt=GONE)
    for pk in list(gone.values_list("pk", flat=True)):
        Slot.objects.filter(pk=pk).update(state=SlotState.RETIRED)
    # Who claims a round rank looks where the open slots begin now.
    hand_in(token)
    assert blocks_read_by_a_claim(token) < few + GONE / 10
