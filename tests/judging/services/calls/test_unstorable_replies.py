"""Replies that a database can't hold as they came: nothing beside them is lost, and no call is asked for ever."""

from __future__ import annotations

import logging

import pytest
from django.db import OperationalError

from evaluation.models import Answer
from judging.asking import forms
from judging.models import Call
from judging.parsing.reply import Reading
from judging.services.calls import attempt_writer, call_attempts
from judging.services.calls.workload import workload_of
from judging.services.runs.judge_runs import start_run
from judging.services.runs.session import Session
from judging.services.runs.work import work_on
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.endpoint import chat
from tests.judging.services.runs.test_protocol_runs import ITEMS, make_study

# As JSON spells them; the text of a reply holds the escapes alone.
SPELLED = {"NUL": "\\u0000", "half a pair": "\\ud800"}


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.fixture
def reads(monkeypatch):
    """Changes the reading of the second call that is read, and of it alone."""
    read_reply, seen = forms.read_reply, []

    def give(change):
        def read(call, reply):
            reading = read_reply(call, reply)
            seen.append(call.order)
            return change(reading) if len(seen) == 2 else reading

        monkeypatch.setattr(forms, "read_reply", read)

    return give


@pytest.mark.django_db
@pytest.mark.parametrize("steps", [False, True], ids=["one call", "steps"])
@pytest.mark.parametrize("character", SPELLED)
def test_a_set_with_a_character_that_no_database_takes_is_recorded(
    owner, served, monkeypatch, character, steps
):
    study = make_study("condition_calibration", owner)
    complete = chat.complete

    def odd(*given):
        completion = complete(*given)
        message = completion["choices"][0]["message"]
        message["content"] = message["content"].replace(
            f'"condition": "{chat.SENTENCE}', f'"condition": "{SPELLED[character]}{chat.SENTENCE}'
        )
        return completion

    monkeypatch.setattr(chat, "complete", odd)
    run, _ = judged(study, make_judge(study, served, "coin", one_call_per_question=steps))
    assert run.state == "complete"
    assert served.total == run.calls.count() == ITEMS * (2 if steps else 1)
    assert set(run.calls.values_list("outcome", "attempts")) == {("ok", 1)}
    sets = Answer.objects.filter(judgment__rater=run.judging.rater, kind="entries")
    assert {each.judgment.item_id for each in sets} == set(study.items.values_list("pk", flat=True))
    assert all(chat.SENTENCE in each.text for each in sets)
    asked = [call for call in run.calls.all() if "entries" in call.data]
    assert len(asked) == ITEMS
    assert all(SPELLED[character] in call.raw for call in asked), "the reply is kept as it came"


@pytest.mark.django_db
@pytest.mark.parametrize("value", ["\ud800", 2**70, {1, 2}], ids=["half", "number", "no JSON"])
def test_what_can_not_be_written_fails_its_call_and_no_other(owner, served, reads, caplog, value):
    """Readings are clean; whatever should slip through ends with its call."""
    study = make_study("aspects", owner)
    reads(lambda reading: Reading(reading.data | {"odd": value}, reading.answers, "A reason."))
    judge = make_judge(study, served, "coin", price_completion=1_000, in_flight=4)
    with caplog.at_level(logging.ERROR, "judging"):
        run, _ = judged(study, judge)
    assert run.state == "complete"
    assert served.total == ITEMS
    [call] = run.calls.exclude(outcome="ok")
    assert (call.outcome, call.attempts, call.data, call.rationale) == ("failed", 1, None, "")
    assert call.error.startswith("The reply can't be stored (")
    assert call.cost > 0
    assert run.spent == sum(run.calls.values_list("cost", flat=True))
    [judgment] = run.judging.rater.judgments.exclude(outcome="ok")
    assert judgment.trace == {"raw": call.raw, "error": call.error}
    assert run.judging.rater.judgments.filter(outcome="ok").count() == ITEMS - 1
    assert f"What came of call {call.pk} can't be stored" in caplog.text
    assert "A reason." not in caplog.text


@pytest.mark.django_db
def test_what_one_database_takes_and_another_does_not_ends_the_run_on_both(owner, served, reads):
    study = make_study("aspects", owner)
    reads(lambda reading: Reading(reading.data | {"odd": "\x00"}, reading.answers))
    run, _ = judged(study, make_judge(study, served, "coin"))
    assert run.state == "complete"
    assert served.total == ITEMS
    assert set(run.calls.values_list("state", "attempts")) == {("final", 1)}
    assert run.judging.rater.judgments.filter(outcome="ok").count() >= ITEMS - 1


@pytest.mark.django_db
def test_figures_that_no_column_holds_fail_the_call(owner, served, monkeypatch):
    study = make_study("aspects", owner)
    monkeypatch.setattr("judging.backends.connection.token_count", lambda value: 2**70)
    run, _ = judged(study, make_judge(study, served, "coin"))
    assert run.state == "complete"
    assert served.total == ITEMS
    assert set(run.calls.values_list("outcome", "completion_tokens", "attempts")) == {("failed", 0, 1)}


@pytest.mark.django_db
def test_a_database_that_fails_fails_no_call(owner, served, monkeypatch):
    """What could not be written for another reason is asked again later."""
    study = make_study("aspects", owner)
    run = start_run(study, make_judge(study, served, "coin"))

    def gone(*given):
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as patched:
        patched.setattr(attempt_writer, "update_rows", gone)
        with pytest.raises(OperationalError):
            work_on(run.pk)
    assert set(run.calls.values_list("state", "attempts")) == {("open", 0)}
    assert work_on(run.pk).state == "complete"
    assert set(run.calls.values_list("outcome", flat=True)) == {"ok"}


@pytest.mark.django_db
def test_a_worker_that_lost_its_lease_fails_no_call(owner, served):
    study = make_study("aspects", owner)
    run = start_run(study, make_judge(study, served, "coin"))
    session = Session(run, workload_of(run), "token", None, lambda: False, lambda tick: None)
    calls = session.claim(ITEMS)
    batch = [call_attempts.failed_attempt(*each, "No.") for each in session.with_subjects(calls)]
    for each in batch:
        each.data = {"odd": {1, 2}}
    taken = batch[0].call.pk
    Call.objects.filter(pk=taken).update(lease="0" * 32)
    session.record(batch)
    assert run.calls.get(pk=taken).state == "leased"
    assert run.calls.filter(outcome="failed").count() == ITEMS - 1
