"""Replies in every protocol: what was meant is read back whatever the order shown, and nothing else is read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluation.protocols import PROTOCOLS, Kind, QuestionSpec
from judging.backends.base import Reply
from judging.parsing.rejection import ReplyRejected
from judging.parsing.reply import read_reply
from judging.prompting.item_call import ItemCall
from judging.prompting.questions import steps
from judging.prompting.settings import Settings
from tests.judging.samples import (
    EVERYTHING,
    SAMPLES,
    as_answers,
    as_lines,
    intended,
    is_list,
    make_spec,
    make_stimulus,
    orders_of,
    spoken,
)

JUDGE = Settings(model="m")
EVERY_ORDER = [(name, order) for name, (_, stimulus) in SAMPLES.items() for order in orders_of(stimulus)]


def read(name, text, order, settings=JUDGE, *, sample=None, step=""):
    spec, stimulus = sample or SAMPLES[name]
    reply = Reply(text=text, finish_reason="stop")
    protocol = PROTOCOLS[spec["protocol"]]
    reading = read_reply(ItemCall(protocol, spec, stimulus, settings, order=order, step=step), reply)
    cleaned = protocol.clean(spec, stimulus, reading.data, source="judge")
    return {
        (answer.question, answer.part): answer.label or answer.text
        if answer.number is None
        else answer.number
        for answer in cleaned
    }


def unread(*given, **options):
    with pytest.raises(ReplyRejected) as caught:
        read(*given, **options)
    assert caught.value.outcome == "unparsed"
    return str(caught.value)


def say(name, order, turn=0):
    """What a judge says that means the sample's answers of that turn."""
    spec, stimulus = SAMPLES[name]
    return spoken(spec, stimulus, order, intended(spec, stimulus, turn))


def in_json(said, **more):
    return json.dumps({"answers": as_answers(said)} | more)


# --- what was meant is what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize(("name", "order"), EVERY_ORDER)
def test_a_reply_is_read_back_to_the_answers_that_were_meant(name, order, turn):
    spec, stimulus = SAMPLES[name]
    wanted = intended(spec, stimulus, turn)
    said = spoken(spec, stimulus, order, wanted)
    for text in (as_lines(said), in_json(said), f"```json\n{in_json(said)}\n```"):
        assert read(name, text, order) == pytest.approx(wanted)


@pytest.mark.parametrize(("name", "order"), EVERY_ORDER)
def test_and_so_are_replies_to_one_question_at_a_time(name, order):
    spec, stimulus = SAMPLES[name]
    wanted, settings = intended(spec, stimulus), replace(JUDGE, one_call_per_question=True)
    for step in steps(PROTOCOLS[spec["protocol"]], spec, stimulus, settings):
        here = {cell: value for cell, value in wanted.items() if cell[0] == step}
        said = spoken(spec, stimulus, order, here)
        for text in (as_lines(said), in_json(said)):
            assert read(name, text, order, settings, step=step) == pytest.approx(here)


@pytest.mark.parametrize("name", SAMPLES)
def test_numbers_may_stand_in_json_without_quotation_marks(name):
    spec, stimulus = SAMPLES[name]
    order = orders_of(stimulus)[-1]
    said = say(name, order)
    bare = {path: json.loads(value) if value.lstrip("-").replace(".", "").isdigit() else value
            for path, value in said.items()}  # fmt: skip
    assert read(name, in_json(bare), order) == pytest.approx(intended(spec, stimulus))


def test_places_are_undone_where_they_are_told_apart():
    said = {("ranking", f"response_{n}"): str(n) for n in range(1, 6)}
    assert read("ranking", as_lines(said), "r4,r2,r5,r1,r3") == {
        ("ranking", "r4"): 1, ("ranking", "r2"): 2, ("ranking", "r5"): 3, ("ranking", "r1"): 4, ("ranking", "r3"): 5,
    }  # fmt: skip


# --- what is no answer ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_a_value_that_is_missing_or_said_twice_leaves_nothing_to_read(name):
    order = orders_of(SAMPLES[name][1])[-1]
    said = say(name, order)
    for path in said:
        without = {other: value for other, value in said.items() if other != path}
        assert "lines that were asked for" in unread(name, as_lines(without) or "well", order)
        assert ".".join(path) in unread(name, in_json(without), order)
    first = ".".join(next(iter(said)))
    assert "more than once" in unread(name, f"{as_lines(said)}\n{first}: {next(iter(said.values()))}", order)


OUT_OF_PLACE = (
    "",
    "9999",
    "0.25",
    "1.5",
    "-7",
    "+1",
    "NaN",
    "1 or 2",
    "yes/no",
    "none",
    "1.",
    "one",
    "1/5",
)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_value_that_was_not_offered_is_no_answer(name):
    order = orders_of(SAMPLES[name][1])[-1]
    said = say(name, order)
    for path in [path for path, value in said.items() if not is_list(value)]:
        for wrong in OUT_OF_PLACE:
            reason = f"{'.'.join(path)}: {wrong!r} is none of "
            assert unread(name, as_lines(said | {path: wrong}), order).startswith(reason)
            assert unread(name, in_json(said | {path: wrong}), order).startswith(reason)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("wrong", [True, None, [], ["1"], {"a": "1"}, {}])
