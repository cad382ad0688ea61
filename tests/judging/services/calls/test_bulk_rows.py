"""Rows written by one statement: whatever a column holds arrives as it was given, and nothing else changes."""

import uuid
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from judging.models import Call, CallState
from judging.services.calls.bulk_rows import insert_rows, update_rows
from judging.services.judges import heuristic_judge
from judging.services.runs.judge_runs import start_run
from tests.judging.build import create_calls

ODD = 'Sie sagte: "100 %s"\n\\u0041\t{}; \N{SNOWMAN}\N{GRINNING FACE} \' $1 </script>'
GIVEN = {
    "state": "final",
    "outcome": "ok",
    "attempts": 3,
    "lease": None,
    "leased_until": None,
    "cached": True,
    "raw": ODD,
    "reply": {"logprobs": [{ODD: -0.30000000000000004}], "refusal": "", "none": None, "yes": True},
    "data": None,
    "prompt_tokens": 2**31 - 1,
    "cost": Decimal("123456.00000001"),
    "latency_ms": None,
    "finished_at": datetime(2026, 3, 1, 23, 59, 59, 123456, tzinfo=UTC),
}


@pytest.fixture
def run(study):
    run = start_run(study, heuristic_judge(study, "longer"))
    create_calls(run)
    return run


def row(call, **changes):
    """A row as the database takes it: dates in the database's own spelling."""
    when = {"finished_at": connection.ops.adapt_datetimefield_value(GIVEN["finished_at"])}
    return {"id": call.pk, **GIVEN, **when, **changes}


def test_every_kind_of_value_arrives_as_it_was_given(run):
    first, second, *others = run.calls.order_by("pk")
    Call.objects.filter(pk=first.pk).update(
        state=CallState.LEASED, lease=uuid.uuid4(), leased_until=GIVEN["finished_at"]
    )
    update_rows(Call, [row(first), row(second, raw="", data={"preference": "r1"}, latency_ms=0)])
    first.refresh_from_db()
    assert {name: getattr(first, name) for name in GIVEN} == GIVEN
    second.refresh_from_db()
    assert (second.raw, second.data, second.latency_ms) == ("", {"preference": "r1"}, 0)
    assert (second.item_id, second.order) != (first.item_id, "")
    assert {call.state for call in Call.objects.filter(pk__in=[each.pk for each in others])} == {"open"}


def test_a_call_that_is_there_stays_as_it_is(run):
    [call, *_] = run.calls.order_by("pk")
    update_rows(Call, [row(call)])
    rows = list(Call.objects.filter(pk=call.pk).values())
    new = {name: value for name, value in rows[0].items() if name != "id"} | {"state": "open", "outcome": ""}
    new["finished_at"] = None
    insert_rows(Call, [new, new | {"replicate": 7, "reply": {}}])
    assert list(Call.objects.filter(pk=call.pk).values()) == rows
    [added] = run.calls.filter(replicate=7)
    assert (added.item_id, added.raw, added.reply, added.cost) == (call.item_id, ODD, {}, GIVEN["cost"])
    assert added.pk > call.pk


def test_a_lease_is_found_by_what_was_written(run):
    """Whatever the database spells it with."""
    [call, *_] = run.calls.order_by("pk")
    lease = uuid.uuid4()
    until = connection.ops.adapt_datetimefield_value(GIVEN["finished_at"])
    leased = row(call, state="leased", outcome="", finished_at=None, lease=lease, leased_until=until)
    update_rows(Call, [leased])
    assert Call.objects.get(lease=lease) == call
    new = {name: value for name, value in Call.objects.filter(pk=call.pk).values()[0].items() if name != "id"}
    other = uuid.uuid4()
    insert_rows(Call, [new | {"replicate": 7, "leased_until": until, "lease": other}])
    assert Call.objects.get(lease=other).replicate == 7


def test_what_the_table_does_not_allow_is_refused_as_a_whole(run):
    first, second, *_ = run.calls.order_by("pk")
    with pytest.raises(IntegrityError), transaction.atomic():
        update_rows(Call, [row(first), row(second, outcome="")])
    first.refresh_from_db()
    assert first.state == "open"


@pytest.mark.django_db
def test_nothing_to_write_is_no_statement(django_assert_num_queries):
    with django_assert_num_queries(0):
        insert_rows(Call, [])
        update_rows(Call, [])


def test_a_value_that_has_no_place_is_an_error(run):
    with pytest.raises(TypeError, match=r"set|serializable"):
        update_rows(Call, [row(run.calls.first(), data={1, 2})])
