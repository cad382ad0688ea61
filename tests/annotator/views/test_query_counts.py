"""What fetching and submitting an item costs the database: as much with 20,000 items as with 100."""

import json
import os

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotator.models import Panel, Slot, SlotState
from annotator.services.slots.in_play import recount
from annotator.services.work.leave import withdraw
from annotator.services.work.skip import skip
from annotator.services.work.submit import advance_participant, submit
from evaluation.models import Item, Query
from evaluation.services.studies.creation import PAPER_ARMS
from tests import factories, protocol_factories
from tests.annotator.views.test_page import statements
from tests.copied_rows import last_slots, multiply_slot
from tests.crowd import before, come, filled_in, hand_in, lapse, make_crowd_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("compiled_and_built")]
ARM = PAPER_ARMS[1:2]


def big_study(size):
    """Live, with so many items in one arm, each on a query of its own and with one place."""
    study = make_crowd_study("big", queries=2, arms=ARM, redundancy=1, items_per_participant=40)
    multiply_slot(Slot.objects.latest("rank"), size)
    assert Query.objects.count() == Item.objects.count() == Slot.objects.count() == size + 2
    return study


@pytest.fixture(params=[100, 20_000])
def big(request):
    return big_study(request.param)


def fields(assignment):
    data = filled_in(assignment)
    cells = {f"satisfied.{part}": value for part, value in data.pop("satisfied").items()}
    return data | cells


def test_fetching_takes_one_statement_and_submitting_eleven(big, client, django_assert_max_num_queries):
    token = come(big, "a").token
    for number in range(30):
        with django_assert_max_num_queries(1):
            assert client.get(reverse("annotator:page", args=[token])).status_code == 200
        assignment = before(token)
        target, form = reverse("annotator:submit", args=[token, assignment.pk]), fields(assignment)
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(target, form)
        assert answer.status_code == 303
        assert len(statements(queries)) <= 11, f"submit number {number}: {statements(queries)}"
        assert before(token).pk != assignment.pk
    assert Slot.objects.filter(state=SlotState.FILLED).count() == 30


@pytest.mark.parametrize(
    ("make", "statements_at_most"),
    [
        (protocol_factories.make_aspects_study, 1),
        (protocol_factories.make_question_quality_study, 1),
        (protocol_factories.make_relevance_study, 1),
        (protocol_factories.make_ranking_study, 1),
        (protocol_factories.make_context_validation_study, 1),
        (protocol_factories.make_answer_pairs_study, 1),
        (protocol_factories.make_justification_coding_study, 1),
        # Two more for the model that can be asked and what it was asked.
        (protocol_factories.make_condition_calibration_study, 3),
    ],
)
def test_nothing_of_an_items_page_is_read_by_a_statement_of_its_own(
    make, statements_at_most, client, django_assert_max_num_queries
):
    token = come(make(steps=factories.NO_STEPS)).token
    with django_assert_max_num_queries(statements_at_most):
        page = client.get(reverse("annotator:page", args=[token]))
    assert reverse("annotator:submit", args=[token, before(token).pk]) in page.content.decode()


def test_the_door_takes_four_statements_consent_fifteen_and_the_first_page_one(
    big, client, django_assert_max_num_queries
):
    """And one more per process and state of the items: how many there are for one person."""
    Panel.objects.create(study=big, platform="prolific")
    door, who = reverse("annotator:entry", args=["big"]), {"PROLIFIC_PID": "a", "SESSION_ID": "1"}
    client.get(door, who | {"PROLIFIC_PID": "somebody before them"})
    with django_assert_max_num_queries(4):
        assert client.get(door, who).status_code == 200
    with CaptureQueriesContext(connection) as queries:
        answer = client.post(door, who | {"choice": "agree"})
    assert answer.status_code == 303
    assert len(statements(queries)) <= 15, [sql[:70] + sql[-60:] for sql in statements(queries)]
    with django_assert_max_num_queries(1):
        assert "judge" in client.get(answer.headers["Location"]).content.decode()


def test_moving_the_cursor_on_takes_two_statements_at_every_fiftieth_place(big):
    token = come(big, "a").token
    ready = before(token)
    Slot.objects.filter(rank__range=(ready.slot.rank + 1, 49)).update(state=SlotState.RETIRED)
    data = filled_in(ready)
    assert count(lambda: submit(token, ready.pk, data)) <= 13
    assert before(token).slot.rank == 50


def test_what_happens_seldom_costs_no_more_either(big):
    """Taking over an expired place, skipping, looking again, withdrawing and coming in."""
    late, worker, leaver = (come(big, name).token for name in ("late", "worker", "leaver"))
    lost, ready = before(late), before(worker)
    data = filled_in(ready)
    lapse(holder=lost)
    # Two more than a submit whose next place is open: ending the old assignment, and whether the place is wanted.
    assert count(lambda: submit(worker, ready.pk, data)) <= 13
    taken = before(worker)
    assert taken.slot_id == lost.slot_id
    # Giving a place back takes the cursor of its arm back, too.
    assert count(lambda: skip(worker, taken.pk)) <= 13
    assert count(lambda: advance_participant(late)) <= 6
    assert count(lambda: withdraw(leaver)) <= 9
    assert count(lambda: come(big, "newcomer")) <= 14


def count(action):
    with CaptureQueriesContext(connection) as queries:
        action()
    return len(statements(queries))


@pytest.mark.postgres
@pytest.mark.parametrize("rule", ["participant", "item"])
def test_drawing_an_arm_looks_at_no_slot_that_nobody_has(rule):
    """Neither by who comes in nor by who claims, of thirty thousand in each of three arms."""
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    study = make_crowd_study(
        "arms", queries=4, arms=PAPER_ARMS, redundancy=1, items_per_participant=4, arm_per=rule
    )
    for number, slot in enumerate(last_slots(study), start=1):
        multiply_slot(slot, 30_000, number * 1_000_000)
    recount(study)
    token = come(study, "a").token
    hand_in(token)
    for act in (lambda: come(study, "b"), lambda: hand_in(token)):
        with CaptureQueriesContext(connection) as queries:
            act()
        reads = [sql for sql in statements(queries) if sql.startswith("SELECT") and "annotator_" in sql]
        plans = [(explain(sql), sql) for sql in reads]
        for plan, sql in plans:
            assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 300, sql


@pytest.mark.postgres
def test_claiming_reads_few_rows_of_the_partial_index():
    """Also after the participant has seen thirty queries, whose places are all before them in the ranks."""
    if connection.vendor != "postgresql":
        if os.environ.get("ASSAY_REQUIRE_ALL") == "1":
            pytest.fail("DATABASE_URL names no PostgreSQL")
        pytest.skip("DATABASE_URL names no PostgreSQL")
    study = big_study(20_000)
    token = come(study, "a").token
    for _ in range(30):
        with CaptureQueriesContext(connection) as queries:
            hand_in(token)
    [claim] = [sql for sql in statements(queries) if "SKIP LOCKED" in sql]
    Slot.objects.filter(state=SlotState.FILLED).update(state=SlotState.OPEN, holder=None)

    plan = explain(claim)
    assert not any("Sort" in node["Node Type"] for node in nodes(plan))
    scans = {
        node["Index Name"]: node for node in nodes(plan) if node.get("Relation Name") == "annotator_slot"
    }
    assert scans.keys() == {"slot_open_by_rank", "slot_reserved_by_lease"}
    scan = scans["slot_open_by_rank"]
    assert 30 <= scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) <= 35
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 500


def explain(sql):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}")
        [[plan]] = cursor.fetchall()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return plan[0]["Plan"]


def nodes(plan):
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)
