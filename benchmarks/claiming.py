"""What finding the next slot costs while a snapshot is open, as a dump of the database keeps one; on PostgreSQL.

A crowd claims and fills thousands of slots, and one of the first stays with somebody who went away. Every so often the
claiming query is explained as a newcomer's claim runs it. There is no web server: claims as a submit makes them.

Usage: DATABASE_URL=postgres://... python -m benchmarks.claiming
"""

import json
import os
import statistics
import time
from typing import Any

from benchmarks.database import set_up

CLAIMS = int(os.environ.get("BENCH_CLAIMS", "8000"))
EVERY = 1_000
AT_ONCE, PER_PERSON = 10, 20


def main() -> None:
    set_up()
    print(f"{'snapshot':>9} {'claims':>7} {'buffers':>8} {'ms to find':>11} {'ms to claim':>12}")
    for held in (False, True):
        snapshot = open_snapshot() if held else None
        try:
            measure("open" if held else "none")
        finally:
            if snapshot is not None:
                snapshot.close()


def open_snapshot() -> Any:
    """A connection whose transaction has read something and stays open."""
    from django.db import connections

    other = connections.create_connection("default")
    other.connect()
    other.connection.autocommit = False
    with other.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT count(*) FROM annotator_slot")
    return other


def measure(snapshot: str) -> None:
    from tests.crowd import come

    study = prepare(f"bench-claiming-{snapshot}-{int(time.time())}")
    newcomer, _gone = newly_come(study), come(study, f"{study.slug}-gone")
    show(snapshot, 0, [], newcomer)
    taken: list[float] = []
    people: list[Any] = []
    for number in range(1, CLAIMS + 1):
        if (number - 1) % (AT_ONCE * PER_PERSON) == 0:
            people = [newly_come(study) for _ in range(AT_ONCE)]
        began = time.perf_counter()
        assignment = claim(people[number % AT_ONCE])
        taken.append(time.perf_counter() - began)
        fill(assignment)
        if number % EVERY == 0:
            show(snapshot, number, taken, newcomer)
            taken = []


def newly_come(study: Any) -> Any:
    """Somebody who has judged one item and has nothing before them."""
    from tests.crowd import before, come

    person = come(study, os.urandom(8).hex())
    fill(before(person.token))
    return person


def prepare(slug: str) -> Any:
    """A live study with twice as many slots as are claimed, none of them looked at yet."""
    from django.db import connection

    from evaluation.models import Study
    from evaluation.services.studies.launch import launch_study
    from tests import factories

    study = factories.make_study(
        slug,
        queries=CLAIMS,
        arms=factories.PAPER_ARMS[:1],
        training=False,
        checks=0,
        steps=factories.NO_STEPS,
        redundancy=2,
        items_per_participant=2 * PER_PERSON,
    )
    launch_study(Study.objects.get(pk=study.pk))
    study.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return study


def claim(person: Any) -> Any:
    from django.db import transaction
    from django.utils import timezone

    from annotator.services.slots.claim import claim_slot

    with transaction.atomic():
        assignment = claim_slot(person, timezone.now())
    assert assignment is not None, "a place is left for everybody"
    return assignment


def fill(assignment: Any) -> None:
    """What a submit does to the slot and the assignment."""
    from annotator.models import Assignment, AssignmentState, Slot, SlotState

    slot = Slot.objects.filter(pk=assignment.slot_id)
    slot.update(state=SlotState.FILLED, holder=assignment, leased_until=None)
    Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.SUBMITTED)


def show(snapshot: str, claims: int, taken: list[float], person: Any) -> None:
    """The claiming query, explained as that person's next claim runs it; nothing is kept of it."""
    from django.db import connection, transaction
    from django.test.utils import CaptureQueriesContext

    with transaction.atomic():
        with CaptureQueriesContext(connection) as queries:
            claim(person)
        transaction.set_rollback(True)
    asked = next(query["sql"] for query in queries if "SKIP LOCKED" in query["sql"])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {asked}")
        [[plan]] = cursor.fetchall()
        transaction.set_rollback(True)
    plan = (json.loads(plan) if isinstance(plan, str) else plan)[0]
    buffers = plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    median = f"{statistics.median(taken) * 1000:>12.2f}" if taken else f"{'':>12}"
    print(f"{snapshot:>9} {claims:>7,} {buffers:>8,} {plan['Execution Time']:>11.2f} {median}", flush=True)


if __name__ == "__main__":
    main()