def test_json_that_is_no_text_where_one_was_asked_for_is_no_answer(name, wrong):
    order = orders_of(SAMPLES[name][1])[-1]
    said = say(name, order)
    for path in said:
        assert unread(name, in_json(said | {path: wrong}), order)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "I think Response 1 is best.",
        "1",
        "yes",
        "{}",
        "[]",
        '{"answers": {}}',
        '{"answers": []}',
        "null",
        "```",
    ],
)
def test_garbage_is_no_answer(name, text):
    assert unread(name, text, orders_of(SAMPLES[name][1])[0])


@pytest.mark.parametrize("name", SAMPLES)
def test_more_than_was_asked_for_is_no_answer(name):
    order = orders_of(SAMPLES[name][1])[-1]
    said = say(name, order)
    assert "more than it was asked for" in unread(name, as_lines(said) + "\nThat is all.", order)
    assert "not asked for" in unread(name, in_json(said, note="more"), order)
    path = next(iter(said))
    further = {(*path[:-1], f"{path[-1]}9"): "1"}
    assert "not asked for" in unread(name, in_json(said | further), order)


def test_two_in_the_same_place_are_no_ranking_unless_equals_are_allowed():
    order = "r1,r2,r3,r4,r5"
    said = {("ranking", f"response_{n}"): str(min(n, 4)) for n in range(1, 6)}
    assert "two responses share a rank" in unread("ranking", as_lines(said), order)
    assert "two responses share a rank" in unread("ranking", in_json(said), order)
    said = say(EVERYTHING, "r1,r2,r3") | {("order", f"response_{n}"): "1" for n in range(1, 4)}
    found = read(EVERYTHING, as_lines(said), "r1,r2,r3")
    assert [found["order", f"r{n}"] for n in range(1, 4)] == [2.0, 2.0, 2.0]


def test_a_best_pick_is_no_tie():
    said = say("aspects", "r1,r2,r3,r4")
    for tie in ("tie", "T", "0", "5"):
        assert "best: " in unread("aspects", as_lines(said | {("best",): tie}), "r1,r2,r3,r4")


def test_words_for_a_point_are_not_the_point():
    said = say("aspects", "r1,r2,r3,r4") | {("amount_info", "response_1"): "Too little"}
    assert "'Too little' is none of -1, 0, 1" in unread("aspects", as_lines(said), "r1,r2,r3,r4")


def test_choices_that_differ_in_case_alone_are_told_apart():
    order = "r1,r2,r3"
    for said, stored in (("a", "a"), ("A", "A"), ("X-1", "x-1")):
        text = as_lines(say(EVERYTHING, order) | {("topic",): said})
        assert read(EVERYTHING, text, order)["topic", ""] == stored
    choices = {"form": {"choices": ["Yes", "YES", "no"]}}
    sample = (
        make_spec("aspects", (QuestionSpec("x", Kind.CHOICE, "Which?", options=choices),)),
        make_stimulus("one", "two"),
    )
    assert read("", "x: NO", "r1,r2", sample=sample) == {("x", ""): "no"}
    assert "is none of Yes, YES, no" in unread("", "x: yes", "r1,r2", sample=sample)


# --- log-probabilities of best picks --------------------------------------------------------------------------------


def test_labels_of_a_best_pick_of_four():
    spec, stimulus = SAMPLES["aspects"]
    settings = replace(JUDGE, verdict="logprobs", questions=("best",))
    reply = Reply(text="3", finish_reason="stop", logprobs=[{"3": -0.1, "1": -3.0}])
    reading = read_reply(ItemCall(PROTOCOLS["aspects"], spec, stimulus, settings, order="r4,r3,r2,r1"), reply)
    assert reading.data == {"best": {"label": "r2"}}


def test_labels_of_a_best_pick_of_two_that_are_as_likely_say_nothing():
    sample = (SAMPLES["aspects"][0], make_stimulus("one", "two"))
    settings = replace(JUDGE, verdict="logprobs", questions=("best",))

    def best(one, two):
        reply = Reply(text="1", finish_reason="stop", logprobs=[{"1": one, "2": two}])
        return read_reply(ItemCall(PROTOCOLS["aspects"], *sample, settings, order="r2,r1"), reply).data[
            "best"
        ]

    found = best(-1.0, -2.0)
    assert found["label"] == "r2"
    assert found["number"] == pytest.approx(0.7310586)
    with pytest.raises(ReplyRejected, match="'tie' is not one of r1, r2"):
        best(-0.7, -0.7)
