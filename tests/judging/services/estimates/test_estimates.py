"""How long a reply is expected to be: told from a reply that could come, which the parser would read."""

from __future__ import annotations

import pytest

from evaluation.protocols import PROTOCOLS, Kind
from evaluation.protocols.entries.sets import write_set
from judging.backends.base import Reply
from judging.parsing.reply import read_reply
from judging.prompting.expected_reply import expected_reply
from judging.prompting.item_call import ItemCall
from judging.prompting.settings import Settings
from judging.services.estimates.run_estimate import estimate
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.samples import EVERYTHING, RECORD, SAMPLES, make_spec, make_stimulus, orders_of
from tests.judging.services.runs.test_protocol_runs import make_study

FORMS = {"json_schema": {"json_schema": True}, "json_object": {"json_object": True}, "lines": {}}


def expected(name="pairwise", form="json_schema", *, sample=None, order="", step="", **settings):
    spec, stimulus = sample or SAMPLES[name]
    return expected_reply(
        ItemCall(
            PROTOCOLS[spec["protocol"]],
            spec,
            stimulus,
            Settings(model="m", **settings),
            order=order or orders_of(stimulus)[0],
            step=step,
            capabilities=FORMS[form],
        )
    )


@pytest.mark.parametrize("rationale", ["none", "before", "after"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_a_reply_that_can_be_read(name, form, rationale):
    spec, stimulus = SAMPLES[name]
    protocol = PROTOCOLS[spec["protocol"]]
    for order in orders_of(stimulus):
        found = expected(name, form, order=order, rationale=rationale)
        reading = read_reply(
            ItemCall(protocol, spec, stimulus, Settings(model="m", rationale=rationale), order=order),
            Reply(text=found.text, finish_reason="stop"),
        )
        sets = sum(answer.kind == Kind.ENTRIES for answer in reading.answers)
        assert len(reading.answers) == found.choices + found.entries
        assert sets == found.entries
        assert bool(reading.rationale) == found.reasons == (rationale != "none")
        assert found.tokens == pytest.approx(len(found.text) / 4, abs=1)


def test_it_is_as_long_as_what_is_asked():
    verdict = expected("pairwise", questions=("preference",))
    assert (verdict.tokens, verdict.choices) == (pytest.approx(9, abs=3), 1)
    checklist, ratings = expected("pairwise"), expected("aspects")
    assert verdict.tokens < checklist.tokens < ratings.tokens
    assert expected("ranking").tokens > verdict.tokens * 3
    reasons = expected("aspects", rationale="before")
    assert reasons.tokens == pytest.approx(ratings.tokens + 150, abs=15)
    wordy = expected("pairwise", questions=("preference", "justification"))
    assert wordy.texts == 1
    assert wordy.tokens > verdict.tokens + 30


def test_a_call_per_question_brings_what_its_question_asks():
    spec, _ = SAMPLES["aspects"]
    keys = [each["key"] for each in spec["questions"] if each["kind"] != Kind.TEXT]
    steps = [expected("aspects", step=key, one_call_per_question=True) for key in keys]
    assert sum(each.choices for each in steps) == expected("aspects").choices
    assert max(each.tokens for each in steps) < expected("aspects").tokens


def test_a_label_alone_is_a_token_whatever_else_is_asked():
    label = expected("pairwise", questions=("preference",), verdict="logprobs")
    assert (label.tokens, label.text) == (1, "1")
    assert expected("pairwise", questions=("preference",), verdict="logprobs", rationale="after").tokens > 100


def test_a_set_is_as_long_as_its_longest_draft_or_as_sets_are():
    spec = make_spec("condition_calibration")
    long = write_set(
        [
            {"condition": f"In case {n}", "answers": ["Yes. " * 40], "citations": [1], "reason": ""}
            for n in range(8)
        ]
    )
    short = expected(sample=(spec, make_stimulus(RECORD)))
    both = expected(sample=(spec, make_stimulus(RECORD, long)), order="r1,r2", max_tokens=1)
    assert (short.entries, both.entries) == (2, 8)
    assert both.tokens > 8 * (40 * 5) / 4
    assert '"from": ["2.8"]' in both.text
    new = expected(sample=(spec, make_stimulus()))
    assert new.entries == 4
    assert new.tokens > 300


def test_no_reply_is_longer_than_its_limit():
    assert expected("aspects", rationale="before", max_tokens=50).tokens == 50
    spec = make_spec("condition_calibration")
    huge = write_set([{"condition": "If", "answers": ["Yes. " * 3_000], "citations": [], "reason": ""}] * 2)
    assert expected(sample=(spec, make_stimulus(huge)), max_tokens=50).tokens == 4_096


# --- the estimate before a run ----------------------------------------------------------------------------------------


def make_once(owner):
    return make_study("aspects", owner, slug="shared")


@pytest.fixture
def served():
    with endpoint.serve() as server:
        yield server


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["aspects", "condition_calibration", "ranking", EVERYTHING])
def test_an_estimate_is_near_what_replies_take(name, owner, served):
    """The tests' endpoint counts words and blanks and not quarters of characters; so it is near and not equal."""
    study = make_study(name, owner)
    judge = make_judge(study, served, "coin")
    told = estimate(study, judge)
    assert not told.measured
    assert told.basis.startswith("Reply lengths are estimated from the questions (")
    assert "no reply of this model to go by yet" in told.basis
    run, _ = judged(study, judge)
    written = sum(len(raw) for raw in run.calls.values_list("raw", flat=True)) / 4
    if name == "condition_calibration":
        assert "a set of 2 entries" in told.basis
        # A reason is expected for each of them, and the endpoint gives none.
        assert written * 0.7 < told.completion_tokens < written * 4
    else:
        assert told.completion_tokens == pytest.approx(written, rel=0.25)


@pytest.mark.django_db
def test_replies_to_the_same_questions_tell_more_than_the_questions(study, served):
    judge = make_judge(study, served, "coin")
    run, _ = judged(study, judge)
    run.calls.update(completion_tokens=777, latency_ms=3_000, cache_key="")
    told = estimate(study, make_judge(study, served, "coin", name="again"))
    n = run.calls.count()
    assert told.measured
    assert (
        told.basis == f"Reply lengths and times are based on {n} replies of this model to the same questions."
    )
    assert told.completion_tokens == 777 * told.calls
    assert told.seconds == pytest.approx(3 * told.calls / told.in_flight)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"extra": {"reasoning_effort": "high"}},
        {"max_tokens": 2_000},
        {"with_reference": True},
        {"template": "{query}{documents}{responses}{format}"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_decides_how_long_a_reply_is_makes_the_questions_others(study, served, change):
    judged(study, make_judge(study, served, "coin"))
    told = estimate(study, make_judge(study, served, "coin", name="again", **change))
    assert not told.measured
    assert "of this model to other questions" in told.basis
    judged(study, study.judges.get(name="again"))
    assert estimate(study, make_judge(study, served, "coin", name="third", **change)).measured


@pytest.mark.django_db
def test_the_tokens_of_several_attempts_are_no_reply_s_length(study, served):
    run, _ = judged(study, make_judge(study, served, "coin"))
    first, *others = run.calls.order_by("pk")
    run.calls.update(completion_tokens=100, cache_key="")
    run.calls.filter(pk=first.pk).update(completion_tokens=300, attempts=3)
    told = estimate(study, make_judge(study, served, "coin", name="again"))
    assert f"based on {len(others)} replies" in told.basis
    assert told.completion_tokens == 100 * told.calls


@pytest.mark.django_db
def test_an_endpoint_that_reports_no_tokens_is_measured_by_its_texts(study, served):
    prices = {"price_prompt": 1, "price_completion": 1_000}
    run, _ = judged(study, make_judge(study, served, "coin:no_usage"))
    run.calls.update(latency_ms=3_000, cache_key="")
    assert set(run.calls.values_list("completion_tokens", flat=True)) == {0}
    told = estimate(study, make_judge(study, served, "coin:no_usage", name="again", **prices))
    written = sum(len(raw) for raw in run.calls.values_list("raw", flat=True)) / 4
    assert told.measured
    assert told.basis.endswith(
        " The endpoint reported no tokens, so four characters of a reply count as one token."
    )
    assert told.completion_tokens == pytest.approx(written, abs=1)
    assert told.cost > 0
    assert told.seconds == pytest.approx(3 * told.calls / told.in_flight)


@pytest.mark.django_db
def test_replies_without_tokens_count_for_times_and_not_for_lengths(study, served):
    run, _ = judged(study, make_judge(study, served, "coin"))
    first, *_ = run.calls.order_by("pk")
    run.calls.update(completion_tokens=0, latency_ms=1_000, cache_key="")
    run.calls.filter(pk=first.pk).update(completion_tokens=777, latency_ms=5_000)
    told = estimate(study, make_judge(study, served, "coin", name="again"))
    assert told.completion_tokens == 777 * told.calls
    assert told.seconds == pytest.approx(2 * told.calls / told.in_flight)
    assert "reported no tokens" not in told.basis


@pytest.mark.django_db
def test_writing_is_not_waited_for_twice_where_no_tokens_are_reported(study, served):
    """Times of replies to other questions have the time in them that it takes to write their texts."""
    run, _ = judged(study, make_judge(study, served, "coin:no_usage"))
    run.calls.update(latency_ms=30_000)
    # Asked for the same values, so that its replies are as long.
    told = estimate(study, make_judge(study, served, "coin:no_usage", name="again", max_tokens=2_000))
    assert not told.measured
    assert "that are not in the text" not in told.basis
    written = told.completion_tokens / told.calls / 50
    beyond = told.seconds * told.in_flight / told.calls - 30
    assert 0 <= beyond < written / 2


@pytest.mark.django_db
def test_replies_to_other_questions_tell_what_the_model_thinks_and_how_fast_it_is(study, served):
    run, _ = judged(study, make_judge(study, served, "coin", questions=["factuality"]))
    before = estimate(study, make_judge(study, served, "other", name="unknown"))
    n = run.calls.count()
    for call in run.calls.all():
        call.completion_tokens, call.latency_ms = len(call.raw) // 4 + 1_000, 30_000
        call.save()
    told = estimate(study, make_judge(study, served, "coin", name="all"))
    assert not told.measured
    assert f"times are based on {n} replies of this model to other questions." in told.basis
    assert "plus 1000 tokens each that are not in the text" in told.basis
    assert told.completion_tokens == pytest.approx(before.completion_tokens + 1_000 * told.calls, rel=0.01)
    assert told.seconds is not None
    assert told.seconds >= 30 * told.calls / told.in_flight
